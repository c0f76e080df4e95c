import {
  BIGINT,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBResult,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from 'duckdb';
import { failure } from '../schema/error.ts';
import type { ColumnData } from './batch.ts';
import { type ColumnBuilder, columnBuilder, type ReadType } from './column-builder.ts';
import { quoted } from './create-tables.ts';
import { engineFailure, memoryFix } from './engine-failure.ts';
import { growLimit, sizeText } from './memory-limit.ts';
import type { Store } from './store.ts';
import { TABLES } from './tables.ts';
import { vectorOf } from './vectors.ts';

type Scalar = string | number | boolean | bigint | null;
/** Values of $1, $2, … or of $name; a list is all text or all numbers. */
export type Parameters =
  | readonly (Scalar | readonly string[] | readonly number[])[]
  | Readonly<Record<string, Scalar | readonly string[] | readonly number[]>>;

/** Some rows of a result, column by column. A null number reads NaN ('f64', 'f32') or 0, beside `valid`. */
export interface ScanChunk {
  readonly rows: number;
  readonly columns: Readonly<Record<string, ColumnData>>;
  /** The engine's name of each column's type. */
  readonly types: Readonly<Record<string, string>>;
}

/** A chunk is handed out once it holds so many rows, or so many list values and characters. */
const CHUNK_ROWS = 65_536;
const CHUNK_VALUES = 4_000_000;
/** List values and characters of one chunk of the engine from which on it does not work ahead. */
const LARGE_VALUES = 32_000_000;

/**
 * Streams a result in chunks of about 65,536 rows (fewer where rows are large), copied out of the engine's
 * memory. BIGINT and TIMESTAMP (microseconds) are doubles; beyond 2^53 they are refused. A scan has a
 * connection of its own, so other queries may run meanwhile, except in a transaction, whose writes it must see.
 * An empty result is one chunk of no rows.
 */
export async function* scan(store: Store, sql: string, parameters?: Parameters): AsyncGenerator<ScanChunk> {
  requireStore(store);
  for (;;) {
    let handed = 0;
    try {
      for await (const chunk of scanOnce(store, sql, parameters)) {
        handed++;
        yield chunk;
      }
      return;
    } catch (error) {
      // Sorting, grouping and joining fail before the first row; what was handed out cannot be taken back.
      if (handed > 0 || !(await canTryAgain(store, error))) throw error;
    }
  }
}

/** A program that passes a path, or forgets to wait for `openStore`, is told so. */
function requireStore(store: unknown): void {
  if (typeof (store as Store | undefined)?.assertIdle === 'function') return;
  const isPromise = store instanceof Promise;
  throw failure({
    subject: 'store',
    wrong: 'is no open store',
    got: isPromise ? 'a promise of one' : typeof store === 'string' ? `the text "${store}"` : typeof store,
    expected: 'what `await openStore(path)` gives',
    exitCode: 2,
  });
}

/** After a query that failed for want of memory, where there is more of it now. A failed transaction cannot go on. */
export async function canTryAgain(store: Store, error: unknown): Promise<boolean> {
  const said = error instanceof Error ? error.message : String(error);
  return /out of memory|in the middle of a scan/i.test(said) && store.state === 'idle' && growLimit(store);
}

async function* scanOnce(store: Store, sql: string, parameters?: Parameters): AsyncGenerator<ScanChunk> {
  store.assertIdle('scan');
  const inTransaction = store.state === 'transaction';
  const connection = inTransaction ? store.connection : await store.connect();
  let result: DuckDBResult | undefined;
  let fetching: ReturnType<DuckDBResult['fetchChunk']> | undefined;
  let ended = false;
  try {
    if (inTransaction) store.state = 'transaction scan';
    else await connection.run('BEGIN');
    result = await connection.stream(sql, ...bound(parameters));
    const columns = readers(result);
    let rows = 0;
    let values = 0;
    let handed = 0;
    let large = false;
    // Of long texts only some rows at a time become strings.
    const step = columns.some((c) => c.type === 'VARCHAR' || c.type === 'JSON')
      ? Math.max(1, Math.floor(CHUNK_VALUES / Math.max(1, store.memory.rowBytes)))
      : CHUNK_ROWS;
    fetching = result.fetchChunk();
    for (;;) {
      const chunk = await (fetching ?? result.fetchChunk());
      ended = !chunk || chunk.rowCount === 0;
      if (ended) break;
      // The engine works ahead while this chunk is copied, unless chunks are so large that two of them are a burden.
      fetching = large ? undefined : result.fetchChunk();
      const n = chunk!.rowCount;
      let characters = 0;
      for (let from = 0; from < n; from += step) {
        const pick = step < n ? range(from, Math.min(from + step, n)) : undefined;
        for (let k = 0; k < columns.length; k++) {
          const size = columns[k]!.builder.append(vectorOf(chunk!, k), n, pick);
          values += size;
          characters += size;
        }
        rows += pick ? pick.length : n;
        if (rows < CHUNK_ROWS && values < CHUNK_VALUES) continue;
        yield taken(columns, rows);
        handed++;
        rows = 0;
        values = 0;
      }
      large = characters > LARGE_VALUES;
    }
    await requireWhole(store, connection);
    if (rows > 0 || handed === 0) yield taken(columns, rows);
  } catch (error) {
    throw engineFailure(store.path, error);
  } finally {
    await fetching?.catch(() => undefined);
    if (result && !ended) await abandon(connection, result, inTransaction);
    if (!inTransaction) connection.closeSync();
    else if (store.state === 'transaction scan') store.state = 'transaction';
  }
}

function range(from: number, to: number): Int32Array {
  return Int32Array.from({ length: to - from }, (_, k) => from + k);
}

/**
 * A stream that fails half-way ends like one that is whole: the client hands on no error. But the transaction around it
 * is aborted then, and the next statement says so.
 */
async function requireWhole(store: Store, connection: DuckDBConnection): Promise<void> {
  try {
    await connection.run('SELECT 1');
  } catch (cause) {
    throw failure({
      subject: store.path,
      wrong: 'the engine failed in the middle of a scan, and does not say why',
      expected: 'all rows',
      fix: `Most often memory is short, or the file is damaged. ${memoryFix(sizeText(store.memory.bytes))}`,
      cause,
    });
  }
}

/**
 * Brings a stream to its end: one that is merely dropped keeps the file locked until it is collected as garbage.
 * An interrupt would undo the transaction, so there the rest is read.
 */
async function abandon(
  connection: DuckDBConnection,
  result: DuckDBResult,
  inTransaction: boolean,
): Promise<void> {
  if (!inTransaction) connection.interrupt();
  try {
    while ((await result.fetchChunk())?.rowCount);
  } catch {
    // Interrupted, as asked.
  }
}

/** A table's name as the query for all of it; anything else is SQL already. */
export function selectSql(tableOrSql: string): string {
  return Object.hasOwn(TABLES, tableOrSql) ? `SELECT * FROM ${quoted(tableOrSql)}` : tableOrSql;
}

/** The rows of a small result as records; BIGINT and TIMESTAMP (microseconds) as numbers, lists as arrays. */
export async function queryRows(
  store: Store,
  sql: string,
  parameters?: Parameters,
): Promise<Record<string, unknown>[]> {
  requireStore(store);
  store.assertIdle('queryRows');
  for (;;)
    try {
      return await queryOnce(store, sql, parameters);
    } catch (error) {
      if (!(await canTryAgain(store, error))) throw error;
    }
}

async function queryOnce(
  store: Store,
  sql: string,
  parameters: Parameters | undefined,
): Promise<Record<string, unknown>[]> {
  try {
    const result = await store.connection.run(sql, ...bound(parameters));
    const columns = readers(result);
    let rows = 0;
    for (const chunk of await result.fetchAllChunks()) {
      for (let k = 0; k < columns.length; k++) columns[k]!.builder.append(vectorOf(chunk, k), chunk.rowCount);
      rows += chunk.rowCount;
    }
    const data = Object.entries(taken(columns, rows).columns);
    return Array.from({ length: rows }, (_, i) =>
      Object.fromEntries(data.map(([name, column]) => [name, valueAt(column, i)])),
    );
  } catch (error) {
    throw engineFailure(store.path, error);
  }
}

/** Value `i` of a column: null, number, boolean, text, or an array of them. */
export function valueAt(column: ColumnData, i: number): unknown {
  if (column.kind === 'text') return column.values[i] ?? null;
  if (column.valid && column.valid[i] === 0) return null;
  if (column.kind === 'bool') return column.values[i] !== 0;
  if (column.kind !== 'list') return column.values[i];
  const from = column.offsets[i]!;
  return Array.from({ length: column.offsets[i + 1]! - from }, (_, j) => valueAt(column.child, from + j));
}

interface Reader {
  readonly name: string;
  readonly type: string;
  readonly builder: ColumnBuilder;
}

function readers(result: DuckDBResult): readonly Reader[] {
  const types = result.columnTypes();
  return result.deduplicatedColumnNames().map((name, k) => {
    const builder = columnBuilder(name, types[k] as ReadType);
    if (!builder)
      throw failure({
        subject: `column ${name}`,
        wrong: `type ${types[k]} is not read`,
        fix: 'Cast it in the query, for instance to BIGINT, DOUBLE or VARCHAR.',
      });
    return { name, type: String(types[k]), builder };
  });
}

function taken(columns: readonly Reader[], rows: number): ScanChunk {
  return {
    rows,
    columns: Object.fromEntries(columns.map(({ name, builder }) => [name, builder.take()])),
    types: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
  };
}

type Bound = [
  values?: DuckDBValue[] | Record<string, DuckDBValue>,
  types?: DuckDBType[] | Record<string, DuckDBType>,
];

/** Whole numbers are bound as BIGINT, so that they compare with integer columns as integers. */
function bound(parameters?: Parameters): Bound {
  if (!parameters) return [];
  const pairs = Object.entries(parameters).map(([key, value]) => [key, ...boundValue(value)] as const);
  const values = Object.fromEntries(pairs.map(([key, value]) => [key, value]));
  const types = Object.fromEntries(pairs.flatMap(([key, , type]) => (type ? [[key, type]] : [])));
  if (!Array.isArray(parameters)) return [values, types];
  return [pairs.map(([, value]) => value), pairs.map(([, , type]) => type) as DuckDBType[]];
}

function boundValue(value: Scalar | readonly string[] | readonly number[]): [DuckDBValue, DuckDBType?] {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? [BigInt(value), BIGINT] : [value, DOUBLE];
  if (Array.isArray(value))
    return [listValue([...value]), LIST(typeof value[0] === 'number' ? DOUBLE : VARCHAR)];
  return [value as DuckDBValue];
}
