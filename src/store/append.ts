import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBAppender,
  DuckDBDataChunk,
  type DuckDBType,
  FLOAT,
  INTEGER,
  LIST,
  TIMESTAMP,
  VARCHAR,
} from 'duckdb';
import type { Batch, ColumnData } from './batch.ts';
import { checkBatch } from './check-batch.ts';
import { engineFailure } from './engine-failure.ts';
import type { Store } from './store.ts';
import { type ColumnType, TABLES } from './tables.ts';
import { VECTOR_SIZE, vectorOf } from './vectors.ts';
import { writeNulls, writeVector } from './write-vector.ts';

const TYPES: Readonly<Record<ColumnType, DuckDBType>> = {
  VARCHAR,
  JSON: VARCHAR,
  DOUBLE,
  INTEGER,
  BIGINT,
  BOOLEAN,
  TIMESTAMP,
  'DOUBLE[]': LIST(DOUBLE),
  'FLOAT[]': LIST(FLOAT),
  'INTEGER[]': LIST(INTEGER),
  'BOOLEAN[]': LIST(BOOLEAN),
};

/** Handed to the engine at once: its own threshold counts rows, and a row of segments may be 100 kB. */
const FLUSH_BYTES = 16e6;

/**
 * Appends the rows of a batch to its table, column by column, in chunks of 2,048 rows; inside an open
 * transaction they belong to it. Text is stored as UTF-8: a lone surrogate, which UTF-8 cannot hold, becomes
 * U+FFFD, and is counted. JSON is taken as it is: writers hand over what JSON.stringify made.
 * @returns how many texts held a lone surrogate
 * @throws a failure naming table, column and row where the batch does not fit; nothing is written then
 */
export async function appendBatch(store: Store, batch: Batch): Promise<{ readonly replaced: number }> {
  checkBatch(batch);
  store.assertIdle('appendBatch');
  if (batch.rows === 0) return { replaced: 0 };
  const columns = TABLES[batch.table];
  const datas = columns.map((c) => batch.columns[c.name]);
  let appender: DuckDBAppender | undefined;
  try {
    appender = await store.connection.createAppender(batch.table);
    const chunk = DuckDBDataChunk.create(columns.map((c) => TYPES[c.type]));
    let pending = 0;
    for (let from = 0; from < batch.rows; from += VECTOR_SIZE) {
      const to = Math.min(from + VECTOR_SIZE, batch.rows);
      chunk.reset();
      for (const [k, data] of datas.entries()) {
        const vector = vectorOf(chunk, k);
        if (data) writeVector(vector, data, from, to);
        else writeNulls(vector, to - from);
        if (data) pending += bytesOf(data, from, to);
      }
      chunk.rowCount = to - from;
      appender.appendDataChunk(chunk);
      if (pending < FLUSH_BYTES) continue;
      appender.flushSync();
      pending = 0;
    }
    chunk.reset(); // Frees the lists now; the chunk itself goes with the garbage, which does not know its size.
    const last = appender;
    appender = undefined;
    last.closeSync();
  } catch (error) {
    discard(appender);
    throw engineFailure(`${store.path}: ${batch.table}`, error);
  }
  let replaced = 0;
  for (const data of datas) if (data?.kind === 'text') replaced += illFormed(data.values, batch.rows);
  return { replaced };
}

function discard(appender: DuckDBAppender | undefined): void {
  try {
    appender?.closeSync();
  } catch {
    // The first error is the one to tell.
  }
}

function bytesOf(data: ColumnData, from: number, to: number): number {
  if (data.kind === 'list') {
    const values = data.offsets[to]! - data.offsets[from]!;
    return 16 * (to - from) + 8 * values;
  }
  if (data.kind !== 'text') return 8 * (to - from);
  let bytes = 16 * (to - from);
  for (let i = from; i < to; i++) bytes += data.values[i]?.length ?? 0;
  return bytes;
}

function illFormed(values: readonly (string | null)[], rows: number): number {
  let count = 0;
  for (let i = 0; i < rows; i++) if (values[i] && !isWellFormed(values[i]!)) count++;
  return count;
}

/** String.prototype.isWellFormed of ES2024. */
function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}
