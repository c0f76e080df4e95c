import type { SparseRows } from '../trajectories/sparse.ts';

/**
 * Rows φ of a design matrix, formed on demand: `gather` writes the non-zero entries of a row into two
 * caller-owned buffers, indices ascending, and returns how many there are. No row is ever stored, so a
 * design with interactions costs no memory.
 */
export interface Design {
  readonly columns: number;
  readonly names: readonly string[]; // [columns]
  /** Most entries a row can have: the size of the buffers. */
  readonly maxEntries: number;
  gather(row: number, indices: Int32Array, values: Float64Array): number;
}

/** A sparse matrix as it is. */
export function sparseDesign(x: SparseRows): Design {
  return {
    columns: x.columns,
    names: x.names,
    maxEntries: widestRow(x),
    gather(row, indices, values) {
      const start = x.offsets[row]!;
      const n = x.offsets[row + 1]! - start;
      for (let k = 0; k < n; k++) {
        indices[k] = x.indices[start + k]!;
        values[k] = x.values[start + k]!;
      }
      return n;
    },
  };
}

/** Entries of the fullest row. */
export function widestRow(x: SparseRows): number {
  let most = 0;
  for (let i = 0; i < x.rows; i++) most = Math.max(most, x.offsets[i + 1]! - x.offsets[i]!);
  return most;
}
