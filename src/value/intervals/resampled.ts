/*
 * The sums by bucket from which each estimator of the importance-sampling family is computed again in a
 * resample of tasks; numerators are taken about the estimate (see sum-of-ratios.ts).
 *
 *   mean       Σ (ψ − V̂), n                                    IS, PDIS, any mean of independent terms
 *   WIS        Σ w (G − V̂), Σ w
 *   WPDIS      Σ (w_t r_t − c_t w_t), Σ w_t by stage; c_t = a_t/b_t; with the reward of no turn Σ (u − ū), n
 *
 * O(turns + buckets × stages) each.
 */
import type { BucketSums } from '../../math/bootstrap.ts';
import { mean } from '../../math/statistics.ts';
import type { StageSums } from '../../weights/carried.ts';
import type { EpisodeWeights } from '../../weights/episode-weights.ts';
import { rewardSums } from '../reward-sums.ts';
import type { Buckets } from './buckets.ts';
import { sumOfProducts, sumOfRatios } from './sum-of-ratios.ts';

/** An estimate as a function of sums by bucket. */
export type Resampled = (
  w: EpisodeWeights,
  stages: StageSums,
  influence: { readonly value: number; readonly psi: Float64Array },
  buckets: Buckets,
) => BucketSums;

/** A mean of the influence values, each a function of its own episode alone. */
export const resampledMean: Resampled = (_w, _stages, { value, psi }, { of, count }) => {
  const sums = new Float64Array(2 * count);
  for (let i = 0; i < psi.length; i++) add(sums, 2 * of[i]!, psi[i]! - value, 1);
  return { buckets: count, columns: 2, sums, f: sumOfRatios(Float64Array.of(value), 'undefined') };
};

/** The self-normalised return, its denominator resampled with it. */
export const resampledWis: Resampled = ({ n, weight, returns }, _stages, { value }, { of, count }) => {
  const sums = new Float64Array(2 * count);
  for (let i = 0; i < n; i++) add(sums, 2 * of[i]!, weight[i]! * (returns[i]! - value), weight[i]!);
  return { buckets: count, columns: 2, sums, f: sumOfRatios(Float64Array.of(value), 'undefined') };
};

/** Weighted PDIS with ended episodes in later denominators. */
export const resampledCarried: Resampled = (w, { carriedSum }, _influence, { of, count }) => {
  const { n, stages: T, offsets, weights, rewards, shift, logWeight } = w;
  const c = terms(w, carriedSum);
  const columns = 2 * T + 2;
  const sums = new Float64Array(columns * count);
  const shifted = shift.some((s) => s !== 0);
  const ended = new Float64Array(shifted ? 0 : T * count); // Σ w_T by bucket and number of turns
  for (let i = 0; i < n; i++) {
    const at = of[i]! * columns;
    let t = 0;
    for (let s = offsets[i]!; s < offsets[i + 1]!; s++, t++)
      if (weights[s] !== 0) add(sums, at + 2 * t, weights[s]! * (rewards[s]! - c[t]!), weights[s]!);
    if (!shifted) {
      if (t < T) ended[of[i]! * T + t] = ended[of[i]! * T + t]! + Math.exp(logWeight[i]!);
    } else
      for (; t < T; t++) {
        const x = Math.exp(logWeight[i]! - shift[t]!);
        add(sums, at + 2 * t, -c[t]! * x, x);
      }
  }
  if (!shifted)
    for (let b = 0; b < count; b++)
      for (let t = 0, carry = 0; t < T; t++) {
        carry += ended[b * T + t]!;
        add(sums, b * columns + 2 * t, -c[t]! * carry, carry);
      }
  const start = addUnconditional(w, of, sums, columns);
  return { buckets: count, columns, sums, f: sumOfRatios(Float64Array.from([...c, start]), 'undefined') };
};

/** Weighted PDIS among the episodes alive. */
export const resampledAlive: Resampled = (w, { aliveSum }, _influence, { of, count }) => {
  const { n, stages: T, offsets, weights, rewards } = w;
  const c = terms(w, aliveSum);
  const columns = 2 * T + 2;
  const sums = new Float64Array(columns * count);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++)
      if (weights[s] !== 0)
        add(sums, of[i]! * columns + 2 * t, weights[s]! * (rewards[s]! - c[t]!), weights[s]!);
  const start = addUnconditional(w, of, sums, columns);
  return { buckets: count, columns, sums, f: sumOfRatios(Float64Array.from([...c, start]), 'nothing') };
};

/** Weighted PDIS among the alive, times the share of all episodes that are. */
export const resampledAliveMeanOverN: Resampled = (w, { alive, aliveSum }, _influence, { of, count }) => {
  const { n, stages: T, offsets, weights, rewards } = w;
  const c = terms(w, aliveSum);
  const share = Float64Array.from(alive, (m) => m / n);
  const columns = 3 * T + 2;
  const sums = new Float64Array(columns * count);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      const at = of[i]! * columns + 3 * t;
      if (weights[s] !== 0) add(sums, at, weights[s]! * (rewards[s]! - c[t]!), weights[s]!);
      sums[at + 2] = sums[at + 2]! + 1;
    }
  const start = addUnconditional(w, of, sums, columns);
  for (let at = 0; at < sums.length; at += columns)
    for (let t = 0; t < T; t++)
      sums[at + 3 * t + 2] = sums[at + 3 * t + 2]! - share[t]! * sums[at + columns - 1]!;
  return { buckets: count, columns, sums, f: sumOfProducts(c, share, start) };
};

/** a_t/b_t as the estimators have it. */
const terms = (w: EpisodeWeights, denominators: Float64Array): Float64Array =>
  rewardSums(w).map((a, t) => (a === 0 ? 0 : a / denominators[t]!));

/** Σ (u − ū) and n in the last two columns; returns ū. */
function addUnconditional(w: EpisodeWeights, of: Int32Array, sums: Float64Array, columns: number): number {
  const start = mean(w.unconditional);
  for (let i = 0; i < w.n; i++) add(sums, of[i]! * columns + columns - 2, w.unconditional[i]! - start, 1);
  return start;
}

function add(sums: Float64Array, at: number, numerator: number, denominator: number): void {
  sums[at] = sums[at]! + numerator;
  sums[at + 1] = sums[at + 1]! + denominator;
}
