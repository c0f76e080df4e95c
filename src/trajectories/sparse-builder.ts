import type { SparseRows } from './sparse.ts';

/** A sparse matrix while it is being written, row by row. */
export interface SparseBuilder {
  row: number;
  size: number;
  readonly offsets: Int32Array; // [rows + 1]
  indices: Int32Array;
  values: Float64Array;
}

export function sparseBuilder(rows: number): SparseBuilder {
  const room = Math.max(16, rows * 8);
  return {
    row: 0,
    size: 0,
    offsets: new Int32Array(rows + 1),
    indices: new Int32Array(room),
    values: new Float64Array(room),
  };
}

/** Adds an entry to the row being written; columns come in ascending order, zeros are left out. */
export function pushEntry(b: SparseBuilder, column: number, value: number): void {
  if (value === 0) return;
  if (b.size === b.indices.length) grow(b);
  b.indices[b.size] = column;
  b.values[b.size++] = value;
}

export function endRow(b: SparseBuilder): void {
  b.offsets[++b.row] = b.size;
}

/** The finished matrix, its arrays cut to size. */
export function finishRows(b: SparseBuilder, names: readonly string[]): SparseRows {
  return {
    rows: b.row,
    columns: names.length,
    names,
    offsets: b.offsets,
    indices: b.indices.subarray(0, b.size),
    values: b.values.subarray(0, b.size),
  };
}

/** By half again, or to what all rows need if they are as full as those written. */
function grow(b: SparseBuilder): void {
  const expected = ((b.offsets.length - 1) / Math.max(1, b.row)) * b.size * 1.05;
  const room = Math.ceil(Math.max(b.indices.length * 1.5, Math.min(expected, b.indices.length * 16)));
  const indices = new Int32Array(room);
  indices.set(b.indices);
  b.indices = indices;
  const values = new Float64Array(room);
  values.set(b.values);
  b.values = values;
}
