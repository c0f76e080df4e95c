import { withoutSpread } from '../math/no-spread.ts';
import { clusterVariance } from '../math/statistics.ts';
import type { Calibration, HeldOutError } from '../schema/credit.ts';
import type { CriticRows } from './critic-rows.ts';

/** Held-out squared errors of the placebo runs, summed. */
export interface PlaceboErrors {
  readonly runs: number; // B
  readonly all: Float64Array; // [B] over all turns
  readonly first: Float64Array; // [B] over first turns
}

export interface HeldOut {
  readonly all: HeldOutError;
  readonly turn0: HeldOutError;
}

/** The error of predictions of the return still to come, over all turns and at the first. */
export function heldOutError(r: CriticRows, prediction: (row: number) => number): HeldOut {
  let all = 0;
  let first = 0;
  for (const row of r.rows) {
    const e = (r.toGo[row]! - prediction(row)) ** 2;
    all += e;
    if (r.stage[row] === 0) first += e;
  }
  const outcomes = gather(r.rows.length, (i) => r.toGo[r.rows[i]!]!);
  return {
    all: errorOf(all, outcomes.length, squaresAbout(outcomes)),
    turn0: errorOf(first, r.returns.length, squaresAbout(r.returns)),
  };
}

/** The placebo's, the mean over its runs; and how many of them have an R² of at least `r2`. */
export function placeboError(
  r: CriticRows,
  placebo: Float64Array, // [N, B]
  errors: PlaceboErrors,
  r2: number | null,
): HeldOut & { readonly asGood: number } {
  const B = errors.runs;
  const runs = Array.from({ length: B }, (_, b): HeldOut => {
    const outcomes = gather(r.rows.length, (i) => placebo[r.place[r.rows[i]!]! * B + b]!);
    return {
      all: errorOf(errors.all[b]!, outcomes.length, squaresAbout(outcomes)),
      turn0: errorOf(errors.first[b]!, r.returns.length, squaresAbout(r.returns)),
    };
  });
  const mean = (of: (h: HeldOut) => HeldOutError): HeldOutError => {
    const r2s = runs.map((h) => of(h).r2);
    return {
      rmse: runs.reduce((s, h) => s + of(h).rmse, 0) / B,
      r2: r2s.includes(null) ? null : r2s.reduce<number>((s, x) => s + x!, 0) / B,
      n: of(runs[0]!).n,
    };
  };
  return {
    all: mean((h) => h.all),
    turn0: mean((h) => h.turn0),
    asGood: r2 === null ? B : runs.filter((h) => (h.all.r2 ?? 0) >= r2).length,
  };
}

/** What each turn would be given by a mean of the training part: one for all turns, or one by stage. */
export function constantPredictor(r: CriticRows, by: 'all' | 'stage'): (row: number) => number {
  const K = r.folds;
  let stages = 1;
  if (by === 'stage') for (const row of r.rows) stages = Math.max(stages, r.stage[row]! + 1);
  const at = (row: number): number => (by === 'stage' ? r.stage[row]! : 0);
  const sum = new Float64Array(stages * K);
  const count = new Float64Array(stages * K);
  for (const row of r.rows) {
    const k = at(row) * K + r.fold[row]!;
    sum[k] = sum[k]! + r.toGo[row]!;
    count[k] = count[k]! + 1;
  }
  const mean = new Float64Array(stages * K);
  const overall = by === 'stage' ? constantPredictor(r, 'all') : null;
  for (let k = 0; k < stages; k++)
    for (let m = 0; m < K; m++) {
      let s = 0;
      let n = 0;
      for (let j = 0; j < K; j++) {
        if (j === m) continue;
        s += sum[k * K + j]!;
        n += count[k * K + j]!;
      }
      mean[k * K + m] = n > 0 ? s / n : Number.NaN;
    }
  return (row) => {
    const value = mean[at(row) * K + r.fold[row]!]!;
    // A stage no training part reached: the mean over all of them.
    return Number.isNaN(value) && overall ? overall(row) : value;
  };
}

/** At the first turn the constant is the mean return over episodes of the training part. */
export function meanReturnPredictor(r: CriticRows): (row: number) => number {
  const sum = new Float64Array(r.folds);
  const count = new Float64Array(r.folds);
  for (let i = 0; i < r.returns.length; i++) {
    const m = r.foldOfEpisode[i]!;
    sum[m] = sum[m]! + r.returns[i]!;
    count[m] = count[m]! + 1;
  }
  const S = sum.reduce((a, b) => a + b, 0);
  return (row) => (S - sum[r.fold[row]!]!) / (r.returns.length - count[r.fold[row]!]!);
}

/** Mean drop of the squared error per turn against a constant, with its CR1 standard error by task. */
export function gainOver(
  r: CriticRows,
  v: Float64Array,
  constant: (row: number) => number,
): { readonly gain: number; readonly se: number } {
  const drop = gather(r.rows.length, (i) => {
    const row = r.rows[i]!;
    return (r.toGo[row]! - constant(row)) ** 2 - (r.toGo[row]! - v[row]!) ** 2;
  });
  const of = clusterOf(r, r.rows);
  return {
    gain: drop.reduce((a, b) => a + b, 0) / drop.length,
    se: clusterVariance(drop, of, r.clusters).se,
  };
}

/** Tenths of the turns by predicted V: what was predicted, and what came. */
export function calibration(r: CriticRows, v: Float64Array, bins = 10): Calibration[] {
  const order = sortedBy(r.rows, v);
  const n = Math.min(bins, order.length);
  return Array.from({ length: n }, (_, k) => {
    const rows = order.subarray(Math.floor((k * order.length) / n), Math.floor(((k + 1) * order.length) / n));
    const outcomes = gather(rows.length, (i) => r.toGo[rows[i]!]!);
    const of = clusterOf(r, rows);
    const { se, clusters } = clusterVariance(outcomes, of, r.clusters);
    const observed = outcomes.reduce((a, b) => a + b, 0) / rows.length;
    return {
      predicted: rows.reduce((s, row) => s + v[row]!, 0) / rows.length,
      observed,
      n: rows.length,
      tasks: clusters,
      // Outcomes that are all alike give no error: a spread of 0 is not certainty.
      se: Number.isNaN(se) || withoutSpread(se, observed) ? null : se,
    };
  });
}

/** Equal keys keep their order, so that ties fall the same way whatever the log's order. */
function sortedBy(rows: Int32Array, key: Float64Array): Int32Array {
  const keys = gather(rows.length, (i) => key[rows[i]!]!);
  const order = Int32Array.from(keys.keys()).sort((a, b) => keys[a]! - keys[b]! || a - b);
  return order.map((i) => rows[i]!);
}

/** Task code of each turn. */
export function clusterOf(r: CriticRows, rows: ArrayLike<number>): Int32Array {
  const of = new Int32Array(rows.length);
  for (let i = 0; i < of.length; i++) of[i] = r.cluster[r.place[rows[i]!]!]!;
  return of;
}

/** Float64Array.from over a range, without an iterator. */
export function gather(n: number, value: (i: number) => number): Float64Array {
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) out[i] = value(i);
  return out;
}

function errorOf(squares: number, n: number, about: number): HeldOutError {
  return { rmse: Math.sqrt(squares / n), r2: about > 0 ? 1 - squares / about : null, n };
}

/** Σ (x − x̄)²; 0 where all are equal, to rounding. */
function squaresAbout(x: Float64Array): number {
  const first = x[0]!;
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]! - first;
  const mean = sum / x.length;
  let squares = 0;
  for (let i = 0; i < x.length; i++) squares += (x[i]! - first - mean) ** 2;
  return squares;
}
