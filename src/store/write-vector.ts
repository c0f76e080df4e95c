import type { ColumnData } from './batch.ts';
import { writeText } from './text-vector.ts';
import { copyIn, sizedChild, type Vector, writeValid } from './vectors.ts';

/** Writes rows `from` to `to` of a column into a vector; shapes and kinds were checked before. */
export function writeVector(vector: Vector, column: ColumnData, from: number, to: number): void {
  const n = to - from;
  if (n === 0) return;
  switch (column.kind) {
    case 'f64':
    case 'f32':
    case 'i32':
      copyIn(vector, column.values.subarray(from, to));
      break;
    case 'bool': {
      const bytes = new Uint8Array(n);
      for (let i = 0; i < n; i++) bytes[i] = column.values[from + i] === 0 ? 0 : 1;
      copyIn(vector, bytes);
      break;
    }
    case 'i64':
      copyIn(vector, int64Words(column.values, from, to));
      break;
    case 'text':
      writeText(vector, column.values, from, to);
      return;
    case 'list': {
      const { offsets } = column;
      const first = offsets[from]!;
      const entries = new Uint32Array(4 * n);
      for (let i = 0; i < n; i++) {
        const start = offsets[from + i]!;
        entries[4 * i] = start - first;
        entries[4 * i + 2] = offsets[from + i + 1]! - start;
      }
      const size = offsets[to]! - first;
      const child = sizedChild(vector, size);
      copyIn(vector, entries);
      writeVector(child, column.child, first, offsets[to]!);
    }
  }
  if (column.valid) writeValid(vector, n, (i) => column.valid![from + i] !== 0);
}

/** Marks all of `n` rows null. */
export function writeNulls(vector: Vector, n: number): void {
  writeValid(vector, n, () => false);
}

/** Whole numbers as little-endian 64-bit integers: without a BigInt a value. */
export function int64Words(values: Float64Array, from: number, to: number): Int32Array {
  const words = new Int32Array(2 * (to - from));
  for (let i = from, j = 0; i < to; i++, j += 2) {
    const high = Math.floor(values[i]! / 2 ** 32);
    words[j] = (values[i]! - high * 2 ** 32) | 0;
    words[j + 1] = high;
  }
  return words;
}
