/**
 * Apache Arrow in and out. A column of doubles, floats or 32-bit integers is wrapped without a copy. Text is Utf8
 * (nearly every observation and action is unique, so a dictionary would only add an index), JSON is Utf8, TIMESTAMP is
 * microseconds without a zone, lists are List<item>.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import {
  Field,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
} from 'apache-arrow';
import { failure } from '../schema/error.ts';
import { appendBatch } from './append.ts';
import { columnFromArrow } from './arrow-read.ts';
import { arrowData, arrowType } from './arrow-write.ts';
import type { Batch, ColumnData } from './batch.ts';
import { engineFailure } from './engine-failure.ts';
import { type Parameters, type ScanChunk, scan, selectSql } from './query.ts';
import type { Store } from './store.ts';
import { TABLES, type TableName } from './tables.ts';
import { transaction } from './transaction.ts';
import { writtenWhole } from './whole-file.ts';

/** A table, or the result of a query, as an Arrow table in memory; one record batch a chunk. */
export async function tableToArrow(
  store: Store,
  tableOrSql: string,
  parameters?: Parameters,
): Promise<Table> {
  const chunks: ScanChunk[] = [];
  for await (const chunk of scan(store, selectSql(tableOrSql), parameters)) chunks.push(chunk);
  return chunksToArrow(chunks);
}

/** Chunks of one scan as an Arrow table. */
export function chunksToArrow(chunks: readonly ScanChunk[]): Table {
  return new Table(chunks.map((chunk) => recordBatch(chunk)));
}

/** Appends an Arrow table to a table of the store, all or nothing; inside a transaction it belongs to it. */
export async function appendArrow(store: Store, table: TableName, arrow: Table): Promise<void> {
  const append = async () => {
    for (const batch of arrow.batches) await appendBatch(store, batchFromArrow(table, batch));
  };
  if (store.state === 'transaction') await append();
  else await transaction(store, append);
}

/** A record batch as rows of a table. @throws a failure naming the column where it does not fit */
export function batchFromArrow(table: TableName, batch: RecordBatch): Batch {
  const columns = Object.fromEntries(
    batch.schema.fields.map(({ name }, k) => [
      name,
      columnFromArrow(`${table}.${name}`, batch.data.children[k]!),
    ]),
  );
  for (const { name, type } of TABLES[table])
    if (type === 'JSON') checkJson(`${table}.${name}`, columns[name]);
  return { table, rows: batch.numRows, columns };
}

/** The bytes of an Arrow table: the file format (also known as Feather V2), or the stream format. */
export function toIpc(table: Table, format: 'file' | 'stream' = 'file'): Uint8Array {
  return tableToIPC(table, format);
}

/** An Arrow table from its bytes, in either format. */
export function fromIpc(bytes: Uint8Array): Table {
  return tableFromIPC(bytes);
}

/**
 * Writes a table, or the result of a query, to an Arrow file, chunk by chunk: not held in memory. Whole or not at all,
 * and what was there stands until then; with `replace` false it is refused.
 */
export async function exportArrow(
  store: Store,
  tableOrSql: string,
  path: string,
  {
    replace = true,
    metadata,
  }: {
    readonly replace?: boolean | undefined;
    /** Named texts for the metadata of the schema. */
    readonly metadata?: Readonly<Record<string, string>> | undefined;
  } = {},
): Promise<{ readonly rows: number }> {
  const write = async (part: string) => {
    const file = await open(part, 'wx');
    try {
      return { rows: await writeRows(store, tableOrSql, file, metadata) };
    } finally {
      await file.close();
    }
  };
  try {
    return await writtenWhole(path, write, { replace, inputs: store.file ? [store.file.path] : [] });
  } catch (error) {
    throw engineFailure(path, error);
  }
}

async function writeRows(
  store: Store,
  tableOrSql: string,
  file: FileHandle,
  metadata: Readonly<Record<string, string>> = {},
): Promise<number> {
  const writer = new RecordBatchFileWriter();
  const drain = drainInto(file, writer[Symbol.asyncIterator]());
  let rows = 0;
  for await (const chunk of scan(store, selectSql(tableOrSql))) {
    writer.write(recordBatch(chunk, metadata));
    rows += chunk.rows;
    await drain();
  }
  writer.finish();
  await drain();
  return rows;
}

/** Writes what the writer holds so far; its queue answers at once where it holds something, else not before the next turn. */
function drainInto(file: FileHandle, queue: AsyncIterator<Uint8Array>): () => Promise<void> {
  let next = queue.next();
  return async () => {
    for (;;) {
      const got = await Promise.race([next, setImmediate(undefined)]);
      if (got === undefined || got.done) return;
      await file.writeFile(got.value);
      next = queue.next();
    }
  };
}

function checkJson(subject: string, column: ColumnData | undefined): void {
  if (column?.kind !== 'text') return;
  for (const [row, text] of column.values.entries()) {
    try {
      if (text !== null) JSON.parse(text);
    } catch (cause) {
      throw failure({
        subject,
        wrong: `is not JSON at row ${row} of the record batch`,
        got: text?.slice(0, 80),
        cause,
      });
    }
  }
}

function recordBatch(
  { rows, columns, types }: ScanChunk,
  metadata: Readonly<Record<string, string>> = {},
): RecordBatch {
  const names = Object.keys(columns);
  const fields = names.map((name) => new Field(name, arrowType(columns[name]!, types[name]!), true));
  const children = names.map((name, k) => arrowData(columns[name]!, fields[k]!.type, 0, rows));
  const data = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children });
  return new RecordBatch(new Schema(fields, new Map(Object.entries(metadata))), data);
}
