import { failure, TurnwiseError } from '../schema/error.ts';
import { parquetSql } from '../store/parquet.ts';
import { queryRows, scan } from '../store/query.ts';
import { openStore } from '../store/store.ts';
import { expectEpisodeColumns } from './columnar-record.ts';
import { parseJson } from './parse-block.ts';
import type { Row } from './row-blocks.ts';

/** The rows of a Parquet file, read by an engine of its own beside the one that holds the store. */
export async function* parquetRows(path: string): AsyncGenerator<Row> {
  const reader = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    const file = parquetSql(path);
    const columns = await queryRows(reader, `SELECT column_name FROM (DESCRIBE FROM ${file})`);
    expectEpisodeColumns(
      path,
      columns.map((c) => String(c.column_name)),
    );
    for await (const chunk of scan(reader, `SELECT to_json(t)::VARCHAR AS record FROM ${file} t`)) {
      const { values } = chunk.columns.record as { values: readonly (string | null)[] };
      for (const text of values) yield jsonRow(text ?? 'null');
    }
  } catch (cause) {
    // The engine names itself, ":memory:"; the person wants the file.
    if (!(cause instanceof TurnwiseError) || !cause.message.startsWith(':memory:')) throw cause;
    throw failure({
      subject: path,
      wrong: `is not whole Parquet (${cause.message.slice(':memory:: '.length).split('\n')[0]})`,
      fix: 'Write it again; a compressed Parquet file (.gz, .zst) has to be unpacked first.',
      cause,
    });
  } finally {
    reader.close();
  }
}

function jsonRow(text: string): Row {
  return {
    size: text.length,
    text: () => text,
    values: () => parseJson(Buffer.from(text)) as Record<string, unknown>,
  };
}
