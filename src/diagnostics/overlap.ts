/*
 * Overlap of the propensity of a class among the turns that took it and those that did not.
 *
 *   AUC                  = P(g⁺ > g⁻) + ½ P(g⁺ = g⁻)          (by ranks; Mann & Whitney 1947)
 *   overlap coefficient  = Σ_b min(f⁺_b, f⁻_b) over 20 equal bins of [0, 1]
 *   common support       = [max of the two least, min of the two largest]
 */
import type { Overlap } from '../schema/diagnostics.ts';

const BINS = 20;

/**
 * @param g [n] propensity of the class
 * @param taken [n] 1 where it was taken
 * O(n log n). Null where one of the two groups is empty.
 */
export function overlap(g: Float64Array, taken: Uint8Array): Omit<Overlap, 'actionClass'> | null {
  const n = g.length;
  const bins = [new Float64Array(BINS), new Float64Array(BINS)] as const;
  const least = [Infinity, Infinity];
  const most = [-Infinity, -Infinity];
  let n1 = 0;
  for (let i = 0; i < n; i++) {
    const k = taken[i]!;
    const bin = Math.min(BINS - 1, Math.floor(g[i]! * BINS));
    n1 += k;
    bins[k]![bin] = bins[k]![bin]! + 1;
    least[k] = Math.min(least[k]!, g[i]!);
    most[k] = Math.max(most[k]!, g[i]!);
  }
  const n0 = n - n1;
  if (n1 === 0 || n0 === 0) return null;
  const wins = beaten(
    g.filter((_, i) => taken[i] === 1),
    g.filter((_, i) => taken[i] === 0),
  );
  let coefficient = 0;
  for (let b = 0; b < BINS; b++) coefficient += Math.min(bins[1][b]! / n1, bins[0][b]! / n0);
  const lo = Math.max(least[0]!, least[1]!);
  const hi = Math.min(most[0]!, most[1]!);
  return {
    taken: n1,
    others: n0,
    auc: wins / (n1 * n0),
    overlapCoefficient: coefficient,
    commonSupport: lo <= hi ? [lo, hi] : null,
  };
}

/** Pairs in which a taker lies above an other, equal ones half. The native sort of numbers is far faster than one of places. */
function beaten(takers: Float64Array, others: Float64Array): number {
  takers.sort();
  others.sort();
  let wins = 0;
  let below = 0; // others below the taker
  let upTo = 0; // others below or equal
  for (const x of takers) {
    while (below < others.length && others[below]! < x) below++;
    if (upTo < below) upTo = below;
    while (upTo < others.length && others[upTo]! === x) upTo++;
    wins += (below + upTo) / 2;
  }
  return wins;
}
