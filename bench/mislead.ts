import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { binomialCdf } from '../src/math/distributions.ts';
import { random } from '../src/math/random.ts';
import type { Verdict } from '../src/schema/audit.ts';
import { gridworld } from './mislead/gridworld.ts';
import { judge } from './mislead/judge.ts';
import { knownWrong } from './mislead/known-wrong.ts';
import { fine, outcomes } from './mislead/outcomes.ts';
import type { World } from './mislead/world.ts';
import { wrongPropensities } from './mislead/wrong-propensities.ts';
import type { Study } from './result.ts';

const WORLDS: readonly World[] = [...wrongPropensities, ...knownWrong, ...outcomes, gridworld, ...fine];
const LEVEL = 0.95;
/** As the first version of the verdict judged the same data sets, made by this bench with `--json`. */
const BEFORE = new URL('./mislead/before.json', import.meta.url);

/** Coverage of one estimator's intervals among the data sets in which they claim it. */
export interface Coverage {
  readonly estimator: string;
  readonly claimed: number;
  readonly covered: number;
  /** P(as few as these or fewer) at the nominal level. */
  readonly chance: number;
}

export interface Row {
  readonly world: string;
  readonly fine: boolean | null;
  readonly value: number;
  readonly dataSets: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** How often each reason was given. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly coverage: readonly Coverage[];
}

/**
 * `npm run bench mislead`: what the audit says in processes that mislead it, against exact values: shares of
 * verdicts, and coverage of the intervals that claim it.
 */
export async function bench(flags: readonly string[]): Promise<Study> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      sets: { type: 'string', default: '400' },
      worlds: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const sets = Number(values.sets);
  const seed = Number(values.seed);
  const chosen = WORLDS.filter(
    (w) => values.worlds === undefined || values.worlds.split(',').includes(w.name),
  );
  if (chosen.length === 0)
    throw new Error(
      `unknown worlds "${values.worlds}", expected some of ${WORLDS.map((w) => w.name).join(', ')}`,
    );
  const from = performance.now();
  const rows: Row[] = [];
  for (const world of chosen) rows.push(await study(world, sets, seed));
  const seconds = (performance.now() - from) / 1000;
  const data = { name: 'mislead', level: LEVEL, sets, seed, seconds, rows };
  return { data, text: text(rows, sets, seed, seconds) };
}

async function study(world: World, sets: number, seed: number): Promise<Row> {
  const verdicts = { supported: 0, weak: 0, refused: 0 };
  const reasons: Record<string, number> = {};
  const claims = new Map<string, { claimed: number; covered: number }>();
  for (let k = 0; k < sets; k++) {
    const found = await judge(world, world.draw(random(seed, `${world.name} ${k}`)));
    verdicts[found.verdict]++;
    for (const code of found.reasons) reasons[code] = (reasons[code] ?? 0) + 1;
    for (const { estimator, covers } of found.claims) {
      const own = claims.get(estimator) ?? { claimed: 0, covered: 0 };
      own.claimed++;
      if (covers) own.covered++;
      claims.set(estimator, own);
    }
    if (process.stderr.isTTY) process.stderr.write(`\r${world.name}: ${k + 1} of ${sets} `);
  }
  const { name, fine, value } = world;
  const coverage = [...claims].map(([estimator, { claimed, covered }]) => ({
    estimator,
    claimed,
    covered,
    chance: binomialCdf(covered, claimed, LEVEL),
  }));
  return { world: name, fine, value, dataSets: sets, verdicts, reasons, coverage };
}

function text(rows: readonly Row[], sets: number, seed: number, seconds: number): string {
  const before = (JSON.parse(readFileSync(BEFORE, 'utf8')) as { rows: readonly Row[] }).rows;
  const lines = [
    `what the audit says in processes that mislead it, ${sets} data sets each, seed ${seed}; supported/weak/refused in %,`,
    `coverage in % ± binomial error of the 95 % interval that is worst among those that claim it (data sets); * less than chance explains (p < .001)`,
    '',
    line(['world', 'value', 'before', 'worst coverage before', 'now', 'worst coverage now']),
  ];
  for (const row of rows) {
    const old = before.find((b) => b.world === row.world);
    const cells = (r: Row | undefined): string[] => (r ? [verdictText(r), worstText(r)] : ['–', '–']);
    lines.push(line([row.world, row.value.toFixed(3), ...cells(old), ...cells(row)]));
  }
  lines.push('');
  for (const row of rows) {
    const most = Object.entries(row.reasons)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 4);
    lines.push(`  ${row.world}: ${WORLDS.find((w) => w.name === row.world)!.says}`);
    lines.push(`    reasons: ${most.map(([code, n]) => `${code} ${n}`).join(', ') || 'none'}`);
  }
  return [...lines, '', `${seconds.toFixed(0)} s`, ''].join('\n');
}

const verdictText = ({ verdicts: v, dataSets }: Row): string =>
  [v.supported, v.weak, v.refused].map((n) => ((100 * n) / dataSets).toFixed(1)).join(' / ');

/** Of the estimators with at least 20 claims the one that covers least. */
function worstText({ coverage }: Row): string {
  const worst = coverage
    .filter((c) => c.claimed >= 20)
    .sort((a, b) => a.covered / a.claimed - b.covered / b.claimed)[0];
  if (worst === undefined) return 'none claimed';
  const { estimator, claimed, covered, chance } = worst;
  const error = 100 * Math.sqrt((LEVEL * (1 - LEVEL)) / claimed);
  const share = ((100 * covered) / claimed).toFixed(1);
  return `${share} ± ${error.toFixed(1)}${chance < 0.001 ? '*' : ''} ${estimator} (${claimed})`;
}

const WIDTHS = [36, 7, 22, 34, 22, 34];
const line = (cells: readonly string[]): string =>
  `  ${cells.map((c, k) => c.padEnd(WIDTHS[k]!)).join('')}`.trimEnd();
