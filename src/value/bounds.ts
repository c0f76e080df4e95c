/*
 * Bounds for V(π) that hold without good overlap, with returns in [lo, hi].
 *
 *   V ≥ lo + E_b[min(w, c) (G − lo)],   V ≤ hi − E_b[min(w, c) (hi − G)]     for every cap c > 0
 *
 * Both terms are non-negative: cutting weights off can only lower them, and so can paths of the
 * target that the behaviour never takes. Each mean is bounded from below by the empirical Bernstein
 * inequality (Maurer & Pontil 2009, Theorem 11: independent X_1…X_K in [0, R], with probability 1 − δ)
 *
 *   E X̄ ≥ X̄ − √(2 S² ln(2/δ) / K) − 7 R ln(2/δ) / (3 (K − 1))
 *
 * over tasks, X_c = (K/n) Σ_{i in c} min(w_i, c)(G_i − lo), R = (K/n) · (most episodes of a task) · c · (hi − lo).
 * δ is shared evenly by the caps of a fixed grid and the two sides, so that the best cap may be chosen.
 *
 * Departures: the sizes of the tasks are taken as given. With a range taken from the logs the bounds
 * hold for returns within it, which the logs cannot promise.
 */
import { variance } from '../math/statistics.ts';
import { sum } from '../math/sum.ts';
import type { ReturnRange, ValueBounds } from '../schema/evaluation.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';

export const CAPS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];

type Weighted = Pick<EpisodeWeights, 'n' | 'logWeight' | 'returns' | 'clusters'>;

/** Bounds at the given level, both sides together; null with fewer than two tasks. O(caps × n). */
export function valueBounds(w: Weighted, range: ReturnRange, level: number): ValueBounds | null {
  const K = w.clusters.count;
  if (K < 2) return null;
  const { lo, hi } = range;
  const delta = (1 - level) / (2 * CAPS.length);
  let best = { lo, hi, capLo: null as number | null, capHi: null as number | null };
  for (const cap of CAPS) {
    const below = lo + lowerMean(w, cap, (G) => G - lo, hi - lo, delta);
    const above = hi - lowerMean(w, cap, (G) => hi - G, hi - lo, delta);
    if (below > best.lo) best = { ...best, lo: below, capLo: cap };
    if (above < best.hi) best = { ...best, hi: above, capHi: cap };
  }
  return {
    ...best,
    level,
    range,
    method: `empirical Bernstein over ${K} tasks, weights capped at the best of ${CAPS.join(', ')}`,
  };
}

/** Lower confidence limit of E_b[min(w, cap) f(G)], f in [0, width]. */
function lowerMean(
  { n, logWeight, returns, clusters }: Weighted,
  cap: number,
  f: (G: number) => number,
  width: number,
  delta: number,
): number {
  const K = clusters.count;
  const X = new Float64Array(K);
  const sizes = new Int32Array(K);
  for (let i = 0; i < n; i++) {
    const c = clusters.of[i]!;
    X[c] = X[c]! + (K / n) * Math.min(Math.exp(logWeight[i]!), cap) * f(returns[i]!);
    sizes[c] = sizes[c]! + 1;
  }
  const R = (K / n) * sizes.reduce((a, b) => Math.max(a, b), 0) * cap * width;
  const log = Math.log(2 / delta);
  return sum(X) / K - Math.sqrt((2 * variance(X) * log) / K) - (7 * R * log) / (3 * (K - 1));
}
