import { existsSync, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { failure } from '../schema/error.ts';
import { parquetColumns } from '../store/parquet.ts';
import { placeOf } from '../store/place.ts';
import type { Store } from '../store/store.ts';
import { tableOfColumns } from '../store/table-of-columns.ts';
import { TABLES, type TableName } from '../store/tables.ts';
import { isHalfMoved, isUnfinished } from '../store/whole-file.ts';
import { type ArrowReading, readArrow } from './arrow/read-arrow.ts';
import { openBytes } from './byte-source.ts';

/** A file, or a folder of shards, that holds rows of one table. */
export interface TableFile {
  readonly table: TableName;
  readonly path: string;
  readonly format: 'parquet' | 'arrow';
}

const FIX = 'Name what "turnwise export" wrote; logs are read by "turnwise ingest".';

/**
 * The tables that files and folders hold, as `turnwise export` writes them: told by their columns, whatever
 * their names. A folder stands for the Parquet and Arrow files in it and for the folders of shards, and holds all
 * tables: one that is not there was lost on the way. Files that are named may be some of them.
 * @throws failures: nothing given or there, a file that is no table or is cut, two of one table, half an export
 */
export async function findTableFiles(store: Store, inputs: readonly string[]): Promise<TableFile[]> {
  const wrong = (subject: string, what: string, fix?: string) =>
    failure({ subject, wrong: what, fix, exitCode: 2 });
  if (inputs.length === 0) throw wrong('import', 'no file given, expected a folder or a file');
  const found = new Map<TableName, TableFile>();
  let marked = true;
  for (const given of new Set(inputs)) {
    const input = placeOf(given);
    if (!existsSync(input)) throw wrong(input, 'no such file or folder');
    const paths = pathsOf(input);
    if (paths.length === 0) throw wrong(input, 'holds no Parquet or Arrow file', FIX);
    for (const path of paths) {
      const { file, columns } = await tableFile(store, path);
      if (file.table === 'turn_values') marked = columns.includes('mark');
      const other = found.get(file.table);
      if (other && other.path !== path)
        throw failure({
          subject: `${other.path} and ${path}`,
          wrong: `both hold table "${file.table}"`,
          expected: 'each table once',
        });
      found.set(file.table, file);
    }
  }
  const folder = inputs.find((input) => isFolder(input));
  if (folder !== undefined) requireAll(folder, found, marked);
  return [...found.values()];
}

/** Turn values without marks are of an older Turnwise, which had no table `critics`. */
function requireAll(folder: string, found: ReadonlyMap<TableName, TableFile>, marked: boolean): void {
  const missing = Object.keys(TABLES).filter(
    (name) => !found.has(name as TableName) && (marked || name !== 'critics'),
  );
  if (missing.length === 0) return;
  throw failure({
    subject: folder,
    wrong: `is not a whole export: ${missing.length === 1 ? 'table' : 'tables'} ${missing.join(', ')} not there`,
    fix: 'Export again; or name files, which may hold only some of the tables.',
  });
}

/** A folder of tables, not of the shards of one. */
function isFolder(input: string): boolean {
  return statSync(input).isDirectory() && !isSharded(input);
}

function pathsOf(input: string): string[] {
  if (!isFolder(input)) return [input];
  const names = readdirSync(input);
  const half = names.find(isHalfMoved);
  if (half !== undefined)
    throw failure({
      subject: input,
      wrong: `holds an export that was not finished, old files beside new ones (${half})`,
      fix: 'Export again, with --force.',
    });
  return names
    .filter((name) => !isUnfinished(name))
    .sort()
    .map((name) => join(input, name))
    .filter((path) => {
      const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
      return isDirectory ? isSharded(path) : /\.(parquet|arrow)$/i.test(path);
    });
}

/** What `--shards` writes: folders `shard=K` and nothing else. */
function isSharded(folder: string): boolean {
  const names = readdirSync(folder).filter((name) => !isUnfinished(name));
  return names.length > 0 && names.every((name) => /^shard=\d+$/.test(name));
}

async function tableFile(
  store: Store,
  path: string,
): Promise<{ readonly file: TableFile; readonly columns: readonly string[] }> {
  const format = statSync(path).isDirectory() ? 'parquet' : await formatOf(path);
  const columns = format === 'parquet' ? await parquetColumns(store, path) : await arrowColumns(path);
  const table = tableOfColumns(columns);
  if (table !== undefined) return { file: { table, path, format }, columns };
  throw failure({
    subject: path,
    wrong: 'holds no table of a store',
    got: `columns ${columns.join(', ')}`,
    fix: FIX,
  });
}

async function formatOf(path: string): Promise<TableFile['format']> {
  // Opening a pipe would wait for its other end.
  if (!statSync(path).isFile()) throw failure({ subject: path, wrong: 'is no regular file' });
  const file = await open(path, 'r');
  try {
    const bytes = async (at: number) =>
      (await file.read(Buffer.alloc(6), 0, 6, at)).buffer.toString('latin1');
    const magic = await bytes(0);
    if (magic.startsWith('PAR1')) return 'parquet';
    if (magic.startsWith('\xff\xff\xff\xff')) return 'arrow';
    if (magic === 'ARROW1') {
      // A reader of the batches alone takes a file that is cut for one that ends.
      if ((await bytes(Math.max(0, (await file.stat()).size - 6))) === magic) return 'arrow';
      throw failure({
        subject: path,
        wrong: 'is cut: it does not end as an Arrow file does',
        fix: 'Export again.',
      });
    }
  } finally {
    await file.close();
  }
  throw failure({ subject: path, wrong: 'is neither Parquet nor Arrow', fix: FIX });
}

async function arrowColumns(path: string): Promise<string[]> {
  const { fields, close } = await openArrow(path);
  await close();
  return fields.map((field) => field.name);
}

/** Opens an Arrow file or stream, for one record batch at a time. */
export async function openArrow(path: string): Promise<ArrowReading> {
  const { chunks, compressed } = await openBytes(path);
  return readArrow(path, chunks, compressed ? undefined : statSync(path).size);
}
