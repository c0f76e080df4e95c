/*
 * What the design can see, by the noncentral t (normal differences, K − 1 degrees of freedom).
 *
 *   Var(d̄) = (τ² + W/f) / K      W = mean_c (s²_A,c/n_A,c + s²_B,c/n_B,c): what the trials add
 *                                τ² = max(0, S² − W): how far the true differences of tasks differ
 *                                f: trials per task, in multiples of the logged ones
 *
 * A side with one trial on some tasks takes its mean s² over the others there. More tasks shrink both
 * parts; more trials only the second, so that differences below that of f = ∞ stay out of reach.
 */
import { detectableEffect, tTestPower } from '../math/noncentral-t.ts';
import { mean, variance } from '../math/statistics.ts';
import { sumOf } from '../math/sum.ts';
import type { CompareConfig, ComparePower } from '../schema/compare.ts';
import type { TaskTable } from './compare-task.ts';

const MOST_TASKS = 1e9;

/** Of K tasks, `difference` being what one wants to see; null with too few tasks or without spread. */
export function comparePower(
  table: TaskTable,
  rows: Int32Array,
  difference: number | null,
  config: CompareConfig,
): ComparePower | null {
  const K = rows.length;
  if (K < config.minTasks) return null;
  const task = variance(Float64Array.from(rows, (c) => table.difference[c]!)); // S²
  if (!(task > 0)) return null;
  const alpha = 1 - config.level;
  const effect = detectableEffect(config.power, K - 1, alpha);
  const se = Math.sqrt(task / K);
  const within = withinVariance(table, rows);
  const between = within === null ? null : Math.max(0, task - within);
  return {
    detectable: effect * se,
    difference,
    power: difference === null ? null : tTestPower(difference / se, K - 1, alpha),
    tasksNeeded: difference === null ? null : tasksNeeded(difference / Math.sqrt(task), config.power, alpha),
    trialsNeeded:
      difference === null || within === null
        ? null
        : trialsNeeded(table, rows, K * (difference / effect) ** 2 - between!, within),
    variance: within === null ? null : { task, within, between: between! },
    floor: between === null ? null : effect * Math.sqrt(between / K),
    method: `noncentral t, K − 1 = ${K - 1} degrees of freedom, power ${config.power}, two-sided level ${Number(alpha.toFixed(6))}`,
  };
}

/** W; null where a side has two trials on no task. */
function withinVariance(table: TaskTable, rows: Int32Array): number | null {
  let total = 0;
  for (const k of [0, 1] as const) {
    const n = table.n[k];
    const spread = (c: number): number => table.squares[k][c]! / (n[c]! - 1); // s²
    const known = rows.filter((c) => n[c]! >= 2);
    if (known.length === 0) return null;
    const usual = mean(Float64Array.from(known, spread));
    total += sumOf(rows.length, (i) => (n[rows[i]!]! >= 2 ? spread(rows[i]!) : usual) / n[rows[i]!]!);
  }
  return total / rows.length;
}

/** The smallest number of tasks, from 2, that sees an effect given in standard deviations of d. */
function tasksNeeded(effect: number, power: number, alpha: number): number | null {
  const enough = (K: number): boolean => tTestPower(effect * Math.sqrt(K), K - 1, alpha) >= power;
  let hi = 2;
  while (!enough(hi)) if ((hi *= 2) > MOST_TASKS) return null;
  let lo = Math.floor(hi / 2); // not enough, or 1
  while (hi - lo > 1) {
    const middle = Math.floor((lo + hi) / 2);
    if (enough(middle)) hi = middle;
    else lo = middle;
  }
  return hi;
}

/** Trials per task at which W/f is what `room` leaves for it, in the logged ratio of A and B. */
function trialsNeeded(
  table: TaskTable,
  rows: Int32Array,
  room: number,
  within: number,
): ComparePower['trialsNeeded'] {
  if (!(room > 0) || room === Infinity) return null;
  const [a, b] = [0, 1].map((k) => {
    const usual = rows.length / sumOf(rows.length, (i) => 1 / table.n[k]![rows[i]!]!);
    return Math.max(1, Math.ceil((within / room) * usual * (1 - 1e-12)));
  });
  return Math.max(a!, b!) > MOST_TASKS ? null : { a: a!, b: b! };
}
