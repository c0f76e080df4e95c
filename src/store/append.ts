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
import { cutPieces } from './pieces.ts';
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
/** In one chunk: the engine copies it, and keeps room for the largest one. */
const CHUNK_BYTES = 8e6;

/**
 * Appends the rows of a batch to its table, column by column, in chunks of at most 2,048 rows; sequences are cut into
 * pieces first. Inside an open
 * transaction they belong to it. Text is stored as UTF-8: a lone surrogate, which UTF-8 cannot hold, becomes
 * U+FFFD, and is counted. JSON is taken as it is: writers hand over what JSON.stringify made.
 * @returns how many texts held a lone surrogate
 * @throws a failure naming table, column and row where the batch does not fit; nothing is written then
 */
export async function appendBatch(store: Store, given: Batch): Promise<{ readonly replaced: number }> {
  const batch = cutPieces(given);
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
    for (let from = 0, to = 0; from < batch.rows; from = to) {
      let bytes = 0;
      for (; to < batch.rows && to - from < VECTOR_SIZE && bytes < CHUNK_BYTES; to++)
        for (const data of datas) if (data) bytes += bytesOf(data, to);
      pending += bytes;
      chunk.reset();
      for (const [k, data] of datas.entries()) {
        const vector = vectorOf(chunk, k);
        if (data) writeVector(vector, data, from, to);
        else writeNulls(vector, to - from);
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

/** About the bytes of row `i`. */
function bytesOf(data: ColumnData, i: number): number {
  if (data.kind === 'list') return 16 + 8 * (data.offsets[i + 1]! - data.offsets[i]!);
  return data.kind === 'text' ? 16 + (data.values[i]?.length ?? 0) : 8;
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
