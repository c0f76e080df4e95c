/*
 * Paired by task: d_c = x̄_B,c − x̄_A,c on the K tasks that both policies have tried.
 *
 *   new tasks from this population:  d̄ ± t(K − 1) · S/√K,      S² = Σ(d_c − d̄)² / (K − 1)
 *   these very tasks:                d̄ ± t(ν) · √Σ_j v_j / K,   v_j = s²_j / n_j for each task and policy j,
 *                                    ν = (Σ v_j)² / Σ v_j²/(n_j − 1)      (Welch 1947, Satterthwaite 1946)
 *
 * Each task counts once, whatever its trials. Where the spread is exactly 0 there is no interval: equal
 * outcomes in every trial do not make the difference certain.
 */
import { studentQuantile } from '../math/distributions.ts';
import { withoutSpread } from '../math/no-spread.ts';
import { mean, variance } from '../math/statistics.ts';
import { sumOf } from '../math/sum.ts';
import type { CompareConfig, PairedDifference, PolicyOutcome, WinRate } from '../schema/compare.ts';
import type { Interval } from '../schema/estimate.ts';
import type { Moments, ScannedOutcome } from './compare-scan.ts';
import type { TaskTable } from './compare-task.ts';

/** Rows of a table that hold trials of both policies. */
export function commonRows(table: TaskTable): Int32Array {
  const rows = new Int32Array(table.difference.length);
  let n = 0;
  for (let c = 0; c < rows.length; c++) if (table.n[0][c]! > 0 && table.n[1][c]! > 0) rows[n++] = c;
  return rows.slice(0, n);
}

/** The paired difference with both estimands; `family` is the number of outcomes compared. */
export function pairedDifference(
  table: TaskTable,
  rows: Int32Array,
  family: number,
  config: CompareConfig,
): PairedDifference {
  const d = Float64Array.from(rows, (c) => table.difference[c]!);
  const value = mean(d);
  const se = standardError(d);
  const over = (level: number): Interval | null =>
    se === null || rows.length < config.minTasks
      ? null
      : tInterval(value, se, rows.length - 1, level, 'paired t over tasks');
  return {
    value,
    se,
    interval: over(config.level),
    simultaneous: over(1 - (1 - config.level) / family),
    estimand: 'mean difference B − A on new tasks from the population of these, each task once',
    theseTasks: theseTasks(table, rows, value, config.level),
  };
}

function theseTasks(
  table: TaskTable,
  rows: Int32Array,
  value: number,
  level: number,
): PairedDifference['theseTasks'] {
  if (rows.some((c) => table.n[0][c]! < 2 || table.n[1][c]! < 2)) return null;
  let sum = 0;
  let squares = 0;
  for (const c of rows)
    for (const k of [0, 1] as const) {
      const n = table.n[k][c]!;
      const v = table.squares[k][c]! / (n - 1) / n;
      sum += v;
      squares += (v * v) / (n - 1);
    }
  const se = Math.sqrt(sum) / rows.length;
  return {
    estimand: 'mean difference B − A on these very tasks, each once, over fresh trials',
    se,
    interval: tInterval(value, se, (sum * sum) / squares, level, 'within-task t'),
  };
}

/** sd/√K of one number a task; null where K < 2. */
export function standardError(values: Float64Array): number | null {
  return values.length < 2 ? null : Math.sqrt(variance(values) / values.length);
}

/** centre ± t · se; null without spread. */
export function tInterval(
  centre: number,
  se: number,
  df: number,
  level: number,
  name: string,
): Interval | null {
  if (withoutSpread(se, centre) || !(df > 0)) return null;
  const half = studentQuantile((1 + level) / 2, df) * se;
  const shown = Number.isInteger(df) ? df : df.toFixed(1);
  return { lo: centre - half, hi: centre + half, level, method: `${name}, ${shown} degrees of freedom` };
}

/** Mean over tasks of u_c, turned so that more is better for B. */
export function winRate(
  table: TaskTable,
  rows: Int32Array,
  better: 'higher' | 'lower',
  config: CompareConfig,
): WinRate {
  const u = Float64Array.from(rows, (c) => (better === 'higher' ? table.higher[c]! : 1 - table.higher[c]!));
  const value = mean(u);
  const se = standardError(u);
  const raw =
    se === null || rows.length < config.minTasks
      ? null
      : tInterval(value, se, rows.length - 1, config.level, 'paired t over tasks');
  return { value, se, interval: raw && { ...raw, lo: Math.max(0, raw.lo), hi: Math.min(1, raw.hi) } };
}

/** One policy by itself: its mean over all its episodes with CR1, and its mean over the common tasks. */
export function policyOutcome(o: ScannedOutcome, side: 0 | 1, rows: Int32Array): PolicyOutcome {
  const n = o.table.n[side];
  const x = o.table.mean[side];
  const alone = o.withoutTask[side];
  const total = alone.n + sumOf(n.length, (c) => n[c]!);
  const centre = (alone.n * alone.mean + sumOf(n.length, (c) => (n[c] === 0 ? 0 : n[c]! * x[c]!))) / total;
  const clusters = alone.n + n.reduce((k, trials) => k + (trials > 0 ? 1 : 0), 0);
  // CR1: Σ_c (Σ_{i∈c} (x_i − x̄))², and an episode without a task is a cluster of its own.
  const squares =
    sumOf(n.length, (c) => (n[c] === 0 ? 0 : (n[c]! * (x[c]! - centre)) ** 2)) + squaresAround(alone, centre);
  return {
    mean: centre,
    se: clusters < 2 ? null : Math.sqrt((clusters / (clusters - 1)) * squares) / total,
    n: total,
    clusters,
    missing: o.missing[side],
    invalid: o.invalid[side],
    pairedMean: sumOf(rows.length, (i) => x[rows[i]!]!) / rows.length,
    pairedTrials: rows.length / sumOf(rows.length, (i) => 1 / n[rows[i]!]!),
  };
}

const squaresAround = (m: Moments, centre: number): number => m.squares + m.n * (m.mean - centre) ** 2;
