/*
 * Consistent weighted per-decision importance sampling, CWPDIS (Thomas 2015; Thomas & Brunskill 2016).
 *
 *   V̂ = Σ_t a_t / b_t,   a_t = (1/n) Σ_i w_it r_it,   b_t = (1/n) Σ_i w_it
 *   with w_it = w_iT for t beyond the end of episode i (its weight is carried forward)
 *   ψ_i = V̂ + Σ_t (w_it r_it − (a_t/b_t) w_it) / b_t
 *
 * Departures: a reward paid without any turn has weight 1, as if at a stage before the first.
 */
import { mean } from '../math/statistics.ts';
import { sum } from '../math/sum.ts';
import type { Estimator } from './estimator.ts';
import { resampledCarried } from './intervals/resampled.ts';
import { rewardSums } from './reward-sums.ts';

export const wpdisCarried: Estimator = {
  name: 'WPDIS carried',
  requires: ['behaviour log-probabilities', 'turn rewards'],
  convention: 'carried: an ended episode keeps its weight in later denominators; = CWPDIS as published',
  consistent: true,
  resampled: resampledCarried,
  estimate(w, { carriedSum }) {
    const { n, stages: T, offsets, weights, rewards, shift, logWeight, unconditional } = w;
    const term = rewardSums(w).map((a, t) => (a === 0 ? 0 : a / carriedSum[t]!)); // a_t / b_t
    const start = mean(unconditional);
    const value = start + sum(term);
    // What a stage takes from an episode that ended before it, per unit of weight: n a_t / b_t².
    const taken = term.map((x, t) => (x === 0 ? 0 : (n * x) / carriedSum[t]!));
    const later = new Float64Array(T + 1);
    for (let t = T - 1; t >= 0; t--) later[t] = later[t + 1]! + taken[t]!;
    const shifted = shift.some((s) => s !== 0);
    const psi = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let x = value + (unconditional[i]! - start);
      let t = 0;
      for (let s = offsets[i]!; s < offsets[i + 1]!; s++, t++)
        if (weights[s] !== 0) x += (n * weights[s]! * (rewards[s]! - term[t]!)) / carriedSum[t]!;
      if (!shifted) x -= Math.exp(logWeight[i]!) * later[t]!;
      else for (; t < T; t++) x -= Math.exp(logWeight[i]! - shift[t]!) * taken[t]!;
      psi[i] = x;
    }
    return { value, psi };
  },
};
