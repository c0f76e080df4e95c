/*
 * Per-decision importance sampling (Precup, Sutton & Singh 2000).
 *
 *   V̂ = (1/n) Σ_i Σ_t w_it r_it,   ψ_i = Σ_t w_it r_it
 *
 * A reward is weighted by the decisions before it only. Not always better than IS: where early
 * rewards are costs that later ones offset, the weights no longer cancel.
 */
import { mean } from '../math/statistics.ts';
import type { Estimator } from './estimator.ts';
import { resampledMean } from './intervals/resampled.ts';

export const pdis: Estimator = {
  name: 'PDIS',
  requires: ['behaviour log-probabilities', 'turn rewards'],
  convention: 'mean of Σ_t w_t · r_t over all episodes',
  consistent: true,
  resampled: resampledMean,
  estimate({ n, offsets, weights, logRatios, rewards, shift, unconditional }) {
    const psi = Float64Array.from(unconditional);
    const shifted = shift.some((s) => s !== 0);
    for (let i = 0; i < n; i++) {
      let total = psi[i]!;
      let log = 0;
      for (let s = offsets[i]!; s < offsets[i + 1]!; s++) {
        // A stage's shift may have taken small weights to 0: there they are scanned again.
        if (shifted) log += logRatios[s]!;
        // Selected, not multiplied: ∞ · 0 is not 0.
        if (rewards[s] !== 0) total += (shifted ? Math.exp(log) : weights[s]!) * rewards[s]!;
      }
      psi[i] = total;
    }
    return { value: mean(psi), psi };
  },
};
