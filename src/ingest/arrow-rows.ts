import { DataType, type RecordBatch, RecordBatchReader, type Vector } from 'apache-arrow';
import { failure, TurnwiseError } from '../schema/error.ts';
import { expectEpisodeColumns } from './columnar-record.ts';
import { RecordError } from './log-format.ts';
import type { Row } from './row-blocks.ts';

/** The rows of an Arrow file or stream, one record batch in memory at a time. */
export async function* arrowRows(path: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  let batches = 0;
  try {
    const reader = await RecordBatchReader.from(chunks);
    for await (const batch of reader) {
      if (batches++ === 0)
        expectEpisodeColumns(
          path,
          batch.schema.fields.map((f) => String(f.name)),
        );
      const size = Math.ceil(batch.data.byteLength / Math.max(1, batch.numRows));
      for (let i = 0; i < batch.numRows; i++) yield arrowRow(batch, i, size);
    }
  } catch (error) {
    if (error instanceof TurnwiseError) throw error;
    throw failure({ subject: path, wrong: `is not valid Arrow (${(error as Error).message})`, cause: error });
  }
}

function arrowRow(batch: RecordBatch, i: number, size: number): Row {
  const values = () =>
    Object.fromEntries(
      batch.schema.fields.map((f) => [f.name, plain(batch.getChild(f.name)!.get(i), f.type, String(f.name))]),
    );
  return { size, values, text: () => String(batch.getChild('episode_id')?.get(i) ?? '') };
}

/** An Arrow value as the JSON value it stands for. */
function plain(value: unknown, type: DataType, path: string): unknown {
  if (value === null || value === undefined) return null;
  if (DataType.isDictionary(type)) return plain(value, type.dictionary, path);
  if (DataType.isList(type) || DataType.isFixedSizeList(type)) {
    const child = type.children[0]!.type as DataType;
    return Array.from(value as Vector, (v, k) => plain(v, child, `${path}[${k}]`));
  }
  if (DataType.isStruct(type)) {
    const row = value as Record<string, unknown>;
    return Object.fromEntries(
      type.children.map((f) => [f.name, plain(row[f.name], f.type, `${path}.${f.name}`)]),
    );
  }
  if (DataType.isMap(type)) {
    const [, inner] = (type.children[0]!.type as DataType & { children: { type: DataType }[] }).children;
    const entries = [...(value as Iterable<[string, unknown]>)];
    return Object.fromEntries(entries.map(([key, v]) => [key, plain(v, inner!.type, `${path}.${key}`)]));
  }
  if (DataType.isTimestamp(type)) return new Date(Number(value)).toISOString();
  if (typeof value === 'bigint') {
    if (!Number.isSafeInteger(Number(value))) throw new RecordError(`${path}: is beyond 2^53, got ${value}`);
    return Number(value);
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new RecordError(`${path}: Arrow type ${type} is not read`);
}
