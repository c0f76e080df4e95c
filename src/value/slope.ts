/*
 * SLOPE: which of several estimators to take, when one is less biased and the next less noisy
 * (Su, Srinath & Krishnamurthy 2020, after Lepski & Spokoiny 1997).
 *
 *   candidates 1 … m, biases rising and widths CNF falling, for instance by a falling cap on the weights
 *   I_i = [θ̂_i − 2 CNF(i), θ̂_i + 2 CNF(i)]
 *   î   = max { i : ∩_{j ≤ i} I_j ≠ ∅ }
 *
 * The farthest that no less biased one contradicts. With probability 1 − δ its error is within a constant
 * of the best candidate's sum of bias and width.
 *
 * Departures: CNF(i) is the half-width of the CR1-t interval at level 1 − δ/m over tasks, an asymptotic
 * width in the place of a finite-sample one; a width that rises again is cut to the last (they must fall).
 */
import { studentQuantile } from '../math/distributions.ts';
import { clusterVariance } from '../math/statistics.ts';
import type { Clusters } from '../trajectories/trajectories.ts';
import type { Influence } from './estimator.ts';

export interface SlopeChoice {
  /** Place of the candidate that is taken. */
  readonly chosen: number;
  readonly widths: Float64Array; // [m] CNF
}

/**
 * Chooses among candidates, the least biased first. O(m n).
 * @param level 1 − δ, of all candidates together
 */
export function slope(candidates: readonly Influence[], clusters: Clusters, level = 0.95): SlopeChoice {
  const m = candidates.length;
  if (m === 0) throw new RangeError('there must be a candidate to choose from');
  const widths = new Float64Array(m);
  let lo = -Infinity;
  let hi = Infinity;
  let chosen = 0;
  candidates.forEach(({ value, psi }, i) => {
    const { se, clusters: K } = clusterVariance(psi, clusters.of, clusters.count);
    const own = studentQuantile(1 - (1 - level) / (2 * m), K - 1) * se;
    widths[i] = i > 0 ? Math.min(own, widths[i - 1]!) : own;
    lo = Math.max(lo, value - 2 * widths[i]!);
    hi = Math.min(hi, value + 2 * widths[i]!);
    if (lo <= hi) chosen = i; // once they share nothing, they never do again
  });
  return { chosen, widths };
}
