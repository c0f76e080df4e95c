import {
  CompareConfig,
  type CompareConfigInput,
  type ComparedPolicy,
  type Comparison,
  type OutcomeComparison,
  type OutcomeName,
} from '../schema/compare.ts';
import { failure } from '../schema/error.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { Store } from '../store/store.ts';
import { unusableReturnsIn } from '../trajectories/unusable-returns.ts';
import { commonRows, pairedDifference, policyOutcome, winRate } from './compare-difference.ts';
import { ABORTED_AS_ZERO, OUTCOMES } from './compare-outcomes.ts';
import { comparePower } from './compare-power.ts';
import { type ScannedOutcome, scanOutcomes, successes } from './compare-scan.ts';
import { bothParameters, selectPolicies } from './compare-selector.ts';
import { comparedPolicy } from './compare-sides.ts';
import { successTable } from './compare-success.ts';
import { taskTests } from './compare-tests.ts';
import { ambiguousWarning, compareWarnings } from './compare-warnings.ts';
import { ambiguousTasks } from './instructions.ts';

/**
 * Two logged policies on the tasks that both have tried: on-policy, so that no propensity is needed.
 * @param a selector of the one, see `selectPolicies`; differences are b − a
 * @throws a usage error for unknown or overlapping selectors; exit code 3 where no task is common or an
 *   outcome that was asked for is not in the logs of both
 */
export async function compare(
  store: Store,
  a: string,
  b: string,
  input: CompareConfigInput = {},
): Promise<Comparison> {
  const config = parseConfig(CompareConfig, input, 'compare settings');
  const pair = await selectPolicies(store, a, b);
  const sides: [ComparedPolicy, ComparedPolicy] = [
    await comparedPolicy(store, pair[0]),
    await comparedPolicy(store, pair[1]),
  ];
  const either = `((${pair[0].where}) OR (${pair[1].where}))`;
  const ambiguous = new Set(
    await ambiguousTasks(store, `${either} AND e.ending <> 'aborted'`, bothParameters(pair)),
  );
  const scanned = await scanOutcomes(store, pair, OUTCOMES, 'left out', ambiguous);
  const tasks = { common: 0, onlyA: 0, onlyB: 0 };
  for (const h of scanned.holds) if (h > 0) tasks[h === 3 ? 'common' : h === 1 ? 'onlyA' : 'onlyB']++;
  if (tasks.common === 0) throw noCommonTask(sides, [...ambiguous]);
  const absent: Comparison['absent'] = [];
  const found: Candidate[] = [];
  for (let k = 0; k < OUTCOMES.length; k++) {
    const candidate = candidateOf(k, scanned.outcomes[k]!, sides, config.outcomes);
    if ('reason' in candidate) absent.push(candidate);
    else found.push(candidate);
  }
  const shown = asked(found, absent, config.outcomes);
  const outcomes = shown.map((c, i) => compared(c, scanned.tasks, shown.length, i === 0, config));
  const size = outcomes.length;
  const result = {
    store: store.path,
    a: sides[0],
    b: sides[1],
    tasks,
    ambiguousTasks: ambiguous.size,
    primary: outcomes[0]!.outcome,
    family: { size, level: 1 - (1 - config.level) / size, note: familyNote(size, outcomes[0]!.outcome) },
    outcomes,
    abortedAsZero: await abortedAsZero(store, pair, sides, outcomes, ambiguous, config),
    absent: config.outcomes.length === 0 ? absent : [],
    config,
    notes: NOTES,
  };
  const unusable = await unusableReturnsIn(store, either, bothParameters(pair));
  return {
    ...result,
    warnings: [...compareWarnings(result), ...ambiguousWarning([...ambiguous]), ...unusable],
  };
}

/** The reward with aborted episodes counted as 0: harnesses differ, and the sign of a difference can. */
async function abortedAsZero(
  store: Store,
  pair: Awaited<ReturnType<typeof selectPolicies>>,
  sides: readonly ComparedPolicy[],
  outcomes: readonly OutcomeComparison[],
  ambiguous: ReadonlySet<string>,
  config: CompareConfig,
): Promise<Comparison['abortedAsZero']> {
  const shown = outcomes.find((o) => o.outcome === 'success' || o.outcome === 'return');
  if (shown === undefined || sides.every((s) => s.aborted === 0)) return null;
  const { outcomes: found } = await scanOutcomes(store, pair, [ABORTED_AS_ZERO], 'counted', ambiguous);
  const scanned = shown.outcome === 'success' ? successes(found[0]!) : found[0]!;
  const rows = commonRows(scanned.table);
  return {
    outcome: shown.outcome,
    tasks: rows.length,
    a: policyOutcome(scanned, 0, rows),
    b: policyOutcome(scanned, 1, rows),
    difference: pairedDifference(scanned.table, rows, outcomes.length, config),
  };
}

const NOTES = [
  'Differences are B − A. Pairing is by task, each task counts once, whatever its trials; `mean` of a policy is over all its episodes, `pairedMean` over the common tasks.',
  'Aborted episodes are out of every outcome; where there are any, the reward is given a second time with them counted as 0. `limit` counts like `terminated`; truncated and unfinished ones count with what was logged.',
  'A win, and the win rate, go by what is better: more return and success, fewer turns, cost, seconds and tool errors.',
  'Predictive of these logs, not causal, unless nothing but the policy differed between the two.',
];

interface Candidate {
  readonly outcome: OutcomeName;
  readonly k: number;
  readonly scanned: ScannedOutcome;
  readonly rows: Int32Array;
}

/** An outcome that can be compared, or why not. A constant says nothing, unless it was asked for or is the reward. */
function candidateOf(
  k: number,
  scanned: ScannedOutcome,
  sides: readonly ComparedPolicy[],
  named: readonly OutcomeName[],
): Candidate | Comparison['absent'][number] {
  const { name } = OUTCOMES[k]!;
  const { binary, table, min, max } = scanned;
  const outcome = name === 'return' && binary && max >= min && !named.includes('return') ? 'success' : name;
  if (name === 'tool-errors') {
    const reason = failuresUnclear(sides);
    if (reason !== null) return { outcome, reason };
  }
  const rows = commonRows(table);
  if (rows.length > 0 && (k === 0 || min < max || named.includes(name))) return { outcome, k, scanned, rows };
  if (rows.length > 0) return { outcome, reason: `every episode of both has the same value, ${min}` };
  const without = [0, 1].filter((s) => scanned.withoutTask[s]!.n === 0 && table.n[s]!.every((n) => n === 0));
  const whose = without.length === 2 ? 'either policy' : without[0] === 0 ? 'A' : 'B';
  return {
    outcome,
    reason: without.length > 0 ? `no episode of ${whose} has it` : 'no task has it under both policies',
  };
}

/** Why tool errors of the two cannot be set side by side: one marks failures only, so that more may have failed. */
function failuresUnclear(sides: readonly ComparedPolicy[]): string | null {
  const unclear = sides.some(({ toolErrors: e }) => e.unknown > 0 && e.rate === null);
  if (!unclear) return null;
  const [a, b] = sides.map(({ toolErrors: e }) =>
    e.unknown === 0
      ? `${e.failed} of ${e.calls} calls failed`
      : `at least ${e.failed} of ${e.calls} calls failed (${e.unknown} do not say)`,
  );
  return `it is not known which calls worked: of A ${a}, of B ${b}`;
}

/** What is shown, the primary outcome first: what was asked for, else all there is. */
function asked(
  found: readonly Candidate[],
  absent: Comparison['absent'],
  named: readonly OutcomeName[],
): readonly Candidate[] {
  if (named.length === 0 && found.length > 0) return found;
  const shown = [...new Set(named)].map((outcome): Candidate => {
    const same = found.find((c) => c.outcome === outcome);
    if (same) return same;
    const reward = found.find((c) => c.k === 0);
    // Both were asked for: success is the return, read a second time.
    if (outcome === 'success' && reward?.scanned.binary) return { ...reward, outcome };
    const reason =
      outcome === 'success' && reward
        ? `returns are not all 0 or 1, they go from ${reward.scanned.min} to ${reward.scanned.max}`
        : absent.find((x) => x.outcome === outcome || (outcome === 'success' && x.outcome === 'return'))!
            .reason;
    throw failure({
      subject: `outcome "${outcome}"`,
      wrong: `cannot be compared: ${reason}`,
      fix: found.length > 0 ? `These logs hold ${found.map((c) => c.outcome).join(', ')}.` : undefined,
      exitCode: 3,
    });
  });
  if (shown.length > 0) return shown;
  throw failure({
    subject: 'turnwise compare',
    wrong: 'no outcome is in the logs of both policies',
    fix: absent.map((x) => `${x.outcome}: ${x.reason}.`).join(' '),
    exitCode: 3,
  });
}

function compared(
  { outcome, k, scanned: found, rows }: Candidate,
  tasks: readonly string[],
  family: number,
  primary: boolean,
  config: CompareConfig,
): OutcomeComparison {
  const { unit, better } = OUTCOMES[k]!;
  const scanned = outcome === 'success' ? successes(found) : found;
  const { table } = scanned;
  const a = policyOutcome(scanned, 0, rows);
  const d = Float64Array.from(rows, (c) => table.difference[c]!);
  const usual = outcome === 'success' ? 0.05 : 0.05 * Math.abs(a.pairedMean) || null;
  return {
    outcome,
    unit: outcome === 'success' ? 'share of episodes' : unit,
    better,
    tasks: rows.length,
    a,
    b: policyOutcome(scanned, 1, rows),
    difference: pairedDifference(table, rows, family, config),
    tests: taskTests(d, better === 'higher' ? 1 : -1, config.seed),
    winRate: winRate(table, rows, better, config),
    success: outcome === 'success' ? successTable(table, rows, config) : null,
    power: comparePower(table, rows, primary ? (config.difference ?? usual) : usual, config),
    largest: largest(scanned, rows, tasks, better),
  };
}

const LARGEST = 5;

function largest(
  { table }: ScannedOutcome,
  rows: Int32Array,
  tasks: readonly string[],
  better: 'higher' | 'lower',
): OutcomeComparison['largest'] {
  const order = rows.slice().sort((x, y) => table.difference[y]! - table.difference[x]! || x - y);
  const shown = (from: Int32Array) =>
    [...from.slice(0, LARGEST)].map((c) => ({
      task: tasks[c]!,
      a: table.mean[0][c]!,
      b: table.mean[1][c]!,
      trialsA: table.n[0][c]!,
      trialsB: table.n[1][c]!,
    }));
  const up = shown(order.filter((c) => table.difference[c]! > 0));
  const down = shown(order.filter((c) => table.difference[c]! < 0).reverse());
  return better === 'higher' ? { gains: up, losses: down } : { gains: down, losses: up };
}

function noCommonTask(sides: readonly ComparedPolicy[], ambiguous: readonly string[]) {
  const [a, b] = sides.map(
    (s) =>
      `${s.tasks} of "${s.selector}" (${s.episodes} episodes, ${s.aborted} aborted, ${s.withoutTask} without a task)`,
  );
  return failure({
    subject: 'turnwise compare',
    wrong: 'no task was tried by both policies, and a difference over different tasks is one of the tasks',
    got: `${a} and ${b}`,
    expected: 'tasks in common',
    fix:
      ambiguous.length > 0
        ? `${ambiguousWarning(ambiguous)[0]!.message} Give each domain task ids of its own.`
        : 'Run both on the same tasks, or log the same task_id for the same task.',
    exitCode: 3,
  });
}

function familyNote(size: number, primary: OutcomeName): string {
  if (size === 1) return `One outcome is compared, ${primary}.`;
  return `${size} outcomes are compared. The primary one is ${primary}; intervals and tests are not corrected for the others. The simultaneous intervals hold all ${size} together (Bonferroni).`;
}
