/*
 * Mean return with its uncertainty under two estimands, and what repeated trials say of a task.
 *
 *   new tasks from this population:  se² = K/(K − 1) Σ_c (Σ_{i∈c} (G_i − Ḡ))² / n²       (CR1), t(K − 1)
 *   these very tasks:                se² = Σ_c n_c s_c² / n²,  s_c² within task c         t(n − K)
 */
import { studentQuantile } from '../math/distributions.ts';
import { withoutSpread, withoutSpreadInterval } from '../math/no-spread.ts';
import { clusterVariance, mean, variance } from '../math/statistics.ts';
import { sumOf } from '../math/sum.ts';
import type { Description, RewardSummary } from '../schema/describe.ts';
import type { Interval } from '../schema/estimate.ts';
import type { ToolErrors } from '../schema/tool-errors.ts';
import { isBinary, isSuccess } from '../trajectories/return.ts';
import { describePolicies } from './describe-policies.ts';
import { passHatK } from './pass-hat-k.ts';
import type { Returns } from './returns.ts';
import { perTask, type TaskStatistics } from './task-statistics.ts';

const LEVEL = 0.95;
/** Below so many degrees of freedom (5 tasks) an interval says nothing: with 2 tasks it can be ten times the range. */
const LEAST_DF = 4;

type RewardPart = Pick<
  Description,
  | 'tasks'
  | 'trialsPerTask'
  | 'reward'
  | 'successHistogram'
  | 'zeroVarianceTasks'
  | 'passHatK'
  | 'passHatKReason'
  | 'policies'
>;

/** Everything `describe` says about returns, tasks and policies. O(episodes). */
export function describeReward(returns: Returns, calls: ReadonlyMap<string | null, ToolErrors>): RewardPart {
  const tasks = returns.taskIds.length;
  const trials = new Int32Array(tasks);
  for (const code of returns.task) if (code >= 0) trials[code]!++;
  const rows = finiteRows(returns);
  const binary = rows.every((i) => isBinary(returns.value[i]!)) && rows.length > 0;
  const stats = perTask(returns, rows, binary);
  const pass = passHatK(stats, binary);
  const mixed = returns.policyNames.length > 1;
  return {
    tasks,
    trialsPerTask: tasks === 0 ? null : trialSummary(trials),
    reward: rows.length === 0 ? null : summary(returns, rows, stats, binary),
    successHistogram: binary && tasks > 0 ? successes(stats) : null,
    zeroVarianceTasks: stats.n.reduce((k, n, c) => k + (n >= 2 && stats.min[c] === stats.max[c] ? 1 : 0), 0),
    passHatK: mixed ? null : pass.values,
    passHatKReason:
      mixed && binary
        ? 'several policies: trials of different policies are not k trials of one'
        : pass.reason,
    policies: describePolicies(returns, rows, binary, calls, pass.values?.length ?? 0),
  };
}

/** Rows of the episodes whose return is a finite number. */
function finiteRows(returns: Returns): Int32Array {
  const rows = new Int32Array(returns.value.length);
  let n = 0;
  for (let i = 0; i < rows.length; i++) if (Number.isFinite(returns.value[i]!)) rows[n++] = i;
  return rows.slice(0, n);
}

function summary(returns: Returns, rows: Int32Array, stats: TaskStatistics, binary: boolean): RewardSummary {
  const { G, of, alone, centre, se, clusters } = clustered(returns, rows);
  const total = returns.value.length;
  let aborted = 0;
  let withoutReward = 0;
  let missingTask = 0;
  for (let i = 0; i < total; i++) {
    aborted += returns.aborted[i]!;
    if (!returns.aborted[i] && !returns.defined[i]) withoutReward++;
    if (returns.task[i]! < 0) missingTask++;
  }
  return {
    mean: centre,
    se: Number.isNaN(se) ? null : se,
    seNaive: Math.sqrt(variance(G, 0) / G.length),
    interval: interval(G, centre, se, clusters - 1, 'CR1-t'),
    n: G.length,
    clusters,
    estimand: 'mean return of this policy mix on new tasks from the population of these',
    theseTasks: theseTasks(G, of, stats, centre, alone > returns.taskIds.length),
    min: G.reduce((a, b) => Math.min(a, b)),
    max: G.reduce((a, b) => Math.max(a, b)),
    binary,
    successRate: binary ? successRate(G) : null,
    abortedAsZero: aborted === 0 ? null : withAborted(returns, rows, binary),
    episodes: total,
    withoutReward,
    aborted,
    nonFinite: total - aborted - withoutReward - G.length,
    missingTask,
  };
}

/** Returns of some rows with the cluster of each; an aborted episode counts as 0. */
function clustered(returns: Returns, rows: Int32Array) {
  const G = Float64Array.from(rows, (i) => (returns.aborted[i] === 1 ? 0 : returns.value[i]!)); // [n]
  // An episode without a task is its own cluster, numbered after the tasks.
  let alone = returns.taskIds.length;
  const of = Int32Array.from(rows, (i) => (returns.task[i]! < 0 ? alone++ : returns.task[i]!));
  return { G, of, alone, centre: mean(G), ...clusterVariance(G, of, alone) };
}

/** The same with aborted episodes among the rows. */
function withAborted(returns: Returns, rows: Int32Array, binary: boolean): RewardSummary['abortedAsZero'] {
  const used = new Uint8Array(returns.value.length);
  for (const i of rows) used[i] = 1;
  const all = Int32Array.from(used.keys()).filter((i) => used[i] === 1 || returns.aborted[i] === 1);
  const { G, centre, se, clusters } = clustered(returns, all);
  return {
    mean: centre,
    se: Number.isNaN(se) ? null : se,
    interval: interval(G, centre, se, clusters - 1, 'CR1-t'),
    n: G.length,
    clusters,
    successRate: binary ? successRate(G) : null,
  };
}

const successRate = (G: Float64Array): number => G.reduce((k, g) => k + (isSuccess(g) ? 1 : 0), 0) / G.length;

function theseTasks(
  G: Float64Array,
  of: Int32Array,
  stats: TaskStatistics,
  centre: number,
  someWithoutTask: boolean,
): RewardSummary['theseTasks'] {
  if (someWithoutTask || stats.n.length === 0) return null;
  const present = stats.n.reduce((k, n) => k + (n > 0 ? 1 : 0), 0);
  if (stats.n.some((n) => n === 1)) return null;
  const squares = new Float64Array(stats.n.length); // Σ_{i∈c} (G_i − Ḡ_c)²
  for (let i = 0; i < G.length; i++) {
    const c = of[i]!;
    // Equal returns have no spread at all, whatever the rounding of their mean.
    if (stats.min[c] !== stats.max[c]) squares[c]! += (G[i]! - stats.sum[c]! / stats.n[c]!) ** 2;
  }
  const between = sumOf(squares.length, (c) =>
    stats.n[c]! < 2 ? 0 : (stats.n[c]! * squares[c]!) / (stats.n[c]! - 1),
  );
  const se = Math.sqrt(between) / G.length;
  return {
    estimand: 'mean return of this policy mix on these very tasks, with the logged number of trials each',
    se,
    interval: withoutSpread(se, centre) ? null : interval(G, centre, se, G.length - present, 'within-task t'),
  };
}

function interval(G: Float64Array, centre: number, se: number, df: number, method: string): Interval | null {
  if (!Number.isFinite(se) || df < LEAST_DF) return null;
  const exact = withoutSpreadInterval(G, df + 1, LEVEL);
  if (exact !== null || withoutSpread(se, centre)) return exact;
  const half = studentQuantile((1 + LEVEL) / 2, df) * se;
  return {
    lo: centre - half,
    hi: centre + half,
    level: LEVEL,
    method: `${method}, ${df.toLocaleString('en-US')} degrees of freedom`,
  };
}

function trialSummary(trials: Int32Array): NonNullable<Description['trialsPerTask']> {
  return {
    min: trials.reduce((a, b) => Math.min(a, b)),
    mean: mean(trials),
    max: trials.reduce((a, b) => Math.max(a, b)),
    histogram: tally(trials).map(([value, tasks]) => ({ trials: value, tasks })),
  };
}

function successes(stats: TaskStatistics): NonNullable<Description['successHistogram']> {
  const of = stats.successes.filter((_, c) => stats.n[c]! > 0);
  return tally(of).map(([value, tasks]) => ({ successes: value, tasks }));
}

/** How often each value occurs, ascending. */
function tally(values: Int32Array | Float64Array): [value: number, times: number][] {
  const counts = new Map<number, number>();
  for (const v of values) counts.set(v, (counts.get(v) ?? 0) + 1);
  return [...counts].sort((a, b) => a[0] - b[0]);
}
