/*
 * The numbers of a love plot: standardised mean difference of a covariate between the turns that
 * took a class and those that did not, as logged and weighted.
 *
 *   SMD = (x̄₁ − x̄₀) / √((s₁² + s₀²)/2)       s²: unweighted, n − 1, before and after weighting
 *   IPTW: 1/g for the takers, 1/(1 − g) for the others;  overlap weights: 1 − g and g (Li et al. 2018)
 *
 * With right propensities the weighted differences are 0 but for chance; 0.1 is the usual limit.
 */

export interface Balance {
  readonly smdRaw: number;
  readonly smdIptw: number | null;
  readonly smdOverlap: number | null;
  /** s₁²/s₀², the larger above. */
  readonly varianceRatio: number | null;
}

/** Null where the covariate does not vary or a group has fewer than two turns. O(n). */
export function balance(x: Float64Array, taken: Uint8Array, g: Float64Array): Balance | null {
  const plain = twoMeans(x, taken, () => 1);
  const n = [0, 0];
  const squares = [0, 0];
  for (let i = 0; i < x.length; i++) {
    const k = taken[i]!;
    n[k] = n[k]! + 1;
    squares[k] = squares[k]! + (x[i]! - plain[k]!) ** 2;
  }
  if (n[0]! < 2 || n[1]! < 2) return null;
  const v0 = squares[0]! / (n[0]! - 1);
  const v1 = squares[1]! / (n[1]! - 1);
  const s = Math.sqrt((v1 + v0) / 2);
  if (!(s > 0)) return null;
  const difference = ([m0, m1]: readonly [number, number]): number => (m1 - m0) / s;
  return {
    smdRaw: difference(plain),
    smdIptw: finite(difference(twoMeans(x, taken, (i) => 1 / (taken[i] ? g[i]! : 1 - g[i]!)))),
    smdOverlap: finite(difference(twoMeans(x, taken, (i) => (taken[i] ? 1 - g[i]! : g[i]!)))),
    varianceRatio: v0 > 0 && v1 > 0 ? Math.max(v1 / v0, v0 / v1) : null,
  };
}

/** Weighted means of the others and of the takers. */
function twoMeans(x: Float64Array, taken: Uint8Array, weight: (i: number) => number): [number, number] {
  const sum = [0, 0];
  const total = [0, 0];
  for (let i = 0; i < x.length; i++) {
    const k = taken[i]!;
    const w = weight(i);
    sum[k] = sum[k]! + w * x[i]!;
    total[k] = total[k]! + w;
  }
  return [sum[0]! / total[0]!, sum[1]! / total[1]!];
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
