/*
 * Weighted per-decision importance sampling, weights divided by their mean among the alive, then
 * averaged over all n episodes.
 *
 *   V̂ = Σ_t a_t c_t / b_t,   a_t = (1/n) Σ w_it r_it,  b_t = (1/n) Σ w_it,  c_t = n_t/n, over the alive
 *   ψ_i = V̂ + Σ_t (c/b)(w_it r_it − a) + (a/b)(1{alive} − c) − (ac/b²)(w_it − b)
 *       = Σ_{t ≤ T_i} ((c/b) w_it r_it + a/b − (ac/b²) w_it)
 *
 * The behaviour's chance of survival stands where the target's should: not the value of the target
 * unless both end alike. Shown because others print it.
 */
import { mean } from '../math/statistics.ts';
import { sum } from '../math/sum.ts';
import type { Estimator } from './estimator.ts';
import { resampledAliveMeanOverN } from './intervals/resampled.ts';
import { rewardSums } from './reward-sums.ts';

export const wpdisAliveMeanOverN: Estimator = {
  name: 'WPDIS alive-mean-over-n',
  requires: ['behaviour log-probabilities', 'turn rewards'],
  convention:
    'alive-mean-over-n: weights over their mean among the alive, summed, divided by n; not consistent when lengths differ',
  consistent: false,
  resampled: resampledAliveMeanOverN,
  estimate(w, { alive, aliveSum }) {
    const { n, offsets, weights, rewards, unconditional } = w;
    const ratio = rewardSums(w).map((a, t) => (a === 0 ? 0 : a / aliveSum[t]!)); // a / b
    const share = Float64Array.from(alive, (m) => m / n); // c
    const value = mean(unconditional) + sum(ratio.map((x, t) => x * share[t]!));
    const psi = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let x = unconditional[i]!;
      for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
        x += ratio[t]!;
        if (weights[s] !== 0) x += (alive[t]! * weights[s]! * (rewards[s]! - ratio[t]!)) / aliveSum[t]!;
      }
      psi[i] = x;
    }
    return { value, psi };
  },
};
