import type { Batch } from '../store/batch.ts';
import { memoryLimit, setMemoryLimit } from '../store/memory-limit.ts';
import { parquetSql } from '../store/parquet.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** What the engine needs beside those rows. */
const BASE = 128e6;
/** Rows the engine takes at once. */
const WINDOW = 2048;
/** With its validity; a column that is null throughout takes nothing. */
const TOKEN_BYTES = {
  token_ids: 4,
  action_mask: 1,
  behaviour_logprobs: 5,
  versions: 5,
  token_turn: 5,
} as const;

/**
 * Follows how much lies in 2,048 segments in a row, which the engine holds at once when it commits, twice
 * over, and raises its limit ahead of that. Memory follows the length of segments, never their number.
 */
export function tokenWindow(store: Store): { add(segments: Batch): Promise<void> } {
  let rows = 0;
  let bytes = 0;
  let most = 0;
  let limit: number | undefined;
  return {
    async add(segments) {
      const ids = segments.columns.token_ids;
      if (ids?.kind !== 'list') return;
      let tokenBytes = 0;
      for (const [name, size] of Object.entries(TOKEN_BYTES)) if (segments.columns[name]) tokenBytes += size;
      for (let i = 0; i < segments.rows; i++) {
        bytes += tokenBytes * (ids.offsets[i + 1]! - ids.offsets[i]!);
        most = Math.max(most, bytes);
        if (++rows % WINDOW === 0) bytes = 0;
      }
      const needed = BASE + 2 * most;
      limit ??= await memoryLimit(store);
      if (needed <= limit) return;
      limit = 1.2 * needed;
      await setMemoryLimit(store, limit);
    },
  };
}

/** The same for the segments of a Parquet file, before they are read. */
export async function parquetWindow(store: Store, path: string): Promise<void> {
  const [row] = await queryRows(
    store,
    `SELECT max(tokens)::DOUBLE AS most FROM (SELECT sum(n) AS tokens FROM (
       SELECT len(token_ids) AS n, (row_number() OVER () - 1) // ${WINDOW} AS w FROM ${parquetSql(path)}) GROUP BY w)`,
  );
  const bytes = Object.values(TOKEN_BYTES).reduce((sum, size) => sum + size, 0);
  const needed = BASE + 2 * bytes * Number(row?.most ?? 0);
  if (needed > (await memoryLimit(store))) await setMemoryLimit(store, 1.2 * needed);
}
