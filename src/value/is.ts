/*
 * Importance sampling (Horvitz & Thompson 1952; Precup, Sutton & Singh 2000).
 *
 *   V̂ = (1/n) Σ_i w_i G_i,   ψ_i = w_i G_i
 *
 * Unbiased where the target's support lies within the behaviour's.
 */
import { mean } from '../math/statistics.ts';
import type { Estimator } from './estimator.ts';
import { resampledMean } from './intervals/resampled.ts';

export const is: Estimator = {
  name: 'IS',
  requires: ['behaviour log-probabilities', 'returns'],
  convention: 'mean of w_T · G over all episodes',
  consistent: true,
  resampled: resampledMean,
  bounded: 'weighted return',
  estimate({ n, logWeight, returns }) {
    const psi = new Float64Array(n);
    // Selected, not multiplied: ∞ · 0 is not 0.
    for (let i = 0; i < n; i++) if (returns[i] !== 0) psi[i] = Math.exp(logWeight[i]!) * returns[i]!;
    return { value: mean(psi), psi };
  },
};
