import { clusterVariance } from '../../math/statistics.ts';
import type { Columns, Rows } from './columns.ts';
import { type Found, influence } from './influence.ts';
import { STRIDE, weigh } from './weigh.ts';

/** What all threads see. Chunks are the same for any number of threads, so every digit of a result is too. */
export interface Shared {
  readonly columns: Columns;
  readonly rows: Rows;
  /** [chunks + 1] episodes of chunk c: chunks[c] to chunks[c + 1]. */
  readonly chunks: Int32Array;
  /** [chunks × size] the sums of every chunk. */
  readonly sums: Float64Array;
  /** [estimators × 2] mean of its influence values and standard error. */
  readonly moments: Float64Array;
  /** Next chunk (or estimator) that nobody has taken, by pass. */
  readonly next: Int32Array;
}

export type Order =
  | { readonly pass: 'weigh' }
  | { readonly pass: 'influence'; readonly found: Found }
  | { readonly pass: 'moments' };

/** The names of the influence values and the values, in the order of the moments. */
export const influencesOf = ({ is, wis, pdis, carried, alive, aliveMeanOverN, model }: Rows) =>
  [
    ['IS', is],
    ['WIS', wis],
    ['PDIS', pdis],
    ['WPDIS carried', carried],
    ['WPDIS alive', alive],
    ['WPDIS alive-mean-over-n', aliveMeanOverN],
    ...(model === null
      ? []
      : ([
          ['DR', model.dr],
          ['WDR carried', model.wdrCarried],
          ['WDR alive', model.wdrAlive],
        ] as const)),
  ] as const;

/** Takes chunks until none is left. */
export function work(shared: Shared, order: Order): void {
  const { columns, rows, chunks, sums, moments, next } = shared;
  const count = chunks.length - 1;
  const size = sums.length / count;
  if (order.pass === 'moments') {
    const all = influencesOf(rows);
    for (let e = Atomics.add(next, 2, 1); e < all.length; e = Atomics.add(next, 2, 1)) {
      const { mean, se } = clusterVariance(all[e]![1], columns.task, columns.tasks);
      moments[2 * e] = mean;
      moments[2 * e + 1] = se;
    }
    return;
  }
  const at = order.pass === 'weigh' ? 0 : 1;
  for (let c = Atomics.add(next, at, 1); c < count; c = Atomics.add(next, at, 1)) {
    const [from, to] = [chunks[c]!, chunks[c + 1]!];
    if (order.pass === 'weigh') weigh(columns, rows, sums.subarray(c * size, (c + 1) * size), from, to);
    else influence(columns, rows, order.found, from, to);
  }
}

/** Sums of all chunks, in their order. */
export function allSums({ chunks, sums }: Shared): Float64Array {
  const count = chunks.length - 1;
  const size = sums.length / count;
  const out = sums.slice(0, size);
  for (let c = 1; c < count; c++) for (let k = 0; k < size; k++) out[k] = out[k]! + sums[c * size + k]!;
  return out;
}

/** Turns of a chunk: enough that taking one costs nothing, and at most CHUNKS of them. */
const TURNS = 65_536;
const CHUNKS = 64;

/** Whole episodes, about the same number of turns each. */
export function chunksOf(offsets: Int32Array): Int32Array {
  const n = offsets.length - 1;
  const turns = offsets[n]!;
  const count = Math.max(1, Math.min(CHUNKS, Math.floor(turns / TURNS)));
  const out = [0];
  for (let i = 1; i < n; i++) if (offsets[i]! >= (turns * out.length) / count) out.push(i);
  return Int32Array.from([...out, n]);
}

/** Room for the sums of every chunk. */
export const sumsLength = (chunks: Int32Array, stages: number): number =>
  (chunks.length - 1) * (stages + 1) * STRIDE;
