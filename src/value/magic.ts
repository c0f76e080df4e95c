/*
 * MAGIC (Thomas & Brunskill 2016), as its authors corrected it.
 *
 *   g^(j)  = mean V̂_1 + Σ_{t ≤ j} Σ_i w̄_it δ_it,   δ_t = r_t + V̂_{t+1} − Q̂_t      WDR up to turn j, then the model
 *   J      = {−1 (DM), 0, …, L − 1 (WDR)}
 *   Ω      = n · cov_i(g_i^(j), g_i^(k)),   g^(j) = Σ_i g_i^(j)
 *   b_j    = distance of g^(j) from the interval [δ/2, 1 − δ/2] of a bootstrap of WDR, widened to hold WDR
 *   x      = argmin xᵀ(Ω + bbᵀ + 10⁻⁵ I)x on the simplex,   V̂ = Σ_j x_j g^(j)
 *
 * The paper's own code lacked the factor n in Ω, and bᵀb in the place of bbᵀ is a common slip. δ = 0.5, and
 * 10⁻⁵ I, which takes returns to be of the order of 1, are the authors'.
 *
 * Departures: episodes of a task are one draw, in Ω (sums by task) and in the bootstrap (tasks, beyond
 * 1,000 in buckets); the ridge is at least 10⁻¹² of the largest entry of Ω + bbᵀ; at most `returns` values of j, evenly spaced with both ends, since Ω costs n |J|².
 * ψ takes x as fixed. No interval: x is chosen by looking at the same data.
 */
import { bootstrap } from '../math/bootstrap.ts';
import { simplexQp } from '../math/simplex-qp.ts';
import { quantile } from '../math/statistics.ts';
import { sum } from '../math/sum.ts';
import type { StageSums } from '../weights/carried.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { Estimator } from './estimator.ts';
import { taskBuckets } from './intervals/buckets.ts';
import { resampledCarried } from './intervals/resampled.ts';
import { requireNuisances } from './nuisances.ts';
import { withResiduals } from './residuals.ts';
import { wpdisCarried } from './wpdis-carried.ts';

export interface MagicOptions {
  /** Most j-step returns that are blended. */
  readonly returns?: number;
  readonly delta?: number;
  readonly replicates?: number;
  readonly seed?: number;
}

/** What MAGIC blends and how. */
export interface MagicBlend {
  readonly steps: readonly number[]; // J
  readonly g: Float64Array; // [|J|]
  readonly covariance: Float64Array; // [|J| × |J|] Ω
  readonly bias: Float64Array; // [|J|] b
  readonly x: Float64Array; // [|J|] shares, sum to 1
}

/** The estimator with these options. */
export function magic(options: MagicOptions = {}): Estimator {
  const requires = ['behaviour log-probabilities', 'turn rewards', 'q-values'] as const;
  const { seed = 0, replicates = 200, delta = 0.5 } = options;
  const convention = `blend of j-step WDR (carried) and the regression, Ω with n, bbᵀ, δ = ${delta}, ${replicates} resamples of tasks, seed ${seed}`;
  return {
    name: 'MAGIC',
    requires,
    convention,
    consistent: true,
    estimate(w, stages, given = {}) {
      requireNuisances({ name: 'MAGIC', requires }, given);
      const corrected = withResiduals(w, given.q!.logged, given.q!.v);
      const { steps, g, x } = blend(corrected, stages, options);
      const value = sum(g.map((v, k) => v * x[k]!));
      const { psi } = wpdisCarried.estimate(blended(corrected, steps, x), stages);
      const regression = g[0]!;
      const ipw = wpdisCarried.estimate(w, stages).value;
      return {
        value,
        psi,
        parts: { ipw, regression, correction: value - regression },
        noInterval: 'its blend is chosen on the same data, so its standard error makes no interval',
      };
    },
  };
}

/**
 * The blend itself. O(turns + n |J| + K |J|² + replicates · buckets · L).
 * @param corrected weights with residuals for rewards
 */
export function blend(
  corrected: EpisodeWeights,
  stages: StageSums,
  { returns = 20, delta = 0.5, replicates = 200, seed = 0 }: MagicOptions = {},
): MagicBlend {
  const steps = stepsOf(corrected.stages, returns);
  const m = steps.length;
  const { sums, count } = contributions(corrected, stages, steps);
  const g = new Float64Array(m);
  for (let c = 0; c < count; c++) for (let k = 0; k < m; k++) g[k] = g[k]! + sums[c * m + k]!;

  const covariance = new Float64Array(m * m);
  for (let c = 0; c < count; c++)
    for (let k = 0; k < m; k++)
      for (let l = 0; l < m; l++)
        covariance[k * m + l] =
          covariance[k * m + l]! +
          ((sums[c * m + k]! - g[k]! / count) * (sums[c * m + l]! - g[l]! / count) * count) / (count - 1);

  const wdr = wpdisCarried.estimate(corrected, stages);
  const table = resampledCarried(corrected, stages, wdr, taskBuckets(corrected));
  const drawn = bootstrap([table], replicates, seed)[0]!.values.filter(Number.isFinite);
  const lo = Math.min(wdr.value, quantile(drawn, delta / 2));
  const hi = Math.max(wdr.value, quantile(drawn, 1 - delta / 2));
  const bias = g.map((v) => (v > hi ? v - hi : v < lo ? v - lo : 0));

  const A = covariance.map((v, at) => v + bias[Math.floor(at / m)]! * bias[at % m]!);
  const ridge = Math.max(1e-5, 1e-12 * A.reduce((a, v) => Math.max(a, Math.abs(v)), 0));
  for (let k = 0; k < m; k++) A[k * m + k] = A[k * m + k]! + ridge;
  return {
    steps,
    g,
    covariance,
    bias,
    x: A.every(Number.isFinite) ? simplexQp(A, m) : g.map(() => Number.NaN),
  };
}

/** −1, …, L − 1, or so many of them, evenly spaced. */
function stepsOf(L: number, most: number): number[] {
  const m = Math.max(2, Math.min(L + 1, most));
  return [...new Set(Array.from({ length: m }, (_, k) => Math.round((k * L) / (m - 1)) - 1))];
}

/** Σ_{i in task} g_i^(j) by task, [tasks × |J|]. */
function contributions(
  { n, stages: T, offsets, weights, rewards, unconditional, clusters }: EpisodeWeights,
  { carriedSum }: StageSums,
  steps: readonly number[],
): { readonly sums: Float64Array; readonly count: number } {
  const m = steps.length;
  const sums = new Float64Array(clusters.count * m);
  const place = new Int32Array(T); // first step that holds turn t
  for (let t = 0, k = 0; t < T; t++) {
    while (steps[k]! < t) k++;
    place[t] = k;
  }
  const g = new Float64Array(m);
  for (let i = 0; i < n; i++) {
    g.fill(0);
    g[0] = unconditional[i]! / n;
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++)
      if (weights[s] !== 0) g[place[t]!] = g[place[t]!]! + (weights[s]! * rewards[s]!) / carriedSum[t]!;
    const at = clusters.of[i]! * m;
    for (let k = 0, total = 0; k < m; k++) {
      total += g[k]!;
      sums[at + k] = sums[at + k]! + total;
    }
  }
  return { sums, count: clusters.count };
}

/** Σ_j x_j of the residuals up to turn j: those of turn t times Σ_{j ≥ t} x_j. */
function blended(corrected: EpisodeWeights, steps: readonly number[], x: Float64Array): EpisodeWeights {
  const { n, stages: T, offsets } = corrected;
  const share = new Float64Array(T);
  steps.forEach((j, k) => {
    for (let t = 0; t <= j; t++) share[t] = share[t]! + x[k]!;
  });
  const rewards = new Float64Array(corrected.rewards.length);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++)
      rewards[s] = share[t]! * corrected.rewards[s]!;
  return { ...corrected, rewards };
}
