import { DataType, type RecordBatch } from 'apache-arrow';
import { failure } from '../schema/error.ts';
import { readArrow } from './arrow/read-arrow.ts';
import { digitsReader, type ValueReader, valueReader } from './arrow/values.ts';
import { expectEpisodeColumns, ID_COLUMNS, isRowIndex } from './columnar-record.ts';
import type { Row } from './row-blocks.ts';

/** The rows of an Arrow file or stream, one record batch in memory at a time; `size` of its bytes, where it is known. */
export async function* arrowRows(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  size?: number,
): AsyncGenerator<Row> {
  const { fields, batches, close } = await readArrow(path, chunks, size);
  try {
    expectEpisodeColumns(
      path,
      fields.map((f) => f.name),
    );
    const leftOut = fields.filter((f) => isRowIndex(f.name, DataType.isInt(f.type))).map((f) => f.name);
    for await (const batch of batches) yield* batchRows(path, batch, leftOut);
  } finally {
    await close();
  }
}

function* batchRows(path: string, batch: RecordBatch, leftOut: readonly string[]): Generator<Row> {
  const columns = columnsOf(path, batch, leftOut);
  const id = columns.find(([name]) => name === 'episode_id')![1];
  const size = Math.ceil(batch.data.byteLength / Math.max(1, batch.numRows));
  for (let i = 0; i < batch.numRows; i++) {
    const values = () => Object.fromEntries(columns.map(([name, read]) => [name, read(i)]));
    yield { size, values, text: () => textOf(id, i), leftOut };
  }
}

function columnsOf(
  path: string,
  batch: RecordBatch,
  leftOut: readonly string[],
): readonly (readonly [string, ValueReader])[] {
  try {
    return batch.schema.fields.flatMap((field, k) => {
      const name = String(field.name);
      if (leftOut.includes(name)) return [];
      const data = batch.data.children[k]!;
      return [[name, (ID_COLUMNS.has(name) && digitsReader(data)) || valueReader(data, name)] as const];
    });
  } catch (cause) {
    throw failure({ subject: path, wrong: (cause as Error).message, cause });
  }
}

/** For the excerpt of a reject: the id, where it can be read. */
function textOf(id: ValueReader, i: number): string {
  try {
    return String(id(i) ?? '');
  } catch {
    return '';
  }
}
