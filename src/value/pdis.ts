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

export const pdis: Estimator = {
  name: 'PDIS',
  requires: ['behaviour log-probabilities', 'turn rewards'],
  convention: 'mean of Σ_t w_t · r_t over all episodes',
  consistent: true,
  estimate({ n, offsets, weights, rewards, shift, stages, unconditional }) {
    const scale = shift.map(Math.exp);
    const shifted = shift.subarray(0, stages).some((s) => s !== 0);
    const psi = Float64Array.from(unconditional);
    for (let i = 0; i < n; i++) {
      let total = psi[i]!;
      for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
        if (rewards[s] === 0 || weights[s] === 0) continue;
        const term = weights[s]! * rewards[s]!;
        total += shifted ? term * scale[t]! : term;
      }
      psi[i] = total;
    }
    return { value: mean(psi), psi };
  },
};
