import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { failure } from '../schema/error.ts';
import { quoted, sqlText } from './create-tables.ts';
import { engineFailure } from './engine-failure.ts';
import { patternOf, targetOf } from './literal-path.ts';
import { ENGINE_ROWS } from './memory-limit.ts';
import { cutSql, isCut } from './pieces.ts';
import { canTryAgain, selectSql } from './query.ts';
import { rowsInGroup } from './row-groups.ts';
import type { Store } from './store.ts';
import { TABLES, type TableName } from './tables.ts';
import { folderWrittenWhole, isUnfinished, writtenWhole } from './whole-file.ts';

export interface ParquetOptions {
  /**
   * Cut a table into this many folders `shard=K` by a hash of the task, so that no task is cut through: the lower
   * 64 bits of the MD5 of the task id (of the episode id where there is no task), modulo the count. Absent: one file.
   */
  readonly shards?: number | undefined;
  /**
   * Shards that are there give way to the new ones once those are written; absent: a folder that holds anything is
   * refused. One file always gives way, unless this is false.
   */
  readonly replace?: boolean | undefined;
  /** Named texts for the metadata of each file. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** What a folder of shards holds, and nothing else. */
export const SHARD = /^shard=\d+$/;

/**
 * Writes a table, or the result of a query, to Parquet (zstd): one file, or a folder of shards; whole or not at all,
 * and what was there stands until then.
 */
export async function exportParquet(
  store: Store,
  tableOrSql: string,
  path: string,
  options: ParquetOptions = {},
): Promise<{ readonly rows: number }> {
  const { shards, replace, metadata = {} } = options;
  const named = Object.entries(metadata).map(([name, text]) => `${quoted(name)}: ${sqlText(text)}`);
  const about = named.length > 0 ? `KV_METADATA {${named.join(', ')}}, ` : '';
  const sql = shards === undefined ? selectSql(tableOrSql) : shardedSql(tableOrSql, shards);
  if (shards !== undefined && replace !== true) requireEmpty(path);
  const copy = async (group: number, part: string, more: string) => {
    const write = `COPY (${sql}) TO ${targetOf(part)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${group}, ${about}${more})`;
    const [row] = group > ENGINE_ROWS ? await rowsOf(store, write) : await inOneThread(store, write);
    return { rows: Number(row?.[0]) };
  };
  for (;;)
    try {
      const group = await rowsInGroup(store, selectSql(tableOrSql));
      if (shards === undefined)
        return await writtenWhole(path, (part) => copy(group, part, 'USE_TMP_FILE false'), {
          replace,
          inputs: store.file ? [store.file.path] : [],
        });
      // Rows of the shards gather until so many are there, by thread.
      await rowsOf(store, `SET partitioned_write_flush_threshold = ${group}`);
      return await folderWrittenWhole(path, (part) => copy(group, part, 'PARTITION_BY (shard)'), SHARD);
    } catch (error) {
      if (!(await canTryAgain(store, error))) throw engineFailure(path, error);
    }
}

/** Where 2,048 rows are a group, they are large: each thread would hold several of them, and is no faster for it. */
async function inOneThread(store: Store, sql: string) {
  const [threads] = await rowsOf(store, "SELECT current_setting('threads')::INTEGER");
  await rowsOf(store, 'SET threads = 1');
  try {
    return await rowsOf(store, sql);
  } finally {
    await rowsOf(store, `SET threads = ${threads![0]}`);
  }
}

function requireEmpty(folder: string): void {
  const held = existsSync(folder) ? readdirSync(folder).filter((name) => !isUnfinished(name)) : [];
  if (held.length > 0)
    throw failure({ subject: folder, wrong: 'is there already', got: held[0], expected: 'an empty folder' });
}

/** The names of the columns of a Parquet file, or of a folder of shards. */
export async function parquetColumns(store: Store, path: string): Promise<string[]> {
  try {
    return (await rowsOf(store, `DESCRIBE FROM ${parquetSql(path)}`)).map((row) => String(row[0]));
  } catch (error) {
    throw engineFailure(path, error);
  }
}

/**
 * How SQL reads a Parquet file, or a folder of shards: these files, whatever their names hold. Text that is not marked
 * as UTF-8 (older writers) is text.
 */
export function parquetSql(
  path: string,
  reader: 'read_parquet' | 'parquet_metadata' = 'read_parquet',
): string {
  const files = statSync(path).isDirectory() ? filesIn(path) : [path];
  const list = `[${files.map(patternOf).join(', ')}]`;
  if (reader === 'parquet_metadata') return `parquet_metadata(${list})`;
  return `read_parquet(${list}, hive_partitioning = false, binary_as_string = true)`;
}

function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names
    .filter((name) => name.endsWith('.parquet') && !isUnfinished(name.split(sep)[0]!))
    .sort();
  if (files.length === 0) throw failure({ subject: folder, wrong: 'holds no Parquet file' });
  return files.map((name) => join(folder, name));
}

/**
 * Appends a Parquet file, or a folder of shards, to a table; a column that is not there is null. Rows of one file keep
 * their order; those of shards are ordered by episode, turn, segment and piece again.
 */
export async function importParquet(
  store: Store,
  table: TableName,
  path: string,
): Promise<{ readonly rows: number }> {
  try {
    const folder = statSync(path).isDirectory();
    const there = new Set(await parquetColumns(store, path));
    const cut = isCut(table) && !there.has('piece');
    const columns = TABLES[table]
      .map((c) => c.name)
      .filter((name) => there.has(name) || (cut && name === 'piece'));
    const from = cut ? `(${cutSql(table, parquetSql(path), [...there])})` : parquetSql(path);
    const list = columns.map(quoted).join(', ');
    const keys = ['episode', 'turn', 'segment', 'piece'].filter((k) => columns.includes(k)).map(quoted);
    const order = folder && keys.length > 0 ? ` ORDER BY ${keys.join(', ')}` : '';
    const [row] = await rowsOf(
      store,
      `INSERT INTO ${quoted(table)} (${list}) SELECT ${list} FROM ${from}${order}`,
    );
    return { rows: Number(row?.[0]) };
  } catch (error) {
    throw engineFailure(path, error);
  }
}

/** Without the store's name on an error: it is about the Parquet file. */
async function rowsOf(store: Store, sql: string) {
  store.assertIdle('parquet');
  return (await store.connection.run(sql)).getRows();
}

function shardedSql(table: string, shards: number): string {
  if (!Number.isSafeInteger(shards) || shards < 1)
    throw failure({
      subject: 'shards',
      wrong: 'is out of range',
      got: shards,
      expected: 'a whole number of at least 1',
    });
  const columns = Object.hasOwn(TABLES, table) ? TABLES[table as TableName].map((c) => c.name) : [];
  const shard = `md5_number_lower(coalesce(task_id, episode_id)) % ${shards} AS shard`;
  if (columns.includes('task_id')) return `SELECT *, ${shard} FROM ${quoted(table)}`;
  if (columns.includes('episode'))
    return `SELECT t.*, ${shard} FROM ${quoted(table)} t JOIN episodes e ON e.episode = t.episode ORDER BY t.episode`;
  throw failure({
    subject: table,
    wrong: 'has no task to cut it by',
    expected: 'episodes, turns, segments, scores, turn_values or censored',
  });
}
