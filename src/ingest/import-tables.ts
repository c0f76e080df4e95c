import { failure } from '../schema/error.ts';
import type { Imported } from '../schema/imported.ts';
import { appendBatch } from '../store/append.ts';
import { batchFromArrow } from '../store/arrow.ts';
import { importParquet } from '../store/parquet.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { transaction } from '../store/transaction.ts';
import { checkTables } from './check-tables.ts';
import { parquetWindow, rowWindow } from './row-window.ts';
import { findTableFiles, openArrow, type TableFile } from './table-files.ts';

/**
 * Reads tables that `turnwise export` wrote back into a store, whose tables of these names must be empty: a
 * folder, files, or folders of shards. One transaction: all of it, or nothing. Numbers and sources are kept.
 * @throws failures: what is no table, a table that holds rows, rows that do not belong together
 */
export async function importTables(
  store: Store,
  inputs: readonly string[],
  onProgress: (path: string) => void = () => undefined,
): Promise<Imported> {
  const files = await findTableFiles(store, inputs);
  for (const { table, path } of files) {
    const [held] = await queryRows(store, `SELECT count(*) AS n FROM ${table}`);
    if (held!.n !== 0)
      throw failure({
        subject: store.path,
        wrong: `its table "${table}" already holds rows, and ${path} would be added to them`,
        got: held!.n as number,
        expected: 'none',
        fix: 'Import into a new store.',
      });
  }
  return transaction(store, async () => {
    const tables: Imported['tables'] = [];
    for (const file of files) {
      onProgress(file.path);
      tables.push({ ...file, rows: await read(store, file) });
    }
    await checkTables(store);
    return { store: store.path, tables };
  });
}

async function read(store: Store, { table, path, format }: TableFile): Promise<number> {
  if (format === 'parquet') {
    await parquetWindow(store, path);
    return (await importParquet(store, table, path)).rows;
  }
  const window = rowWindow(store);
  let rows = 0;
  const { batches, close } = await openArrow(path);
  try {
    for await (const arrow of batches) {
      const batch = batchFromArrow(table, arrow);
      await appendBatch(store, batch);
      await window.add(batch);
      rows += batch.rows;
    }
  } finally {
    await close();
  }
  return rows;
}
