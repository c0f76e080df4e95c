/*
 * The tail index k of the generalised Pareto distribution, fitted to the largest weights.
 * Zhang & Stephens (2009), with the weak prior of Vehtari, Simpson, Gelman, Yao & Gabry (2024).
 *
 *   M = ⌈min(S/5, 3√S)⌉ largest values; x = exceedances over the largest value below them, ascending
 *   m = 30 + ⌊√M⌋,  b_j = 1/x_M + (1 − √(m/(j − ½))) / (3 x_{⌊M/4 + ½⌋})
 *   k_j = mean log(1 − b_j x),  L_j = M (log(−b_j/k_j) − k_j − 1)
 *   b̂ = Σ b_j softmax(L)_j,  k = mean log(1 − b̂ x),  k̂ = (M k + 10 · ½)/(M + 10)
 *
 * Departures: the two references in use take ⌊3√S⌋ or ⌈3√S⌉ values; both can be asked for. Where the
 * tail is no continuous one (fewer than 20 distinct values, or fewer than half of them distinct) the
 * fit returns nonsense, so nothing is returned, with the reason.
 */
import { largest } from './largest.ts';

export interface TailIndex {
  readonly k: number | null;
  /** Values in the tail. */
  readonly tail: number;
  /** Why `k` is null. */
  readonly reason: string | null;
}

const FEWEST_DRAWS = 5;
const FEWEST_ATOMS = 20;

/**
 * Pareto k̂ of non-negative weights. Scale does not matter. Cost: O(n + √n log n) as a rule.
 * @param weights [S], finite
 * @param rounding of the tail length
 */
export function tailIndex(weights: ArrayLike<number>, rounding: 'ceil' | 'floor' = 'ceil'): TailIndex {
  const S = weights.length;
  const isConstant = S > 0 && constant(weights);
  const M = tailLength(S, rounding);
  const enough = !isConstant && M >= FEWEST_DRAWS;
  return tailIndexOf(S, enough ? largest(weights, M + 1) : new Float64Array(0), isConstant, rounding);
}

/** Values in the tail of S. */
export function tailLength(S: number, rounding: 'ceil' | 'floor' = 'ceil'): number {
  return Math[rounding](Math.min(S / 5, 3 * Math.sqrt(S)));
}

/**
 * The same from the largest of S values alone, as a scan keeps them.
 * @param largestOf ascending, at least one more than the tail
 * @param isConstant whether all S values are equal
 */
export function tailIndexOf(
  S: number,
  largestOf: Float64Array,
  isConstant: boolean,
  rounding: 'ceil' | 'floor' = 'ceil',
): TailIndex {
  const M = tailLength(S, rounding);
  const none = (reason: string): TailIndex => ({ k: null, tail: M, reason });
  if (isConstant) return none('all weights are equal');
  if (M < FEWEST_DRAWS) return none(`the tail holds ${M} weights, fewer than ${FEWEST_DRAWS}`);
  const sorted = largestOf.subarray(largestOf.length - M - 1);
  const top = sorted[M]!;
  if (!Number.isFinite(top)) return none('a weight is not finite');
  const cut = sorted[0]!;
  const x = sorted.subarray(1).map((w) => (w - cut) / top);
  if (same(sorted[1]!, top)) return none('all weights of the tail are equal');
  if (same(sorted[1 + quartile(M)]!, cut)) return none('a quarter of the tail equals its threshold');
  const atoms = distinct(sorted.subarray(1));
  // A tail of a continuous law has no ties at all.
  if (atoms < Math.min(FEWEST_ATOMS, M) || 2 * atoms < M)
    return none(`the tail is made of ${atoms} distinct values: a few atoms have no tail index`);
  return { k: fit(x), tail: M, reason: null };
}

/** Above which k̂ the estimate is not to be trusted at S draws: min(1 − 1/log₁₀ S, 0.7). */
export function tailThreshold(S: number): number {
  return Math.min(1 - 1 / Math.log10(S), 0.7);
}

function fit(x: Float64Array): number {
  const M = x.length;
  const m = 30 + Math.floor(Math.sqrt(M));
  const b = new Float64Array(m);
  const L = new Float64Array(m);
  let top = -Infinity;
  for (let j = 0; j < m; j++) {
    b[j] = 1 / x[M - 1]! + (1 - Math.sqrt(m / (j + 0.5))) / (3 * x[quartile(M)]!);
    const k = meanLog(x, b[j]!);
    const l = M * (Math.log(-b[j]! / k) - k - 1);
    // b = 0 has no profile likelihood in this form: a grid point less.
    L[j] = Number.isNaN(l) ? -Infinity : l;
    if (L[j]! > top) top = L[j]!;
  }
  let mass = 0;
  let weighted = 0;
  for (let j = 0; j < m; j++) {
    const w = Math.exp(L[j]! - top);
    mass += w;
    weighted += w * b[j]!;
  }
  return (M * meanLog(x, weighted / mass) + 5) / (M + 10);
}

/** Equal but for rounding: a product of the same ratios in another order is the same atom. */
const same = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

function constant(weights: ArrayLike<number>): boolean {
  for (let i = 1; i < weights.length; i++) if (!same(weights[i]!, weights[0]!)) return false;
  return true;
}

const quartile = (M: number): number => Math.floor(M / 4 + 0.5) - 1;

function meanLog(x: Float64Array, b: number): number {
  let total = 0;
  for (let i = 0; i < x.length; i++) total += Math.log1p(-b * x[i]!);
  return total / x.length;
}

function distinct(sorted: Float64Array): number {
  let count = 1;
  for (let i = 1; i < sorted.length; i++) if (!same(sorted[i]!, sorted[i - 1]!)) count++;
  return count;
}
