/*
 * Doubly robust (Jiang & Li 2016; Robins 1986 in coarsened form; Zhang et al. 2013).
 *
 *   ψ_i = V̂_1 + Σ_t w_t (r_t + V̂_{t+1} − Q̂_t),   V̂ = Σ_a π Q̂ under the target
 *   ψ_i = D_1,  D_t = V̂_t + ρ_t (r_t + D_{t+1} − Q̂_t)        the same as a recursion
 *
 * Unbiased for any Q̂ fitted on other tasks when the propensities are known; first-order exact when
 * both are estimated well. Q̂ = 0 is PDIS. ψ takes Q̂ as known, which costs nothing in first order.
 */
import { mean } from '../math/statistics.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { Estimator } from './estimator.ts';
import { resampledMean } from './intervals/resampled.ts';
import { type EpisodeQ, requireNuisances } from './nuisances.ts';
import { pdis } from './pdis.ts';
import { withResiduals } from './residuals.ts';

export const dr: Estimator = {
  name: 'DR',
  requires: ['behaviour log-probabilities', 'turn rewards', 'q-values'],
  convention: 'V₁ + Σ_t w_t (r_t + V_{t+1} − Q_t), V = Σ_a π Q',
  consistent: true,
  resampled: resampledMean,
  estimate(w, stages, given = {}) {
    requireNuisances(dr, given);
    const corrected = withResiduals(w, given.q!.logged, given.q!.v);
    const { value, psi } = pdis.estimate(corrected, stages);
    const regression = mean(corrected.unconditional);
    const ipw = pdis.estimate(w, stages).value;
    return { value, psi, parts: { ipw, regression, correction: value - regression } };
  },
};

/** ψ by the recursion, [n]. O(turns). */
export function drRecursion(
  { n, offsets, logRatios, rewards, unconditional }: EpisodeWeights,
  { logged, v }: EpisodeQ,
): Float64Array {
  const psi = Float64Array.from(unconditional);
  for (let i = 0; i < n; i++) {
    if (offsets[i] === offsets[i + 1]) continue;
    let D = 0; // D_{t+1}; rewards and values are discounted from the start, so γ is in them
    for (let s = offsets[i + 1]! - 1; s >= offsets[i]!; s--)
      D = v[s]! + (logRatios[s] === -Infinity ? 0 : Math.exp(logRatios[s]!) * (rewards[s]! + D - logged[s]!));
    psi[i] = psi[i]! + D;
  }
  return psi;
}
