import {
  makeData,
  type RecordBatch,
  RecordBatch as RecordBatchOf,
  Schema,
  Struct,
  Vector,
} from 'apache-arrow';
import { failure, TurnwiseError } from '../../schema/error.ts';
import { byteReader } from '../byte-reader.ts';
import { arrowColumns, type Dictionaries } from './columns.ts';
import { type ArrowField, arrowFields, arrowFieldType } from './fields.ts';
import type { FlatTable } from './flatbuffer.ts';
import {
  BATCH,
  DICTIONARY,
  fileMessages,
  fileRange,
  footerOf,
  MAGIC,
  type Message,
  memoryRange,
  SCHEMA,
  streamMessages,
} from './messages.ts';

/** An Arrow file or stream, open to be read once from its start to its end. */
export interface ArrowReading {
  readonly fields: readonly ArrowField[];
  /** One in memory at a time. Where it ends before the end that was marked, that is an error. */
  readonly batches: AsyncGenerator<RecordBatch>;
  /** Lets go of the file, read to its end or not. */
  close(): Promise<void>;
}

/**
 * Reads Arrow's IPC format (https://arrow.apache.org/docs/format/Columnar.html), file or stream; string and binary
 * views, long lists, LZ4 and Zstandard among it. apache-arrow's own reader has none of those, holds a file in memory
 * whole, and takes lengths for granted. A file is read where its footer says; one that is compressed as a whole, or
 * comes through a pipe, is held in memory.
 * `size`: bytes of `chunks`, where they are the file at `path` as it stands.
 * @throws failures naming `path`: not Arrow, cut, damaged, a type that is not read
 */
export async function readArrow(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  size = Number.POSITIVE_INFINITY,
): Promise<ArrowReading> {
  const named = <T>(body: () => Promise<T>) =>
    body().catch((error: unknown) => {
      if (error instanceof TurnwiseError) throw error;
      const subject = path === '-' ? 'standard input' : path;
      throw failure({ subject, wrong: `is not valid Arrow (${(error as Error).message})`, cause: error });
    });
  const { schema, messages, isFile, close } = await named(() => opened(path, chunks, size));
  try {
    const fields = await named(async () => arrowFields(schema));
    const batches = batchesOf(fields, messages, isFile);
    return {
      fields,
      batches: (async function* () {
        for (;;) {
          const next = await named(() => batches.next());
          if (next.done) return;
          yield next.value;
        }
      })(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Opened {
  readonly schema: FlatTable;
  readonly messages: AsyncIterable<Message>;
  readonly isFile: boolean;
  close(): Promise<void>;
}

async function opened(path: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<Opened> {
  const bytes = byteReader(chunks);
  try {
    const start = await bytes.take(8);
    if (Buffer.from(start).toString('latin1').startsWith(MAGIC)) {
      const onDisk = size < Number.POSITIVE_INFINITY;
      const range = onDisk ? await fileRange(path) : memoryRange(Buffer.concat([start, await bytes.rest()]));
      await bytes.close();
      try {
        const footer = await footerOf(range);
        const schema = footer.table(1);
        if (!schema) throw new Error('its footer holds no schema');
        return { schema, messages: fileMessages(range, footer), isFile: true, close: () => range.close() };
      } catch (error) {
        await range.close();
        throw error;
      }
    }
    const messages = streamMessages(bytes, start, size);
    const first = await messages.next();
    if (first.done || first.value.kind !== SCHEMA) throw new Error('it does not start with a schema');
    return { schema: first.value.header, messages, isFile: false, close: () => bytes.close() };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

async function* batchesOf(
  fields: readonly ArrowField[],
  messages: AsyncIterable<Message>,
  isFile: boolean,
): AsyncGenerator<RecordBatch, void> {
  const schema = new Schema(fields.map(arrowFieldType));
  const byId = new Map(
    dictionaryFields(fields).map((field) => [field.dictionary!.id, field.dictionary!.values]),
  );
  const dictionaries = new Map<number, Vector>();
  for await (const { kind, header, body } of messages) {
    if (kind === DICTIONARY) {
      const id = header.int64(0, 0);
      dictionaries.set(id, await dictionary(id, header, body, byId.get(id), dictionaries, isFile));
    } else if (kind === BATCH) {
      const children = await arrowColumns(fields, header, body, dictionaries);
      const type = new Struct(schema.fields);
      const data = makeData({ type, length: header.int64(0, 0), nullCount: 0, children });
      yield new RecordBatchOf(schema, data);
    } else throw new Error(`a message of kind ${kind} stands among its record batches`);
  }
}

function dictionaryFields(fields: readonly ArrowField[]): ArrowField[] {
  return fields.flatMap((field) => {
    const inner = field.dictionary ? field.dictionary.values : field;
    return [...(field.dictionary ? [field] : []), ...dictionaryFields(inner.children)];
  });
}

async function dictionary(
  id: number,
  header: FlatTable,
  body: Uint8Array,
  field: ArrowField | undefined,
  dictionaries: Dictionaries,
  isFile: boolean,
): Promise<Vector> {
  const batch = header.table(1);
  if (!field || !batch) throw new Error(`dictionary ${id} belongs to no column`);
  const [values] = await arrowColumns([field], batch, body, dictionaries);
  const before = dictionaries.get(id);
  const isDelta = header.byte(2, 0) !== 0;
  // A stream may replace a dictionary on its way; in a file nothing says which batches come before it.
  if (isFile && before && !isDelta)
    throw new Error(`dictionary ${id} is replaced by another, which no file may do`);
  return isDelta && before ? before.concat(new Vector([values!])) : new Vector([values!]);
}
