import { ENGINE_ROWS, raiseLimit } from './memory-limit.ts';
import { queryRows } from './query.ts';
import type { Store } from './store.ts';

/** Of a row group of a Parquet file, before compression: its writer holds a few of them a thread. */
const GROUP_BYTES = 32e6;
/** The engine's own choice, for narrow rows. */
const MOST_ROWS = 122_880;
const BASE = 128e6;

/**
 * Rows to put into one row group of a Parquet file, by the average size of a row, a multiple of 2,048; the memory limit is
 * raised where 2,048 rows are large. One pass over the variable columns of the query.
 */
export async function rowsInGroup(store: Store, sql: string): Promise<number> {
  const described = await queryRows(store, `SELECT column_name, column_type FROM (DESCRIBE ${sql})`);
  const sizes = described.flatMap(({ column_name, column_type }) => {
    const name = `"${String(column_name).replaceAll('"', '""')}"`;
    const type = String(column_type);
    if (type.endsWith('[]')) return [`8 * coalesce(len(${name}), 0)`];
    return type === 'VARCHAR' || type === 'JSON' ? [`coalesce(strlen(${name}), 0)`] : [];
  });
  if (sizes.length === 0) return MOST_ROWS;
  const [row] = await queryRows(store, `SELECT avg(${sizes.join(' + ')}) AS bytes FROM (${sql})`);
  const vectorBytes = ENGINE_ROWS * (8 * described.length + Number(row?.bytes ?? 0));
  const vectors = Math.max(1, Math.min(MOST_ROWS / ENGINE_ROWS, Math.floor(GROUP_BYTES / vectorBytes)));
  await raiseLimit(store, BASE + 4 * vectors * vectorBytes);
  return vectors * ENGINE_ROWS;
}
