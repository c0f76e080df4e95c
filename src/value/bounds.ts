/*
 * Bounds for V(π) that hold without good overlap, with returns in [lo, hi].
 *
 *   V ≥ lo + E_b[w (G − lo)],   V ≤ hi − E_b[w (hi − G)]
 *
 * with equality under full support; paths of the target that the behaviour never takes are missing
 * from both terms, which are non-negative, so they can only widen the bounds. Each mean is bounded
 * from below by betting on the tasks (math/betting.ts): valid for any tail of the weights and any
 * number of tasks, at the price of width. X_c = mean over the episodes of task c, shares of the bet
 * in proportion to its episodes.
 *
 * A return that is missing (not of an aborted episode) or was cut short may be anything in the range: its term
 * is left out of both sums, the episode is not. That too can only widen the bounds.
 *
 * Departures: the sizes of the tasks are taken as given. With a range taken from the logs the bounds
 * hold for returns within it, which the logs cannot promise.
 */
import { lowerMeanLimit } from '../math/betting.ts';
import type { ReturnRange, ValueBounds } from '../schema/evaluation.ts';
import type { Warning } from '../schema/warning.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import { countWords } from '../weights/words.ts';
import type { Unknown } from './outcomes.ts';

type Weighted = Pick<EpisodeWeights, 'n' | 'logWeight' | 'returns' | 'clusters'>;

type Hidden = Pick<Unknown, 'missing' | 'cutShort' | 'cut' | 'sizes'>;

/** Rounding, relative to the range, by which the two ends may cross where they should meet. */
const ROUNDING = 1e-9;

/** The bounds, or none and why where they contradict each other: then a weight or a propensity is wrong. */
export function checkedBounds(
  w: Weighted,
  range: ReturnRange,
  level: number,
  unknown?: Hidden,
): { readonly bounds: ValueBounds | null; readonly warnings: readonly Warning[] } {
  const bounds = valueBounds(w, range, level, unknown);
  if (bounds === null || bounds.lo <= bounds.hi) return { bounds, warnings: [] };
  const { lo, hi } = bounds;
  if (lo - hi <= ROUNDING * Math.max(Math.abs(range.lo), Math.abs(range.hi)))
    return { bounds: { ...bounds, lo: hi, hi: lo }, warnings: [] };
  const warning: Warning = {
    code: 'bounds-contradict',
    message: `the logs contradict the target or the propensities: its value would be at least ${Number(lo.toPrecision(4))} and at most ${Number(hi.toPrecision(4))}`,
  };
  return { bounds: null, warnings: [warning] };
}

/**
 * Bounds at the given level, both sides together; null with fewer than two tasks. They cross (lo > hi)
 * where no value fits the weights. O(n).
 * @param unknown the returns that the logs do not show; absent: none
 */
export function valueBounds(
  w: Weighted,
  range: ReturnRange,
  level: number,
  unknown?: Hidden,
): ValueBounds | null {
  const sizes = unknown?.sizes ?? sizesOf(w);
  const K = sizes.length;
  if (K < 2) return null;
  const { lo, hi } = range;
  const alpha = (1 - level) / 2;
  return {
    lo: Math.min(hi, lo + lowerMean(w, (G) => G - lo, alpha, sizes, unknown?.cut)),
    hi: Math.max(lo, hi - lowerMean(w, (G) => hi - G, alpha, sizes, unknown?.cut)),
    level,
    range,
    method: `betting on ${K} tasks (Waudby-Smith et al. 2024)${hiddenWords(unknown)}`,
  };
}

function hiddenWords(unknown: Hidden | undefined): string {
  const { missing = 0, cutShort = 0 } = unknown ?? {};
  return missing + cutShort === 0
    ? ''
    : `; the returns of ${countWords(missing)} episodes without one and ${countWords(cutShort)} cut short count as unknown`;
}

function sizesOf({ n, clusters }: Weighted): Float64Array {
  const sizes = new Float64Array(clusters.count);
  for (let i = 0; i < n; i++) sizes[clusters.of[i]!] = sizes[clusters.of[i]!]! + 1;
  return sizes;
}

/** Lower confidence limit of E_b[w f(G)], f ≥ 0, over all episodes of the tasks; 0 where G is not known. */
function lowerMean(
  { n, logWeight, returns, clusters }: Weighted,
  f: (G: number) => number,
  alpha: number,
  sizes: Float64Array,
  cut?: Uint8Array,
): number {
  const X = new Float64Array(sizes.length);
  for (let i = 0; i < n; i++) {
    if (cut?.[i] === 1) continue;
    const c = clusters.of[i]!;
    // Cutting a weight off can only widen the bounds; here it keeps sums finite.
    X[c] = X[c]! + Math.min(Math.exp(logWeight[i]!), 1e100) * f(returns[i]!);
  }
  const most = sizes.reduce((a, b) => Math.max(a, b), 0);
  for (let c = 0; c < X.length; c++) X[c] = X[c]! / sizes[c]!;
  return lowerMeanLimit(
    X,
    alpha,
    sizes.map((size) => size / most),
  );
}
