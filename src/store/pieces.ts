/**
 * Token sequences in pieces. The engine holds 2,048 rows of a table at once when it scans or commits, so a row must be
 * small: with 100,000 tokens a row, 2,048 of them are four gigabytes. A sequence is therefore kept as rows of at most
 * `PIECE_TOKENS` tokens, all but the last of exactly so many, numbered from 0 in column `piece`. Writers hand over whole
 * sequences, readers get whole ones.
 */
import { failure } from '../schema/error.ts';
import type { Batch, ColumnData } from './batch.ts';
import type { ScanChunk } from './query.ts';
import { TABLES, type TableName } from './tables.ts';

export const PIECE_TOKENS = 1024;

/** Tables that keep sequences in pieces, each with the column that every row of a sequence has. */
const SEQUENCES: Readonly<Partial<Record<TableName, string>>> = { segments: 'token_ids', scores: 'logprobs' };

type ListColumn = Extract<ColumnData, { kind: 'list' }>;

/**
 * The batch with its sequences cut, where it holds whole ones: its table keeps pieces and it has no column `piece`.
 * Values are not copied, only offsets made; a row without a sequence (the score of a turn) has no piece. O(rows + pieces).
 * @throws a failure where the lists of a row that is cut differ in length
 */
export function cutPieces(batch: Batch): Batch {
  const key = SEQUENCES[batch.table];
  if (key === undefined || batch.columns.piece !== undefined) return batch;
  const sequence = batch.columns[key];
  if (sequence?.kind !== 'list') return batch; // Scores of turns only; of segments, the check of the batch says it.
  const present: [string, ListColumn][] = [];
  for (const [name, data] of Object.entries(batch.columns))
    if (data.kind === 'list') present.push([name, data]);
  const rowOf: number[] = [];
  const piece: number[] = [];
  for (let i = 0; i < batch.rows; i++) {
    const n = lengthOf(sequence, i);
    for (const [name, data] of present) {
      const got = lengthOf(data, i);
      if (got !== n && has(data, i) && Math.max(got, n) > PIECE_TOKENS)
        throw failure({
          subject: `${batch.table}.${name}`,
          wrong: `is not as long as ${key} at row ${i} of the batch`,
          got,
          expected: `${n}`,
        });
    }
    for (let k = 0; k === 0 || k * PIECE_TOKENS < n; k++) {
      rowOf.push(i);
      piece.push(k);
    }
  }
  const columns: Record<string, ColumnData> = {};
  const uncut = rowOf.length === batch.rows;
  for (const [name, data] of Object.entries(batch.columns))
    columns[name] = uncut ? data : data.kind === 'list' ? cutList(data, rowOf, piece) : repeated(data, rowOf);
  const valid = sequence.valid && Uint8Array.from(rowOf, (i) => sequence.valid![i]!);
  columns.piece = { kind: 'i32', values: Int32Array.from(piece), valid };
  return { table: batch.table, rows: rowOf.length, columns };
}

export const isCut = (table: TableName): boolean => SEQUENCES[table] !== undefined;

/** `cutPieces` in SQL, over the columns of a table that holds whole sequences. */
export function cutSql(table: TableName, from: string, columns: readonly string[]): string {
  const key = SEQUENCES[table]!;
  const lists = new Set(TABLES[table].filter((c) => c.type.endsWith('[]')).map((c) => c.name));
  const P = PIECE_TOKENS;
  const cut = (name: string) => `${name}[p * ${P} + 1 : (p + 1) * ${P}] AS ${name}`;
  const select = columns.map((name) => (lists.has(name) ? cut(name) : name)).join(', ');
  const piece = columns.includes(key) ? `CASE WHEN ${key} IS NOT NULL THEN p END` : 'NULL';
  const pieces = columns.includes(key) ? `greatest(1, (len(${key}) + ${P - 1}) // ${P})` : '1';
  return `SELECT ${select}, (${piece})::INTEGER AS piece FROM (SELECT *, unnest(range(${pieces})) AS p FROM ${from})`;
}

/** Finds an episode with a sequence of which a piece is missing, or one but the last is not full, by table. */
export const BROKEN_SEQUENCES: Readonly<Record<'segments' | 'scores', string>> = {
  segments: broken('segments', 'episode, segment'),
  scores: broken('scores', 'policy, source, episode, segment'),
};

function broken(table: 'segments' | 'scores', of: string): string {
  const n = `len(${SEQUENCES[table]})`;
  return `SELECT episode AS value FROM ${table} WHERE segment IS NOT NULL GROUP BY ${of}
    HAVING count(DISTINCT piece) <> count(*) OR min(piece) <> 0 OR max(piece) <> count(*) - 1
      OR max(${n}) > ${PIECE_TOKENS} OR count(*) FILTER (${n} = ${PIECE_TOKENS}) < count(*) - 1
      OR (count(*) > 1 AND arg_max(${n}, piece) = 0) OR min(piece) FILTER (${n} < ${PIECE_TOKENS}) < max(piece)`;
}

function cutList(data: ListColumn, rowOf: readonly number[], piece: readonly number[]): ListColumn {
  const offsets = new Int32Array(rowOf.length + 1);
  offsets[0] = data.offsets[0]!;
  for (let r = 0; r < rowOf.length; r++) {
    const i = rowOf[r]!;
    offsets[r + 1] = Math.min(data.offsets[i]! + (piece[r]! + 1) * PIECE_TOKENS, data.offsets[i + 1]!);
  }
  return { ...data, offsets, valid: data.valid && Uint8Array.from(rowOf, (i) => data.valid![i]!) };
}

function repeated(data: ColumnData, rowOf: ArrayLike<number>): ColumnData {
  if (data.kind === 'text') return { kind: 'text', values: Array.from(rowOf, (i) => data.values[i] ?? null) };
  if (data.kind === 'list') return data;
  const values = new (data.values.constructor as new (n: number) => Float64Array)(rowOf.length);
  for (let r = 0; r < rowOf.length; r++) values[r] = data.values[rowOf[r]!]!;
  const valid = data.valid && Uint8Array.from(rowOf, (i) => data.valid![i]!);
  return { ...data, values, valid } as ColumnData;
}

/**
 * A scan of segments in the order of (episode, segment, piece), with one row a segment again. Columns `episode`,
 * `segment` and `piece` must be there. Lists are joined, numbers in the columns `added` are summed, of any other column
 * the first piece counts. Only a segment that goes on in the next chunk is copied, all others are seen through new
 * offsets. Where a piece is missing, what follows is a row of its own, whose `piece` is not 0. Memory: one chunk and
 * one segment.
 */
export async function* joinPieces(
  chunks: AsyncIterable<ScanChunk>,
  added: readonly string[] = [],
): AsyncGenerator<ScanChunk> {
  let held: ScanChunk | undefined;
  for await (const chunk of chunks) {
    let from = 0;
    if (held !== undefined) {
      if (chunk.rows > 0 && goesOn(held, held.rows - 1, chunk, 0)) from++;
      while (from > 0 && from < chunk.rows && goesOn(chunk, from - 1, chunk, from)) from++;
      if (from > 0) held = appended(held, sliced(chunk, 0, from));
      if (from === chunk.rows) continue;
      yield joined(held, Int32Array.of(0), added);
      held = undefined;
    }
    const rest = sliced(chunk, from, chunk.rows);
    if (rest.rows === 0) {
      yield rest;
      continue;
    }
    const starts: number[] = [];
    for (let i = 0; i < rest.rows; i++) if (i === 0 || !goesOn(rest, i - 1, rest, i)) starts.push(i);
    const last = starts.pop()!;
    if (last > 0) yield joined(sliced(rest, 0, last), Int32Array.from(starts), added);
    held = copied(sliced(rest, last, rest.rows));
  }
  if (held !== undefined) yield joined(held, Int32Array.of(0), added);
}

/** Whether row `j` of `b` is the piece after row `i` of `a`. */
function goesOn(a: ScanChunk, i: number, b: ScanChunk, j: number): boolean {
  const at = (chunk: ScanChunk, name: string, row: number) =>
    (chunk.columns[name] as { readonly values: ArrayLike<number> }).values[row]!;
  return (
    at(b, 'piece', j) > 0 &&
    at(a, 'episode', i) === at(b, 'episode', j) &&
    at(a, 'segment', i) === at(b, 'segment', j) &&
    at(a, 'piece', i) + 1 === at(b, 'piece', j)
  );
}

function joined(chunk: ScanChunk, starts: Int32Array, added: readonly string[]): ScanChunk {
  const R = starts.length;
  if (R === chunk.rows) return chunk;
  const end = (r: number): number => (r + 1 < R ? starts[r + 1]! : chunk.rows);
  const columns = mapped(chunk.columns, (data, name) => {
    if (data.kind === 'list') {
      const offsets = Int32Array.from(
        { length: R + 1 },
        (_, r) => data.offsets[r < R ? starts[r]! : chunk.rows]!,
      );
      return { ...data, offsets, valid: data.valid && Uint8Array.from(starts, (i) => data.valid![i]!) };
    }
    const one = repeated(data, starts);
    if (added.includes(name) && one.kind !== 'text' && one.kind !== 'list' && data.kind === one.kind)
      for (let r = 0; r < R; r++)
        for (let i = starts[r]! + 1; i < end(r); i++) one.values[r]! += data.values[i]!;
    return one;
  });
  return { ...chunk, rows: R, columns };
}

/** Rows `from` to `to`, seen through other offsets. */
function sliced(chunk: ScanChunk, from: number, to: number): ScanChunk {
  if (from === 0 && to === chunk.rows) return chunk;
  const columns = mapped(chunk.columns, (data) => {
    if (data.kind === 'text') return { kind: 'text', values: data.values.slice(from, to) };
    const valid = data.valid?.subarray(from, to);
    if (data.kind === 'list') return { ...data, offsets: data.offsets.subarray(from, to + 1), valid };
    return { ...data, values: data.values.subarray(from, to), valid } as ColumnData;
  });
  return { ...chunk, rows: to - from, columns };
}

/** The same rows in memory of their own, so that a few of them do not keep a whole chunk. */
function copied(chunk: ScanChunk): ScanChunk {
  return { ...chunk, columns: mapped(chunk.columns, (data) => concat(data, chunk.rows, undefined, 0)) };
}

/** The rows of `a`, then those of `b`. */
function appended(a: ScanChunk, b: ScanChunk): ScanChunk {
  const columns = mapped(a.columns, (data, name) => concat(data, a.rows, b.columns[name]!, b.rows));
  return { ...a, rows: a.rows + b.rows, columns };
}

function concat(a: ColumnData, n: number, b: ColumnData | undefined, m: number): ColumnData {
  if (a.kind === 'text')
    return {
      kind: 'text',
      values: [...a.values.slice(0, n), ...((b as typeof a)?.values.slice(0, m) ?? [])],
    };
  const other = b as Exclude<ColumnData, { kind: 'text' }> | undefined;
  let valid: Uint8Array | undefined;
  if (a.valid || other?.valid) {
    valid = new Uint8Array(n + m).fill(1);
    if (a.valid) valid.set(a.valid.subarray(0, n));
    if (other?.valid) valid.set(other.valid.subarray(0, m), n);
  }
  if (a.kind === 'list') {
    const next = other as ListColumn | undefined;
    const [first, size] = [a.offsets[0]!, a.offsets[n]! - a.offsets[0]!];
    const start = next?.offsets[0] ?? 0;
    const offsets = new Int32Array(n + m + 1);
    for (let i = 0; i <= n; i++) offsets[i] = a.offsets[i]! - first;
    for (let i = 1; i <= m; i++) offsets[n + i] = size + next!.offsets[i]! - start;
    const values = next && from(next.child, start);
    const child = concat(from(a.child, first), size, values, m === 0 ? 0 : next!.offsets[m]! - start);
    return { kind: 'list', offsets, child, valid };
  }
  const values = new (a.values.constructor as new (n: number) => Float64Array)(n + m);
  values.set(a.values.subarray(0, n) as Float64Array);
  if (other) values.set((other as { values: Float64Array }).values.subarray(0, m), n);
  return { ...a, values, valid } as ColumnData;
}

/** A column of numbers from a row on. */
function from(data: ColumnData, row: number): ColumnData {
  if (data.kind === 'text' || data.kind === 'list') throw new Error('pieces: a list of numbers is expected');
  return { ...data, values: data.values.subarray(row), valid: data.valid?.subarray(row) } as ColumnData;
}

const has = (l: ListColumn, i: number): boolean => l.valid === undefined || l.valid[i] !== 0;
const lengthOf = (l: ListColumn, i: number): number => (has(l, i) ? l.offsets[i + 1]! - l.offsets[i]! : 0);

function mapped(
  columns: ScanChunk['columns'],
  of: (data: ColumnData, name: string) => ColumnData,
): Record<string, ColumnData> {
  return Object.fromEntries(Object.entries(columns).map(([name, data]) => [name, of(data, name)]));
}
