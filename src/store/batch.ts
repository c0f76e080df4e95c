import type { TableName } from './tables.ts';

/** A column of a batch. `valid[i] = 0` marks a null; absent: no nulls. */
export type ColumnData =
  | { readonly kind: 'f64'; readonly values: Float64Array; readonly valid?: Uint8Array | undefined }
  | { readonly kind: 'f32'; readonly values: Float32Array; readonly valid?: Uint8Array | undefined }
  | { readonly kind: 'i32'; readonly values: Int32Array; readonly valid?: Uint8Array | undefined }
  /** For BIGINT and TIMESTAMP (microseconds since 1970, UTC); whole numbers below 2^53. */
  | { readonly kind: 'i64'; readonly values: Float64Array; readonly valid?: Uint8Array | undefined }
  | { readonly kind: 'bool'; readonly values: Uint8Array; readonly valid?: Uint8Array | undefined }
  | { readonly kind: 'text'; readonly values: readonly (string | null)[] }
  /** Row i holds child rows offsets[i] to offsets[i + 1]. */
  | {
      readonly kind: 'list';
      readonly offsets: Int32Array;
      readonly child: ColumnData;
      readonly valid?: Uint8Array | undefined;
    };

/** Rows for one table, column by column; a column that is left out is null throughout. */
export interface Batch {
  readonly table: TableName;
  readonly rows: number;
  readonly columns: Readonly<Record<string, ColumnData>>;
}
