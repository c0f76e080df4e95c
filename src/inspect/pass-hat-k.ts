/*
 *   pass^k = mean over tasks of C(c, k) / C(n, k), c successes of n trials: unbiased for the
 *   probability that k fresh trials all succeed (Yao et al. 2024, tau-bench)
 */
import { sumOf } from '../math/sum.ts';
import type { TaskStatistics } from './task-statistics.ts';

/** k = 1 … fewest trials of a task that has any, or why there is none. */
export interface PassHatK {
  readonly values: number[] | null;
  readonly reason: string | null;
}

export function passHatK({ n, successes }: TaskStatistics, binary: boolean): PassHatK {
  if (!binary) return { values: null, reason: 'needs returns that are all 0 or 1' };
  let fewest = Infinity;
  let tasks = 0;
  for (const trials of n) {
    if (trials === 0) continue;
    tasks++;
    fewest = Math.min(fewest, trials);
  }
  if (tasks === 0) return { values: null, reason: 'no episode with a return has a task' };
  const p = new Float64Array(n.length).fill(1); // C(c, k) / C(n, k) = ∏_{i<k} (c − i)/(n − i)
  const values: number[] = [];
  for (let k = 1; k <= fewest; k++) {
    for (let c = 0; c < p.length; c++) p[c]! *= Math.max(0, successes[c]! - k + 1) / (n[c]! - k + 1);
    values.push(sumOf(p.length, (c) => (n[c] === 0 ? 0 : p[c]!)) / tasks);
  }
  return { values, reason: null };
}
