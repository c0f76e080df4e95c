/*
 * Whether the mean weight leaves 1: E_b[w_t] = 1 at every turn when the propensities are right and
 * the target stays where the logs go.
 *
 *   z = (mean_t − 1)/(s_t/√n)       s_t over episodes: given its task, every episode has mean weight 1, so that
 *                                   right propensities leave nothing for tasks to share
 *   h = z + g z²/(3√n) + g² z³/(27n) + g/(6√n)       Hall (1992, "On the removal of skewness by transformation"),
 *                                                     g the skewness of the weights at that turn
 *
 * Weights are skewed to the right, so a mean that is low by chance comes with an error that is too small: |z| > 3
 * happened in up to 7 % of right logs where it should in .3 %. Refused where |h| leaves the limit and the mean is as far
 * off in clustered errors, too, which rollouts that are not drawn independently within a task (branches of one start)
 * need. For turns before the last the limit is raised for their number (Bonferroni).
 *
 * Two things have no honest SE: weights that are all alike, and tasks whose sums are all alike though their weights
 * differ; there the CR1 error is rounding noise. The first is judged by the mean alone, the second by h alone.
 */
import { normalCdf, studentQuantile } from '../math/distributions.ts';
import type { Stage } from '../schema/audit.ts';
import { numberWords } from '../weights/words.ts';

/** Logs round propensities (six digits are common), and the error adds up over turns: this much is not a finding. */
const ROUNDED = 1e-4;
/** Relative spread below which numbers are alike but for the arithmetic. */
const ALIKE = 1e-9;

export interface MeanWeightFinding {
  readonly turn: number;
  readonly mean: string;
  /** h; null: all weights alike. */
  readonly z: number | null;
  readonly limit: number;
}

/** The mean weight that is furthest from 1, if beyond chance, of n episodes in K tasks. O(stages). */
export function worstMeanWeight(
  stages: readonly Stage[],
  n: number,
  K: number,
  z: number,
): MeanWeightFinding | null {
  const chance = normalCdf(-z);
  let worst: MeanWeightFinding | null = null;
  let excess = 1;
  for (const s of stages) {
    if (Math.abs((s.meanWeight ?? Number.NaN) - 1) <= ROUNDED) continue;
    const own = chance / (s.turn === stages.length - 1 ? 1 : Math.max(1, stages.length));
    const limit = studentQuantile(1 - own, Math.max(1, n - 1));
    const h = transformed(s, n);
    const clustered = s.z === null ? Infinity : Math.abs(s.z) / studentQuantile(1 - own, Math.max(1, K - 1));
    const beyond = Math.min(h === null ? Infinity : Math.abs(h) / limit, clustered);
    if (beyond > excess) {
      excess = beyond;
      worst = { turn: s.turn, mean: inWords(s.meanWeight), z: h, limit };
    }
  }
  return worst;
}

/** With the digits that tell it from 1. */
const inWords = (mean: number | null): string =>
  mean === null
    ? 'not finite'
    : Math.abs(mean) >= 1000
      ? numberWords(mean, 0)
      : mean.toPrecision(Math.abs(mean - 1) < 0.05 ? 5 : 3);

/** h of a turn; null where all weights are alike, ∞ where they have no finite mean. */
function transformed(s: Stage, n: number): number | null {
  const mean = s.meanWeight;
  if (mean === null) return Infinity;
  if (mean === 0 || n * s.largestShare - 1 <= ALIKE) return null;
  const z = (mean - 1) / (mean * Math.sqrt((n / s.essCarried - 1) / n));
  const g = s.skewness ?? 0;
  const root = Math.sqrt(n);
  return z + (g * z * z) / (3 * root) + (g * g * z ** 3) / (27 * n) + g / (6 * root);
}
