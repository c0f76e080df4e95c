/*
 * Weighted per-decision importance sampling, each stage normalised over the episodes still alive.
 *
 *   V̂ = Σ_t a_t / b_t,   a_t = (1/n) Σ_{i alive} w_it r_it,   b_t = (1/n) Σ_{i alive} w_it
 *   ψ_i = V̂ + Σ_{t ≤ T_i} w_it (r_it − a_t/b_t) / b_t
 *
 * A stage's term is a mean among the survivors, not multiplied by the chance of surviving: with
 * episodes of unequal length this is not the value of the target. Shown because others print it.
 */
import { mean } from '../math/statistics.ts';
import { sum } from '../math/sum.ts';
import type { Estimator } from './estimator.ts';
import { resampledAlive } from './intervals/resampled.ts';
import { rewardSums } from './reward-sums.ts';

export const wpdisAlive: Estimator = {
  name: 'WPDIS alive',
  requires: ['behaviour log-probabilities', 'turn rewards'],
  convention: 'alive: each denominator sums the episodes still alive; not consistent when lengths differ',
  consistent: false,
  resampled: resampledAlive,
  estimate(w, { aliveSum }) {
    const { n, offsets, weights, rewards, unconditional } = w;
    const term = rewardSums(w).map((a, t) => (a === 0 ? 0 : a / aliveSum[t]!));
    const start = mean(unconditional);
    const value = start + sum(term);
    const psi = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let x = value + (unconditional[i]! - start);
      for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++)
        if (weights[s] !== 0) x += (n * weights[s]! * (rewards[s]! - term[t]!)) / aliveSum[t]!;
      psi[i] = x;
    }
    return { value, psi };
  },
};
