import { sum, sumOf } from './sum.ts';

/** Mean; NaN of nothing. */
export function mean(values: ArrayLike<number>): number {
  return sum(values) / values.length;
}

/** Variance by two passes, never negative: Σ(x − x̄)² / (n − ddof). NaN where n ≤ ddof. */
export function variance(values: ArrayLike<number>, ddof = 1): number {
  const n = values.length;
  if (n <= ddof) return Number.NaN;
  const centre = centreOf(values);
  return sumOf(n, (i) => (values[i]! - centre) ** 2) / (n - ddof);
}

/** Its root, of values whose squares need not fit a double. */
export function standardDeviation(values: ArrayLike<number>, ddof = 1): number {
  const n = values.length;
  if (n <= ddof) return Number.NaN;
  const centre = centreOf(values);
  const { scale, squares } = scaledSquares(n, (i) => values[i]! - centre);
  return scale * Math.sqrt(squares / (n - ddof));
}

/** g₁ = m₃/m₂^{3/2} of the population, moments about the mean divided by n; NaN without spread. */
export function skewness(values: ArrayLike<number>): number {
  const n = values.length;
  const centre = centreOf(values);
  const spread = standardDeviation(values, 0);
  const cube = (d: number): number => d * d * d;
  return sumOf(n, (i) => cube((values[i]! - centre) / spread)) / n;
}

/** Quantile of type 7 (the default of R and NumPy): x₍ₕ₎ interpolated at h = (n − 1) q. NaN of nothing. */
export function quantile(values: ArrayLike<number>, q: number): number {
  return quantileSorted(Float64Array.from(values).sort(), q);
}

/** The same, of values that are already in ascending order. */
export function quantileSorted(sorted: ArrayLike<number>, q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const h = (sorted.length - 1) * q;
  const below = Math.floor(h);
  const lo = sorted[below]!;
  const hi = sorted[Math.min(below + 1, sorted.length - 1)]!;
  // lo + 0·(hi − lo) would be NaN beside an infinity.
  return h === below || lo === hi ? lo : lo + (h - below) * (hi - lo);
}

export interface ClusterVariance {
  readonly mean: number;
  /** Of the mean of ψ; NaN with fewer than two clusters, 0 or ∞ where only its root fits a double. */
  readonly variance: number;
  readonly se: number;
  /** Clusters that hold at least one row. */
  readonly clusters: number;
}

/**
 * Cluster-robust variance CR1 of the mean of influence values:
 *   var = K/(K − 1) · Σ_c (Σ_{i∈c} (ψᵢ − ψ̄))² / n²
 * @param psi [n] influence values; a shift of all of them changes nothing
 * @param of [n] cluster of each row, codes below `count`; clusters without a row do not count
 */
export function clusterVariance(
  psi: ArrayLike<number>,
  of: ArrayLike<number>,
  count: number,
): ClusterVariance {
  const n = psi.length;
  const centre = centreOf(psi);
  const sums = new Float64Array(count);
  const present = new Uint8Array(count);
  for (let i = 0; i < n; i++) {
    sums[of[i]!] = sums[of[i]!]! + (psi[i]! - centre);
    present[of[i]!] = 1;
  }
  let clusters = 0;
  for (let c = 0; c < count; c++) clusters += present[c]!;
  const { scale, squares } = scaledSquares(count, (c) => sums[c]!);
  const v = clusters < 2 ? Number.NaN : ((clusters / (clusters - 1)) * squares) / (n * n);
  return { mean: centre, variance: v * scale * scale, se: scale * Math.sqrt(v), clusters };
}

/**
 * Σ xᵢ² = scale² · squares, scale the power of two at the largest |xᵢ|: squares of 1e−170 or 1e155 do not fit
 * a double, and a power of two changes no digit of those that do.
 */
function scaledSquares(n: number, x: (i: number) => number): { scale: number; squares: number } {
  let most = 0;
  for (let i = 0; i < n; i++) most = Math.max(most, Math.abs(x(i)));
  if (!(most > 0 && most < Infinity)) return { scale: 1, squares: most * most };
  const scale = 2 ** Math.min(1023, Math.floor(Math.log2(most)));
  return { scale, squares: sumOf(n, (i) => (x(i) / scale) ** 2) };
}

/** The mean again, taken from the first value, so that equal values have deviations of exactly 0. */
function centreOf(values: ArrayLike<number>): number {
  const first = values[0]!;
  let total = 0;
  let lost = 0;
  // As `sumOf`, without a call a value.
  for (let i = 0; i < values.length; i++) {
    const x = values[i]! - first;
    const next = total + x;
    lost += Math.abs(total) >= Math.abs(x) ? total - next + x : x - next + total;
    total = next;
  }
  return first + (Number.isFinite(total) ? total + lost : total) / values.length;
}
