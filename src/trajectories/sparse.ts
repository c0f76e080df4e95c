/** A sparse feature matrix by rows (CSR): row i holds entries offsets[i] to offsets[i + 1]. */
export interface SparseRows {
  readonly rows: number;
  readonly columns: number;
  readonly names: readonly string[]; // [columns]
  readonly offsets: Int32Array; // [rows + 1]
  readonly indices: Int32Array; // ascending within a row
  readonly values: Float64Array;
}
