import type { Batch, ColumnData } from '../store/batch.ts';
import { ENGINE_ROWS, raiseLimit } from '../store/memory-limit.ts';
import { parquetSql } from '../store/parquet.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** What the engine needs beside those rows. */
const BASE = 128e6;
/** A commit holds them as they came and as they are written. */
const COPIES = 2;

/**
 * Follows how many bytes of text lie in 2,048 rows of a table, which the engine holds at once when it commits, and
 * raises its limit ahead of that. Memory follows the length of texts, never their number; sequences lie in pieces, and
 * 2,048 of those always fit.
 */
export function rowWindow(store: Store): { add(batch: Batch): Promise<void> } {
  const tables = new Map<string, { rows: number; bytes: number; most: number }>();
  return {
    async add(batch) {
      const window = tables.get(batch.table) ?? { rows: 0, bytes: 0, most: 0 };
      tables.set(batch.table, window);
      const texts = Object.values(batch.columns).filter((data) => data.kind === 'text');
      for (let i = 0; i < batch.rows; i++) {
        for (const data of texts) window.bytes += textBytes(data, i);
        window.most = Math.max(window.most, window.bytes);
        if (++window.rows % ENGINE_ROWS === 0) window.bytes = 0;
      }
      await raiseLimit(store, BASE + COPIES * window.most);
    },
  };
}

/** UTF-8 bytes, about: most text is ASCII. */
const textBytes = (data: Extract<ColumnData, { kind: 'text' }>, i: number): number =>
  data.values[i]?.length ?? 0;

/** The same for a Parquet file, before it is read: a row group is taken as a whole. */
export async function parquetWindow(store: Store, path: string): Promise<void> {
  const [row] = await queryRows(
    store,
    `SELECT max(bytes)::DOUBLE AS most FROM (SELECT sum(total_uncompressed_size) AS bytes
       FROM ${parquetSql(path, 'parquet_metadata')} GROUP BY file_name, row_group_id)`,
  );
  await raiseLimit(store, BASE + COPIES * Number(row?.most ?? 0));
}
