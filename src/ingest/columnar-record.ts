import { parseExact } from '../json/exact-json.ts';
import { failure } from '../schema/error.ts';
import { tableOfColumns } from '../store/table-of-columns.ts';

/**
 * A row of Parquet or Arrow as a canonical record. The columns are those of the canonical JSONL, one
 * row an episode: `turns` and `segments` are lists of structs, `rewards` and `meta` structs, maps or
 * JSON text. A column always stands in every row, so null means absent, in turns and calls too.
 * Times without a zone are UTC.
 */
export function columnarRecord(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const record = present(row);
  for (const name of ['meta', 'rewards']) record[name] = unwrapped(record[name]);
  for (const name of ['started_at', 'ended_at']) record[name] = isoTime(record[name]);
  if (Array.isArray(record.turns)) record.turns = record.turns.map(turn);
  if (Array.isArray(record.segments)) record.segments = record.segments.map(present);
  return present(record);
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
  });
}

function turn(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const out = present(value);
  if (isRecord(out.sampling)) out.sampling = present(out.sampling);
  if (Array.isArray(out.tool_calls)) out.tool_calls = out.tool_calls.map(call);
  return out;
}

function call(value: unknown): unknown {
  return isRecord(value) ? { arguments: null, ...present(value) } : value;
}

function present(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) return value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== null && v !== undefined));
}

/** An object given as JSON text; anything else as it is, for the schema to judge. */
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
  const time = value.replace(/^(\d{4}-\d\d-\d\d) /, '$1T').replace(/([+-]\d\d)$/, '$1:00');
  return /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(time) ? `${time}Z` : time;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
