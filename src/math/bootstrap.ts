/*
 * The bootstrap of a smooth function of sums, at a cost that does not depend on the number of rows
 * (Efron & Tibshirani 1993; studentised: Hall 1992; counts of buckets: Chamandy, Muralidharan, Najmi & Naidu 2012).
 *
 *   θ(S) with S = Σ_b S_b over k independent buckets, θ(λS) = θ(S)
 *   θ* = θ(Σ_b m_b S_b),   m ~ Multinomial(k; 1/k, …, 1/k)
 *   z_b = ∇θ(S)ᵀ S_b,   se² = k/(k − 1) Σ_b z_b²                     CR1 with buckets as clusters
 *   in a resample   se*² = k/(k − 1) Σ_b m_b (∇θ(S*)ᵀ S_b)²,  t* = (θ* − θ)/se*
 *
 * Numerator and denominator of a ratio are both resampled. By Euler's theorem Σ_b z_b = 0.
 * Replicate r draws from a stream of its own, so that more replicates leave the first ones as they are.
 * O(replicates × buckets × columns).
 */
import { integer, random } from './random.ts';

/** A function of sums, homogeneous of degree 0; NaN where it is not defined. */
export interface SumFunction {
  value(sums: Float64Array): number;
  /** Writes ∂value/∂sums. */
  gradient(sums: Float64Array, out: Float64Array): void;
}

/** The sums of each bucket and what is computed from their total. */
export interface BucketSums {
  readonly buckets: number;
  readonly columns: number;
  readonly sums: Float64Array; // [buckets × columns]
  readonly f: SumFunction;
}

export interface Replicates {
  /** θ of all buckets once. */
  readonly value: number;
  readonly se: number;
  readonly values: Float64Array; // [replicates] θ*
  /** [replicates] (θ* − θ)/se*; empty unless asked for. */
  readonly t: Float64Array;
}

/** Below this share of θ a difference is rounding. */
const ROUNDING = 1e-12;

/** Draws k of k buckets with replacement: how often each, [k]. */
export function resampleCounts(seed: number, replicate: number, counts: Int32Array): void {
  const k = counts.length;
  const rng = random(seed, `resample ${replicate}`);
  counts.fill(0);
  for (let j = 0; j < k; j++) {
    const b = integer(rng, k);
    counts[b] = counts[b]! + 1;
  }
}

/** Replicates of several statistics of the same buckets, all from the same resamples. */
export function bootstrap(
  tables: readonly BucketSums[],
  replicates: number,
  seed: number,
  what: 'values' | 'studentised' = 'values',
): Replicates[] {
  const k = tables[0]?.buckets ?? 0;
  const counts = new Int32Array(k);
  const once = new Int32Array(k).fill(1);
  const out = tables.map((table) => ({
    table,
    scratch: { total: new Float64Array(table.columns), gradient: new Float64Array(table.columns) },
    value: Number.NaN,
    se: Number.NaN,
    values: new Float64Array(replicates),
    t: new Float64Array(what === 'studentised' ? replicates : 0),
  }));
  for (const o of out) {
    o.value = resampledValue(o.table, once, o.scratch.total);
    o.se = resampledError(o.table, once, o.scratch);
  }
  for (let r = 0; r < replicates; r++) {
    resampleCounts(seed, r, counts);
    for (const o of out) {
      const value = resampledValue(o.table, counts, o.scratch.total);
      o.values[r] = value;
      if (what === 'values') continue;
      o.t[r] = studentised(value - o.value, o.value, resampledError(o.table, counts, o.scratch));
    }
  }
  return out.map(({ value, se, values, t }) => ({ value, se, values, t }));
}

/** θ with each bucket left out once, [buckets]. */
export function leaveOneOut({ buckets, columns, sums, f }: BucketSums): Float64Array {
  const total = new Float64Array(columns);
  for (let at = 0; at < sums.length; at += columns)
    for (let c = 0; c < columns; c++) total[c] = total[c]! + sums[at + c]!;
  const rest = new Float64Array(columns);
  return Float64Array.from({ length: buckets }, (_, b) => {
    for (let c = 0; c < columns; c++) rest[c] = total[c]! - sums[b * columns + c]!;
    return f.value(rest);
  });
}

/** t*; 0 where a resample gives θ again, infinite where it has no spread (one bucket, over and over). */
function studentised(difference: number, value: number, error: number): number {
  if (Math.abs(difference) <= ROUNDING * Math.abs(value)) return 0;
  const t = difference / error;
  return Math.abs(t) < 1e10 ? t : Math.sign(difference) * Number.POSITIVE_INFINITY;
}

function resampledValue({ columns, sums, f }: BucketSums, counts: Int32Array, total: Float64Array): number {
  total.fill(0);
  for (let b = 0; b < counts.length; b++) {
    const m = counts[b]!;
    if (m === 0) continue;
    const at = b * columns;
    for (let c = 0; c < columns; c++) total[c] = total[c]! + m * sums[at + c]!;
  }
  return f.value(total);
}

/** The standard error of a resample whose totals are in `scratch.total`. */
function resampledError(
  { columns, sums, f }: BucketSums,
  counts: Int32Array,
  { total, gradient }: { total: Float64Array; gradient: Float64Array },
): number {
  const k = counts.length;
  f.gradient(total, gradient);
  let squares = 0;
  for (let b = 0; b < k; b++) {
    if (counts[b] === 0) continue;
    let z = 0;
    for (let c = 0; c < columns; c++) z += gradient[c]! * sums[b * columns + c]!;
    squares += counts[b]! * z * z;
  }
  return k < 2 ? Number.NaN : Math.sqrt((k / (k - 1)) * squares);
}
