/**
 * DuckDB's vectors, written and read as whole typed arrays, one native call a column and chunk.
 * The vectors of node-api set list items one by one; these calls go one level below it.
 * A vector is a piece of native memory: values lie as in C, nulls as zero bits of a mask of 64-bit words,
 * a list is (offset, length) pairs over a child vector, text is 16 bytes: length, then the text itself
 * up to 12 bytes, else 4 bytes of it and a pointer.
 */
import bindings, { type Vector } from '@duckdb/node-bindings';
import type { DuckDBDataChunk } from 'duckdb';

/** Rows of a chunk. */
export const VECTOR_SIZE = 2048;

export type { Vector };

/** Column `index` of a chunk. */
export function vectorOf(chunk: DuckDBDataChunk, index: number): Vector {
  return bindings.data_chunk_get_vector(chunk.chunk, index);
}

/** Marks rows of `n` null where they are not valid. */
export function writeValid(vector: Vector, n: number, isValid: (i: number) => boolean): void {
  const mask = new Uint8Array(8 * Math.ceil(n / 64));
  let nulls = 0;
  for (let i = 0; i < n; i++) {
    if (isValid(i)) mask[i >> 3]! |= 1 << (i & 7);
    else nulls++;
  }
  if (nulls === 0) return;
  bindings.vector_ensure_validity_writable(vector);
  bindings.copy_data_to_vector_validity(vector, 0, mask.buffer, 0, mask.byteLength);
}

/** Copies values to the start of a vector. */
export function copyIn(vector: Vector, values: ArrayBufferView): void {
  bindings.copy_data_to_vector(vector, 0, values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
}

/** The memory of the first `bytes` of a vector; valid as long as its chunk is. */
export function vectorBytes(vector: Vector, bytes: number): Uint8Array {
  return bytes === 0 ? new Uint8Array(0) : bindings.vector_get_data(vector, bytes);
}

/** The mask of a vector, one bit a row from the lowest; null: no nulls. */
export function vectorMask(vector: Vector, rows: number): Uint8Array | null {
  return rows === 0 ? null : bindings.vector_get_validity(vector, 8 * Math.ceil(rows / 64));
}

/** Makes room for `size` values in the child of a list vector. */
export function sizedChild(vector: Vector, size: number): Vector {
  bindings.list_vector_reserve(vector, size);
  bindings.list_vector_set_size(vector, size);
  return bindings.list_vector_get_child(vector);
}

/** The child of a list vector and how many values it holds. */
export function listChild(vector: Vector): { readonly child: Vector; readonly size: number } {
  return { child: bindings.list_vector_get_child(vector), size: bindings.list_vector_get_size(vector) };
}

/** The engine's own copy of a text of more than 12 bytes, made at `row`. */
export function assignText(vector: Vector, row: number, text: string | Uint8Array): void {
  if (typeof text === 'string') bindings.vector_assign_string_element(vector, row, text);
  else bindings.vector_assign_string_element_len(vector, row, text);
}

/** `bytes` bytes from where the pointer at `at` points. */
export function pointedBytes(memory: Uint8Array, at: number, bytes: number): Buffer {
  const found = bindings.get_data_from_pointer(memory.buffer as ArrayBuffer, memory.byteOffset + at, bytes);
  return Buffer.from(found.buffer, found.byteOffset, found.byteLength);
}
