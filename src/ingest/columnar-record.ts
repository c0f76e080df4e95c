import { basename } from 'node:path';
import { parseExact } from '../json/exact-json.ts';
import { failure } from '../schema/error.ts';
import { instantOf } from '../schema/instant.ts';
import { tableOfColumns } from '../store/table-of-columns.ts';

/**
 * A row of Parquet or Arrow as a canonical record. The columns are those of the canonical JSONL, one
 * row an episode: `turns` and `segments` are lists of structs, `rewards` and `meta` structs, maps or
 * JSON text. A table cannot tell a key that is null from one that is not there, and its writers fill
 * structs with nulls: null in a column, a struct or a map means absent, at every depth (the readers leave
 * it out); in a list it keeps its place. JSON text means what it says. Times without a zone are UTC.
 */
export function columnarRecord(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const record = present(row);
  for (const name of ['meta', 'rewards', 'turns', 'segments']) record[name] = unwrapped(record[name]);
  for (const name of ['started_at', 'ended_at']) record[name] = isoTime(record[name]);
  return present(record);
}

/** Columns that a table may hold as whole numbers or decimals: the id is their digits. */
export const ID_COLUMNS: ReadonlySet<string> = new Set(['episode_id', 'task_id']);

/**
 * Whether a column numbers the rows, as pandas and polars add one: whole numbers under a name of theirs. It says nothing
 * of the episode, and is left out.
 */
export function isRowIndex(name: string, isWhole: boolean): boolean {
  return isWhole && /^(__index_level_\d+__|level_\d+|index|row_nr)$/.test(name);
}

/** @throws a failure naming the file, where its columns are not those of a log of episodes */
export function expectEpisodeColumns(path: string, columns: readonly string[]): void {
  const table = tableOfColumns(columns);
  if (table !== undefined)
    throw failure({
      subject: path,
      wrong: `is table "${table}" as "turnwise export" writes it, not a log`,
      fix: 'Use "turnwise import".',
    });
  const missing = ['episode_id', 'turns'].filter((name) => !columns.includes(name));
  if (missing.length === 0) return;
  throw failure({
    subject: path,
    wrong: `is not a log of episodes: no column ${missing.join(', ')}`,
    got: columns.join(', '),
    expected: 'one row an episode, with the columns of the canonical record ("turnwise schema episode")',
    fix: ['messages', 'conversations', 'conversation', 'turn', 'segment'].some((name) =>
      columns.includes(name),
    )
      ? `Chats and scores are read as JSON Lines, which any DuckDB client writes: COPY (FROM '${basename(path)}') TO 'log.jsonl' (FORMAT json).`
      : undefined,
  });
}

function present(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== null && v !== undefined));
}

/** What is given as JSON text; anything else as it is, for the schema to judge. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return parseExact(value);
  } catch {
    return value;
  }
}

function isoTime(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return instantOf(value) ?? value;
}
