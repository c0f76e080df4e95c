/*
 * Whether the mean weight leaves 1: E_b[w_t] = 1 at every turn when the propensities are right and
 * the target stays where the logs go.
 *
 *   |mean_t − 1| / SE_t  against the quantile of t(K − 1) that has the chance of z normal errors,
 *
 * for turns before the last raised for their number (Bonferroni). Two things have no honest SE:
 * weights that are all alike, and tasks whose sums are all alike though their weights differ; there
 * the CR1 error is rounding noise. The first is judged by the mean alone, the second by the error over
 * episodes, mean · √((n/ESS − 1)/n).
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
  /** null: all weights alike. */
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
  const last = studentQuantile(1 - chance, Math.max(1, K - 1));
  const earlier = studentQuantile(1 - chance / Math.max(1, stages.length), Math.max(1, K - 1));
  let worst: MeanWeightFinding | null = null;
  let excess = 1;
  for (const s of stages) {
    if (Math.abs((s.meanWeight ?? Number.NaN) - 1) <= ROUNDED) continue;
    const limit = s.turn === stages.length - 1 ? last : earlier;
    const own = zOf(s, n);
    const beyond = own === null ? Infinity : Math.abs(own) / limit;
    if (beyond > excess) {
      excess = beyond;
      worst = { turn: s.turn, mean: inWords(s.meanWeight), z: own, limit };
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

function zOf(s: Stage, n: number): number | null {
  const mean = s.meanWeight;
  if (mean === null || mean === 0 || n * s.largestShare - 1 <= ALIKE) return null;
  return s.z ?? (mean - 1) / (mean * Math.sqrt((n / s.essCarried - 1) / n));
}
