/*
 * Intervals from bootstrap replicates (Efron 1987; Efron & Tibshirani 1993, chapters 12 to 14).
 *
 *   percentile   [θ*₍α₎, θ*₍1−α₎],   α = (1 − level)/2
 *   BCa          the same at Φ(z₀ + (z₀ + z_α)/(1 − a (z₀ + z_α))), z₀ = Φ⁻¹(P(θ* < θ) + ½ P(θ* = θ)),
 *                a = Σ d³ / (6 (Σ d²)^{3/2}), d = θ̄₍·₎ − θ₍−b₎ with one bucket left out
 *   studentised  [θ − t*₍1−α₎ se, θ − t*₍α₎ se]
 *
 * Departure: ties with θ count one half in z₀; quantiles are of type 7.
 */
import { normalCdf, normalQuantile } from './distributions.ts';
import { mean, quantileSorted } from './statistics.ts';

export interface Limits {
  readonly lo: number;
  readonly hi: number;
}

export function percentileLimits(values: Float64Array, level: number): Limits {
  const sorted = values.slice().sort();
  return { lo: quantileSorted(sorted, (1 - level) / 2), hi: quantileSorted(sorted, (1 + level) / 2) };
}

/**
 * @param leftOut [buckets] θ without each bucket
 * @returns null where the correction is not finite: every replicate on one side, or too skewed
 */
export function bcaLimits(
  values: Float64Array,
  value: number,
  leftOut: Float64Array,
  level: number,
): Limits | null {
  const sorted = values.slice().sort();
  let below = 0;
  const rounding = 1e-12 * Math.abs(value);
  for (const x of values) below += Math.abs(x - value) <= rounding ? 0.5 : x < value ? 1 : 0;
  const z0 = normalQuantile(below / values.length);
  const a = acceleration(leftOut);
  const limit = (p: number): number => {
    const z = z0 + normalQuantile(p);
    const scale = 1 - a * z;
    return scale > 0 ? quantileSorted(sorted, normalCdf(z0 + z / scale)) : Number.NaN;
  };
  const [lo, hi] = [limit((1 - level) / 2), limit((1 + level) / 2)];
  return Number.isFinite(z0) && Number.isFinite(lo) && Number.isFinite(hi) ? { lo, hi } : null;
}

/** @returns null where a limit is not finite: too many resamples without any spread */
export function studentisedLimits(t: Float64Array, value: number, se: number, level: number): Limits | null {
  const sorted = t.slice().sort();
  const lo = value - (se === 0 ? 0 : quantileSorted(sorted, (1 + level) / 2) * se);
  const hi = value - (se === 0 ? 0 : quantileSorted(sorted, (1 - level) / 2) * se);
  return Number.isFinite(lo) && Number.isFinite(hi) ? { lo, hi } : null;
}

function acceleration(leftOut: Float64Array): number {
  const centre = mean(leftOut);
  let squares = 0;
  let cubes = 0;
  for (const x of leftOut) {
    const d = centre - x;
    squares += d * d;
    cubes += d * d * d;
  }
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}
