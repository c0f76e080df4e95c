/*
 * Limits for a weighted mean of independent variables within declared limits, valid for every sample
 * size (Hoeffding 1963; empirical Bernstein: Maurer & Pontil 2009, theorem 4).
 *
 *   X̄ = Σ_k s_k X_k, Σ s_k = 1, X_k in [lo, hi], R = hi − lo
 *   Hoeffding   |X̄ − μ| ≤ R √(Σ s_k² ln(1/δ) / 2)
 *   Bernstein   |X̄ − μ| ≤ √(2 V ln(2/δ) / K) + 7 R̃ ln(2/δ) / (3 (K − 1))
 *               V = sample variance of Y_k = K s_k (X_k − lo), R̃ = K max_k s_k R
 *
 * with chance at least 1 − δ on one side; both sides at `level` take δ = (1 − level)/2 each. With equal
 * shares these are R √(ln(1/δ)/(2K)) and the published form. The range is a declaration: the largest value
 * seen is not one.
 */
import { standardDeviation } from './statistics.ts';
import { sumOf } from './sum.ts';

export interface Bounded {
  readonly lo: number;
  readonly hi: number;
}
export type Side = 'both' | 'lower' | 'upper';

/** Limits of the mean; a side that is not asked for is the limit of the range. */
export function hoeffding(
  values: ArrayLike<number>,
  range: Bounded,
  level: number,
  shares: ArrayLike<number> = equal(values.length),
  side: Side = 'both',
): Bounded {
  const squares = sumOf(values.length, (k) => shares[k]! ** 2);
  const half = (range.hi - range.lo) * Math.sqrt((squares * Math.log(1 / miss(level, side))) / 2);
  return around(values, shares, half, range, side);
}

/** The same, narrower where the values vary little; needs two of them. */
export function empiricalBernstein(
  values: ArrayLike<number>,
  range: Bounded,
  level: number,
  shares: ArrayLike<number> = equal(values.length),
  side: Side = 'both',
): Bounded {
  const K = values.length;
  let most = 0;
  for (let k = 0; k < K; k++) most = Math.max(most, shares[k]!);
  const scaled = Float64Array.from(values, (x, k) => K * shares[k]! * (x - range.lo));
  const log = Math.log(2 / miss(level, side));
  const half =
    K < 2
      ? Number.POSITIVE_INFINITY
      : standardDeviation(scaled) * Math.sqrt((2 * log) / K) +
        (7 * K * most * (range.hi - range.lo) * log) / (3 * (K - 1));
  return around(values, shares, half, range, side);
}

const miss = (level: number, side: Side): number => (side === 'both' ? (1 - level) / 2 : 1 - level);

function around(
  values: ArrayLike<number>,
  shares: ArrayLike<number>,
  half: number,
  range: Bounded,
  side: Side,
): Bounded {
  const centre = sumOf(values.length, (k) => shares[k]! * values[k]!);
  return {
    lo: side === 'upper' ? range.lo : Math.max(range.lo, centre - half),
    hi: side === 'lower' ? range.hi : Math.min(range.hi, centre + half),
  };
}

const equal = (K: number): Float64Array => new Float64Array(K).fill(1 / K);
