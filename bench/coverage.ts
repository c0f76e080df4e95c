import { parseArgs } from 'node:util';
import { evidenceOf } from '../src/audit/audit.ts';
import { reasonsAgainst } from '../src/audit/reasons.ts';
import { binomialCdf } from '../src/math/distributions.ts';
import { AuditConfig } from '../src/schema/audit-config.ts';
import type { Estimate } from '../src/schema/estimate.ts';
import { EvaluationConfig } from '../src/schema/evaluation.ts';
import { toolAgentExact } from '../src/simulate/tool-agent-exact.ts';
import { TOOL_AGENT_POLICIES, type ToolAgentPolicy } from '../src/simulate/tool-agent-law.ts';
import { estimators } from '../src/value/estimators.ts';
import { withIntervals } from '../src/value/intervals/intervals.ts';
import { stageSums } from '../src/weights/carried.ts';
import { type EpisodeWeights, episodeWeights } from '../src/weights/episode-weights.ts';
import type { LogRatios } from '../src/weights/ratios.ts';
import type { Study } from './result.ts';
import { toolAgentLogs, toolAgentRatios } from './tool-agent-logs.ts';

const LEVEL = 0.95;
const ESTIMATORS = ['IS', 'WIS', 'PDIS', 'WPDIS carried'] as const;
const VERDICTS = ['supported', 'weak', 'refused'] as const;
type Verdict = (typeof VERDICTS)[number];

/** Coverage of one kind of interval among the data sets of one verdict. */
export interface IntervalCoverage {
  readonly estimator: string;
  readonly interval: 'cr1-t' | 'bootstrap-t';
  readonly verdict: Exclude<Verdict, 'refused'>;
  /** Data sets of this verdict; the interval may be missing in some. */
  readonly datasets: number;
  readonly intervals: number;
  readonly covered: number;
  readonly coverage: number | null;
  /** Binomial standard error at the nominal level. */
  readonly error: number | null;
  /** P(as few as these or fewer) at the nominal level. */
  readonly chance: number | null;
  readonly meanWidth: number | null;
}

/** One target at one size of the logs: what the audit says, against how far the target truly is. */
export interface CoverageSetting {
  readonly target: string;
  readonly tasks: number;
  readonly episodes: number;
  readonly value: number;
  /** 1 / E_b[ρ²]: the true effective share of the sample. */
  readonly essFraction: number;
  readonly chiSquare: number;
  readonly kl: number;
  readonly share: Readonly<Record<Verdict, number>>;
  readonly intervals: readonly IntervalCoverage[];
}

export interface CoverageStudy {
  readonly name: 'coverage';
  readonly level: number;
  readonly replicates: number;
  readonly trials: number;
  readonly seed: number;
  readonly bootstrap: number;
  readonly seconds: number;
  readonly settings: readonly CoverageSetting[];
}

/** From near to far: the logging policy mixed with the best one, and one that submits at once. */
const TARGETS: Readonly<Record<string, ToolAgentPolicy>> = {
  ...Object.fromEntries([0, 0.1, 0.25, 0.5, 0.75, 1].map((e) => [`patient ${e}`, mixture(e)])),
  eager: TOOL_AGENT_POLICIES.eager,
};

/**
 * `npm run bench coverage -- --replicates 1000`: how often intervals hold the exact value where the audit
 * says supported (and, for comparison, weak), how often it says so, and how far the target truly is.
 */
export async function bench(flags: readonly string[]): Promise<Study> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      replicates: { type: 'string', default: '50' },
      tasks: { type: 'string', default: '5,10,25,50,200' },
      targets: { type: 'string', default: Object.keys(TARGETS).join(',') },
      trials: { type: 'string', default: '10' },
      bootstrap: { type: 'string', default: '399' },
      seed: { type: 'string', default: '1' },
    },
  });
  const options = {
    replicates: Number(values.replicates),
    trials: Number(values.trials),
    bootstrap: Number(values.bootstrap),
    seed: Number(values.seed),
  };
  const targets = values.targets.split(',').map((x) => x.trim());
  const unknown = targets.find((name) => !Object.hasOwn(TARGETS, name));
  if (unknown !== undefined)
    throw new Error(`unknown target "${unknown}", expected some of ${Object.keys(TARGETS).join(', ')}`);
  const from = performance.now();
  const settings = values.tasks.split(',').flatMap((tasks) => coverage(Number(tasks), targets, options));
  const seconds = (performance.now() - from) / 1000;
  const result: CoverageStudy = { name: 'coverage', level: LEVEL, ...options, seconds, settings };
  return { data: result, text: coverageTable(result) };
}

type Options = Pick<CoverageStudy, 'replicates' | 'trials' | 'bootstrap' | 'seed'>;

/** All targets on the same data sets of one size. */
function coverage(tasks: number, targets: readonly string[], options: Options): CoverageSetting[] {
  const { replicates, trials, bootstrap, seed } = options;
  const tallies = targets.map((name) => tally(toolAgentExact(TARGETS[name]!).value));
  const config = AuditConfig.parse({ level: LEVEL });
  for (let r = 0; r < replicates; r++) {
    const logs = toolAgentLogs(tasks, trials, seed * 1_000_003 + r);
    targets.forEach((name, k) => {
      const ratios = toolAgentRatios(logs, name, TARGETS[name]!);
      const w = episodeWeights(ratios);
      const { estimates, verdict } = judged(ratios, w, config);
      tallies[k]!.verdict(verdict);
      if (verdict === 'refused') return;
      tallies[k]!.add(verdict, 'cr1-t', estimates);
      tallies[k]!.add(verdict, 'bootstrap-t', studentised(estimates, w, bootstrap, r));
    });
    process.stderr.write(process.stderr.isTTY ? `\r${tasks} tasks: ${r + 1} of ${replicates} ` : '');
  }
  return targets.map((target, k) => {
    const exact = toolAgentExact(TARGETS[target]!);
    return {
      target,
      tasks,
      episodes: tasks * trials,
      value: exact.value,
      essFraction: exact.essFraction.at(-1)!,
      chiSquare: exact.rho2Carried.at(-1)! - 1,
      kl: exact.kl,
      ...tallies[k]!.result(replicates),
    };
  });
}

/** The audit's verdict, by its own rules, without the diagnostics that decide nothing. */
function judged(
  ratios: LogRatios,
  w: EpisodeWeights,
  config: AuditConfig,
): { estimates: readonly Estimate[]; verdict: Verdict } {
  const evidence = evidenceOf(ratios, w, config);
  const { evaluation } = evidence;
  const reasons = reasonsAgainst(evidence, config);
  const refused = reasons.some((r) => r.verdict === 'refused');
  return {
    estimates: evaluation.estimates,
    verdict: refused ? 'refused' : reasons.length > 0 ? 'weak' : 'supported',
  };
}

/** The estimates that are studied, with the studentised bootstrap in place of CR1-t. */
function studentised(
  estimates: readonly Estimate[],
  w: EpisodeWeights,
  replicates: number,
  seed: number,
): Estimate[] {
  const stages = stageSums(w);
  const entries = estimators
    .filter((e) => (ESTIMATORS as readonly string[]).includes(e.name))
    .map((estimator) => ({
      estimator,
      influence: estimator.estimate(w, stages),
      estimate: estimates.find((e) => e.estimator === estimator.name)!,
    }));
  const config = EvaluationConfig.parse({ level: LEVEL, interval: 'bootstrap-t', replicates, seed });
  return withIntervals(entries, w, stages, config);
}

function tally(truth: number) {
  const verdicts = { supported: 0, weak: 0, refused: 0 };
  const cells = (['supported', 'weak'] as const).flatMap((verdict) =>
    (['cr1-t', 'bootstrap-t'] as const).flatMap((interval) =>
      ESTIMATORS.map((estimator) => ({ verdict, interval, estimator, intervals: 0, covered: 0, width: 0 })),
    ),
  );
  return {
    verdict(verdict: Verdict): void {
      verdicts[verdict]++;
    },
    add(verdict: Verdict, interval: IntervalCoverage['interval'], estimates: readonly Estimate[]): void {
      for (const cell of cells) {
        if (cell.verdict !== verdict || cell.interval !== interval) continue;
        const made = estimates.find((e) => e.estimator === cell.estimator)!.interval;
        if (made === null) continue;
        cell.intervals++;
        if (made.lo <= truth && truth <= made.hi) cell.covered++;
        cell.width += made.hi - made.lo;
      }
    },
    result(replicates: number): Pick<CoverageSetting, 'share' | 'intervals'> {
      const share = (v: Verdict) => verdicts[v] / replicates;
      return {
        share: { supported: share('supported'), weak: share('weak'), refused: share('refused') },
        intervals: cells.map(({ width, ...c }) => ({
          ...c,
          datasets: verdicts[c.verdict],
          coverage: c.intervals === 0 ? null : c.covered / c.intervals,
          error: c.intervals === 0 ? null : Math.sqrt((LEVEL * (1 - LEVEL)) / c.intervals),
          chance: c.intervals === 0 ? null : binomialCdf(c.covered, c.intervals, LEVEL),
          meanWidth: c.intervals === 0 ? null : width / c.intervals,
        })),
      };
    },
  };
}

function mixture(epsilon: number): ToolAgentPolicy {
  const { behaviour, patient } = TOOL_AGENT_POLICIES;
  return (turn, q) => {
    const p = patient(turn, q);
    return behaviour(turn, q).map((b, a) => (1 - epsilon) * b + epsilon * p[a]!);
  };
}

function coverageTable(study: CoverageStudy): string {
  const { level, replicates, trials, seconds, settings, bootstrap, seed } = study;
  const percent = (x: number) => (100 * x).toFixed(0);
  const lines = [
    `coverage of ${100 * level} % intervals in the tool-agent world, ${replicates} data sets a setting, ${trials} rollouts a task, bootstrap-t of ${bootstrap} replicates, seed ${seed}`,
    '',
    'how far the target is, and what the audit says (% of data sets)',
    row(['target', 'tasks', 'value', 'ESS share', 'chi-square', 'KL', 'supported', 'weak', 'refused']),
    ...settings.map((s) =>
      row([
        s.target,
        String(s.tasks),
        s.value.toFixed(3),
        s.essFraction.toFixed(3),
        s.chiSquare.toFixed(2),
        s.kl.toFixed(2),
        percent(s.share.supported),
        percent(s.share.weak),
        percent(s.share.refused),
      ]),
    ),
  ];
  for (const verdict of ['supported', 'weak'] as const) {
    const shown = settings.filter((s) => s.share[verdict] > 0);
    lines.push(
      '',
      `coverage in % ± binomial error where ${verdict}, (mean width); * fewer than chance explains (p < .025)`,
    );
    if (shown.length === 0) lines.push('  none');
    for (const interval of ['cr1-t', 'bootstrap-t'] as const) {
      if (shown.length > 0) lines.push(row([interval, 'tasks', 'data sets', ...ESTIMATORS], 22));
      for (const s of shown) {
        const cells = s.intervals.filter((c) => c.verdict === verdict && c.interval === interval);
        lines.push(row([s.target, String(s.tasks), String(cells[0]!.datasets), ...cells.map(cellText)], 22));
      }
    }
  }
  return [...lines, '', `${seconds.toFixed(1)} s`, ''].join('\n');
}

function cellText(c: IntervalCoverage): string {
  if (c.coverage === null) return '–';
  const missing = c.intervals < c.datasets ? ` of ${c.intervals}` : '';
  return `${(100 * c.coverage).toFixed(1)} ± ${(100 * c.error!).toFixed(1)}${c.chance! < 0.025 ? '*' : ''} (${c.meanWidth!.toFixed(2)})${missing}`;
}

const row = (cells: readonly string[], width = 11): string =>
  cells.map((c, k) => (k === 0 ? `  ${c.padEnd(14)}` : c.padStart(k < 3 ? 10 : width))).join('');
