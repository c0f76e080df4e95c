import { replaceLeast } from './least-heap.ts';

/**
 * The m largest of the values, ascending; all of them where there are fewer. A heap of the largest so
 * far: O(n + (values that enter) log m), no copy of the whole.
 */
export function largest(values: ArrayLike<number>, m: number): Float64Array {
  const size = Math.min(m, values.length);
  const heap = new Float64Array(size); // heap[0] is the least of those kept
  if (size === 0) return heap;
  for (let i = 0; i < size; i++) heap[i] = values[i]!;
  heap.sort(); // ascending is a heap
  for (let i = size; i < values.length; i++) {
    const x = values[i]!;
    if (x > heap[0]!) replaceLeast(heap, size, x);
  }
  return heap.sort();
}
