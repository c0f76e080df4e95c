import type { SumFunction } from '../../math/bootstrap.ts';

/** What a ratio is whose denominator is empty: not defined, or a term that adds nothing. */
export type Empty = 'undefined' | 'nothing';

/**
 * θ = Σ_k (c_k + D_k/B_k) of sums D₀, B₀, D₁, B₁, …; D is taken about c = the estimate's own ratio, so that
 * all data once give θ without rounding and equal values give no spread at all.
 */
export function sumOfRatios(pivots: Float64Array, empty: Empty): SumFunction {
  const K = pivots.length;
  return {
    value(sums) {
      let total = 0;
      for (let k = 0; k < K; k++) {
        const B = sums[2 * k + 1]!;
        if (B > 0) total += pivots[k]! + sums[2 * k]! / B;
        else if (empty === 'undefined') return Number.NaN;
      }
      return total;
    },
    gradient(sums, out) {
      for (let k = 0; k < K; k++) {
        const B = sums[2 * k + 1]!;
        out[2 * k] = B > 0 ? 1 / B : 0;
        out[2 * k + 1] = B > 0 ? -sums[2 * k]! / (B * B) : 0;
      }
    },
  };
}

/**
 * θ = c_u + U/N + Σ_k (p_k + D_k/B_k)(q_k + E_k/N) of sums D₀, B₀, E₀, D₁, …, U, N: ratios times shares of
 * all episodes. Where nobody is alive the term adds nothing.
 */
export function sumOfProducts(p: Float64Array, q: Float64Array, start: number): SumFunction {
  const K = p.length;
  return {
    value(sums) {
      const N = sums[3 * K + 1]!;
      let total = start + sums[3 * K]! / N;
      for (let k = 0; k < K; k++) {
        const B = sums[3 * k + 1]!;
        if (B > 0) total += (p[k]! + sums[3 * k]! / B) * (q[k]! + sums[3 * k + 2]! / N);
      }
      return total;
    },
    gradient(sums, out) {
      const N = sums[3 * K + 1]!;
      out[3 * K] = 1 / N;
      let toN = -sums[3 * K]! / (N * N);
      for (let k = 0; k < K; k++) {
        const [D, B, E] = [sums[3 * k]!, sums[3 * k + 1]!, sums[3 * k + 2]!];
        const ratio = B > 0 ? p[k]! + D / B : 0;
        const share = q[k]! + E / N;
        out[3 * k] = B > 0 ? share / B : 0;
        out[3 * k + 1] = B > 0 ? (-share * D) / (B * B) : 0;
        out[3 * k + 2] = ratio / N;
        toN -= (ratio * E) / (N * N);
      }
      out[3 * K + 1] = toN;
    },
  };
}
