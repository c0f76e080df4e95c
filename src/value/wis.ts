/*
 * Weighted importance sampling = self-normalised (SNIS) = Hájek.
 *
 *   V̂ = Σ_i w_i G_i / Σ_i w_i,   ψ_i = V̂ + w_i (G_i − V̂) / w̄
 *
 * Consistent, biased by O(1/n), never outside the range of the logged returns. ψ is the
 * linearisation of the ratio: numerator and denominator vary together.
 */
import { sum, sumOf } from '../math/sum.ts';
import type { Estimator } from './estimator.ts';
import { resampledWis } from './intervals/resampled.ts';

export const wis: Estimator = {
  name: 'WIS',
  requires: ['behaviour log-probabilities', 'returns'],
  convention: 'Σ w_T · G / Σ w_T; = SNIS = Hájek',
  consistent: true,
  resampled: resampledWis,
  estimate({ n, weight, returns }) {
    const total = sum(weight);
    const value = sumOf(n, (i) => weight[i]! * returns[i]!) / total;
    const psi = new Float64Array(n);
    for (let i = 0; i < n; i++) psi[i] = value + (n * (weight[i]! * (returns[i]! - value))) / total;
    return { value, psi };
  },
};
