import { failure, TurnwiseError } from '../schema/error.ts';
import { quoted } from '../store/create-tables.ts';
import { parquetSql } from '../store/parquet.ts';
import { type ParquetType, parquetTypes } from '../store/parquet-types.ts';
import { scan } from '../store/query.ts';
import { openStore } from '../store/store.ts';
import { expectEpisodeColumns, ID_COLUMNS, isRowIndex } from './columnar-record.ts';
import { RecordError } from './log-format.ts';
import { type ValueConverter, valueConverter } from './parquet-values.ts';
import { parseJson } from './parse-block.ts';
import type { Row } from './row-blocks.ts';

/** The rows of a Parquet file, read by an engine of its own beside the one that holds the store. */
export async function* parquetRows(path: string): AsyncGenerator<Row> {
  const reader = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    await reader.connection.run("SET TimeZone = 'UTC'");
    const file = parquetSql(path);
    const columns = await parquetTypes(reader, path);
    const names = columns.map(([name]) => name);
    expectEpisodeColumns(path, names);
    const leftOut = columns
      .filter(([name, { kind }]) => isRowIndex(name, kind === 'whole'))
      .map(([name]) => name);
    const read = columns.filter(([name]) => !leftOut.includes(name));
    const converters = new Map(read.map(([name, type]) => [name, valueConverter(type, name)]));
    const list = read.map(([name, type]) =>
      hasDigits(name, type) ? `${quoted(name)}::VARCHAR AS ${quoted(name)}` : quoted(name),
    );
    // A name that no column has: a column of the name would be taken for the row.
    const row = quoted(['row', ...names].join('_'));
    const sql = `SELECT to_json(${row})::VARCHAR AS record FROM (SELECT ${list.join(', ')} FROM ${file}) ${row}`;
    for await (const chunk of scan(reader, sql)) {
      const { values } = chunk.columns.record as { values: readonly (string | null)[] };
      for (const text of values) yield jsonRow(text ?? 'null', converters, leftOut);
    }
  } catch (cause) {
    // The engine names itself, ":memory:"; the person wants the file.
    if (!(cause instanceof TurnwiseError)) throw cause;
    if (cause.message.startsWith('column ')) throw failure({ subject: path, wrong: cause.message, cause });
    if (!cause.message.startsWith(':memory:')) throw cause;
    const said = cause.message.slice(':memory:: '.length).split('\n')[0]!;
    if (/not valid UTF-?8|invalid unicode/i.test(said))
      throw failure({ subject: path, wrong: `holds text that is not valid UTF-8 (${said})`, cause });
    throw failure({
      subject: path,
      wrong: `is not whole Parquet (${said})`,
      fix: 'Write it again; a compressed Parquet file (.gz, .zst) has to be unpacked first.',
      cause,
    });
  } finally {
    reader.close();
  }
}

/** Whether a column is an id that a table holds as a number: its digits are the id. */
function hasDigits(name: string, { kind }: ParquetType): boolean {
  return ID_COLUMNS.has(name) && (kind === 'whole' || kind === 'decimal');
}

function jsonRow(
  text: string,
  converters: ReadonlyMap<string, ValueConverter | undefined>,
  leftOut: readonly string[],
): Row {
  return {
    size: text.length,
    text: () => text,
    values() {
      const row = recordOf(text);
      for (const [name, convert] of converters) if (convert) row[name] = convert(row[name]);
      return row;
    },
    leftOut,
  };
}

function recordOf(text: string): Record<string, unknown> {
  try {
    return parseJson(Buffer.from(text)) as Record<string, unknown>;
  } catch (error) {
    const [found, name] = notFinite(text) ?? [];
    throw found === undefined ? error : new RecordError(`${name}: is ${found}, expected a finite number`);
  }
}

/** The first NaN or infinity, which the engine writes as such though JSON has neither, and the key before it. */
function notFinite(text: string): [found: string, name: string] | undefined {
  let name = '';
  for (const [token, number] of text.matchAll(/"(?:[^"\\]|\\.)*":?|(-?(?:NaN|Infinity))/g)) {
    if (number !== undefined) return [number, name];
    if (token.endsWith(':')) name = JSON.parse(token.slice(0, -1)) as string;
  }
  return undefined;
}
