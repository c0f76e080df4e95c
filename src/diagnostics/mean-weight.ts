/*
 * Mean cumulative weight by turn, carried forward, with its cluster-robust error: E_b[w_t] = 1 at
 * every turn when the propensities are right and the target's support lies within the behaviour's.
 *
 *   d_t = (1/n) Σ_i (w_it − 1),   var = K/(K−1) Σ_c (S_ct − n_c d_t)² / n²,   S_ct = Σ_{i∈c} (w_it − 1)
 *
 * The sums are taken about 1, where the mean should be, so that the square opens without loss. After
 * the longest episode of a task its S stays as it is and enters all later turns at once:
 * O(turns + stages).
 */
import type { EpisodeWeights } from '../weights/episode-weights.ts';

export interface MeanWeights {
  readonly mean: Float64Array; // [stages]
  readonly se: Float64Array; // [stages], NaN with fewer than two clusters
  /** [stages] tasks with an episode that is alive and has a weight above 0. */
  readonly followerTasks: Int32Array;
}

export function meanWeights(w: EpisodeWeights): MeanWeights {
  const { n, stages: T, offsets, weights, logWeight, clusters } = w;
  const K = clusters.count;
  const scale = w.shift.map(Math.exp);
  const order = byCluster(clusters.of, K);
  // By turn: Σ S, Σ S n_c and Σ S² over tasks that still have a turn there; in the second half those that ended.
  const [sum, cross, squares] = [0, 0, 0].map(() => new Float64Array(T)) as Triple;
  const [endedSum, endedCross, endedSquares] = [0, 0, 0].map(() => new Float64Array(T + 1)) as Triple;
  const followerTasks = new Int32Array(T);
  const alive = new Float64Array(T);
  const ended = new Float64Array(T + 1);
  const follows = new Uint8Array(T);
  let sizes = 0;
  for (let c = 0; c < K; c++) {
    const from = order.offsets[c]!;
    const to = order.offsets[c + 1]!;
    let longest = 0;
    for (let k = from; k < to; k++) {
      const i = order.rows[k]!;
      let t = 0;
      for (let s = offsets[i]!; s < offsets[i + 1]!; s++, t++) {
        alive[t] = alive[t]! + (weights[s]! * scale[t]! - 1);
        if (weights[s]! > 0) follows[t] = 1;
      }
      ended[t] = ended[t]! + (Math.exp(logWeight[i]!) - 1);
      if (t > longest) longest = t;
    }
    const size = to - from;
    sizes += size * size;
    let carry = 0;
    for (let t = 0; t < longest; t++) {
      carry += ended[t]!;
      const S = alive[t]! + carry;
      sum[t] = sum[t]! + S;
      cross[t] = cross[t]! + S * size;
      squares[t] = squares[t]! + S * S;
      followerTasks[t] = followerTasks[t]! + follows[t]!;
      alive[t] = ended[t] = follows[t] = 0;
    }
    carry += ended[longest]!;
    ended[longest] = 0;
    endedSum[longest] = endedSum[longest]! + carry;
    endedCross[longest] = endedCross[longest]! + carry * size;
    endedSquares[longest] = endedSquares[longest]! + carry * carry;
  }
  const mean = new Float64Array(T);
  const se = new Float64Array(T);
  let [a, b, c2] = [0, 0, 0];
  for (let t = 0; t < T; t++) {
    a += endedSum[t]!;
    b += endedCross[t]!;
    c2 += endedSquares[t]!;
    const d = (sum[t]! + a) / n;
    const spread = squares[t]! + c2 - 2 * d * (cross[t]! + b) + d * d * sizes;
    mean[t] = 1 + d;
    se[t] = K < 2 ? Number.NaN : Math.sqrt(((K / (K - 1)) * Math.max(0, spread)) / (n * n));
  }
  return { mean, se, followerTasks };
}

/**
 * (mean − 1)/SE; NaN where the sums of the tasks are alike and the error is rounding noise: its square
 * is a difference of sums, so that it is good to about 10⁻⁸ of |mean − 1|.
 */
export function zOfMean(mean: number, se: number): number {
  return se > 1e-9 * Math.abs(mean) && se > 1e-6 * Math.abs(mean - 1) ? (mean - 1) / se : Number.NaN;
}

/** Mean of the final weights and its CR1 error over tasks. O(n). */
export function meanWeightOf({ n, logWeight, clusters }: EpisodeWeights): { mean: number; se: number } {
  const K = clusters.count;
  const sums = new Float64Array(K);
  const sizes = new Float64Array(K);
  let total = 0;
  for (let i = 0; i < n; i++) {
    const w = Math.exp(logWeight[i]!);
    total += w;
    sums[clusters.of[i]!] = sums[clusters.of[i]!]! + w;
    sizes[clusters.of[i]!] = sizes[clusters.of[i]!]! + 1;
  }
  const mean = total / n;
  const spread = sums.reduce((s, x, c) => s + (x - sizes[c]! * mean) ** 2, 0);
  return { mean, se: K < 2 ? Number.NaN : Math.sqrt((K / (K - 1)) * spread) / n };
}

/** m₃/m₂^{3/2} of n values from their power sums, whatever scale they share; NaN where they are alike. */
export function skewnessOf(n: number, sum: number, squares: number, cubes: number): number {
  const mean = sum / n;
  const second = squares / n - mean * mean;
  // Of a smaller spread the cubes keep too few digits, and there is little to correct.
  if (!(second > 1e-4 * mean * mean)) return Number.NaN;
  return (cubes / n - 3 * mean * (squares / n) + 2 * mean ** 3) / second ** 1.5;
}

type Triple = [Float64Array, Float64Array, Float64Array];

/** Rows in the order of their cluster (a counting sort). */
export function byCluster(of: Int32Array, K: number): { offsets: Int32Array; rows: Int32Array } {
  const offsets = new Int32Array(K + 1);
  for (const c of of) offsets[c + 1] = offsets[c + 1]! + 1;
  for (let c = 0; c < K; c++) offsets[c + 1] = offsets[c + 1]! + offsets[c]!;
  const at = offsets.slice(0, K);
  const rows = new Int32Array(of.length);
  for (let i = 0; i < of.length; i++) {
    const c = of[i]!;
    rows[at[c]!] = i;
    at[c] = at[c]! + 1;
  }
  return { offsets, rows };
}
