/*
 * The value against the cap on the weights (Cole & Hernán 2008): min(w, M) for caps M at quantiles
 * of the positive weights.
 *
 *   IPW = Σ w G / n,   SE = √(Σ (w G − IPW)²)/n
 *   Hájek = Σ w G / Σ w,   SE = √(Σ w² (G − Hájek)²)/Σ w       (single episodes, denominator n)
 *
 * Capping trades variance for bias. A value that moves one way along the whole curve, further than
 * its uncapped standard error, is made by the largest weights: the data at hand do not identify it.
 */
import { quantileSorted } from '../math/statistics.ts';
import type { TruncationCurve, TruncationPoint } from '../schema/diagnostics.ts';
import { effectiveSampleSize } from '../weights/effective-sample-size.ts';

export const QUANTILES = [1, 0.995, 0.99, 0.975, 0.95, 0.9, 0.8] as const;

/**
 * @param weight [n] the final weights
 * @param caps in their place, where the caps are given; descending
 * O(n log n).
 */
export function truncationCurve(
  weight: Float64Array,
  returns: Float64Array,
  caps?: readonly number[],
): TruncationCurve {
  const positive = weight.filter((x) => x > 0).sort();
  if (positive.length === 0) return { points: [], moves: { ipw: null, hajek: null } };
  const points =
    caps === undefined
      ? QUANTILES.map((q) => pointAt(weight, returns, quantileSorted(positive, q), q))
      : caps.map((cap) => pointAt(weight, returns, cap, null));
  return {
    points,
    moves: {
      ipw: direction(
        points.map((p) => p.ipw),
        points[0]!.ipwSe,
      ),
      hajek: direction(
        points.map((p) => p.hajek),
        points[0]!.hajekSe,
      ),
    },
  };
}

function pointAt(
  weight: Float64Array,
  returns: Float64Array,
  cap: number,
  quantileOfPositive: number | null,
): TruncationPoint {
  const n = weight.length;
  const w = weight.map((x) => Math.min(x, cap));
  let total = 0;
  let sum = 0;
  let truncated = 0;
  for (let i = 0; i < n; i++) {
    total += w[i]!;
    sum += w[i]! * returns[i]!;
    if (weight[i]! > cap) truncated++;
  }
  const ipw = sum / n;
  const hajek = sum / total;
  let spread = 0;
  let relative = 0;
  for (let i = 0; i < n; i++) {
    spread += (w[i]! * returns[i]! - ipw) ** 2;
    relative += (w[i]! * (returns[i]! - hajek)) ** 2;
  }
  return {
    quantileOfPositive,
    cap,
    truncated,
    ipw,
    ipwSe: Math.sqrt(spread) / n,
    hajek,
    hajekSe: Math.sqrt(relative) / total,
    ess: effectiveSampleSize(w),
    meanWeight: total / n,
  };
}

/** Up or down all the way, and by more than one standard error. */
function direction(values: readonly number[], se: number): 'up' | 'down' | null {
  const steps = values.slice(1).map((v, i) => v - values[i]!);
  const moved = values.at(-1)! - values[0]!;
  if (!(Math.abs(moved) > se)) return null;
  if (steps.every((d) => d >= 0)) return 'up';
  return steps.every((d) => d <= 0) ? 'down' : null;
}
