/**
 * Puts x in the place of the least value of a heap (heap[0] the least, children of i at 2i + 1 and 2i + 2; an
 * ascending list is one). O(log size).
 */
export function replaceLeast(heap: Float64Array, size: number, x: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= x) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = x;
}
