import { replaceLeast } from '../../math/least-heap.ts';

/*
 * The m largest values of a stream, for a tail index and a top share. Those of two streams are the m largest
 * of both: merging loses nothing. A heap whose root is the least of those kept. Memory O(min(m, values)).
 */
export interface Top {
  /** Values kept at most. */
  readonly most: number;
  size: number;
  heap: Float64Array;
  /** Least of all values seen, kept or not. */
  least: number;
}

export const top = (most: number): Top => ({ most, size: 0, heap: new Float64Array(0), least: Infinity });

export function addTop(t: Top, x: number): void {
  if (x < t.least) t.least = x;
  if (t.size < t.most) {
    if (t.size === t.heap.length) {
      const grown = new Float64Array(Math.min(t.most, Math.max(16, 2 * t.size)));
      grown.set(t.heap);
      t.heap = grown;
    }
    t.heap[t.size++] = x;
    if (t.size === t.most) t.heap.sort(); // ascending is a heap
    return;
  }
  if (t.most === 0 || x <= t.heap[0]!) return;
  replaceLeast(t.heap, t.size, x);
}

export function mergeTop(into: Top, from: Top): void {
  for (let i = 0; i < from.size; i++) addTop(into, from.heap[i]!);
  if (from.least < into.least) into.least = from.least;
}

/** Those kept, ascending. */
export const sortedTop = (t: Top): Float64Array => t.heap.slice(0, t.size).sort();

/** The m largest of two ascending lists, ascending. */
export function mergeSorted(a: Float64Array, b: Float64Array, m: number): Float64Array {
  const size = Math.min(m, a.length + b.length);
  const out = new Float64Array(size);
  let i = a.length - 1;
  let j = b.length - 1;
  for (let k = size - 1; k >= 0; k--) out[k] = j < 0 || (i >= 0 && a[i]! >= b[j]!) ? a[i--]! : b[j--]!;
  return out;
}
