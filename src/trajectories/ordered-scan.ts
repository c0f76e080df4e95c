import { failure } from '../schema/error.ts';
import type { ColumnData } from '../store/batch.ts';
import { joinPieces } from '../store/pieces.ts';
import { type ScanChunk, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { numbersOf } from './column-copy.ts';

/** A table whose rows belong to episodes and count on within one. */
export type EpisodeTable =
  | { readonly table: 'turns'; readonly key: 'turn' }
  | { readonly table: 'segments'; readonly key: 'segment' };
export const TURNS: EpisodeTable = { table: 'turns', key: 'turn' };
export const SEGMENTS: EpisodeTable = { table: 'segments', key: 'segment' };

/** The rows of a table, those of a segment joined to one. */
const rowsOf = (table: EpisodeTable['table'], chunks: AsyncGenerator<ScanChunk>) =>
  table === 'segments' ? joinPieces(chunks) : chunks;
const pieceOf = (table: EpisodeTable['table']): string => (table === 'segments' ? ', piece' : '');

/** Where the rows of each episode lie once they are in the order of (episode, key). */
export interface RowLayout {
  /** Whether insertion order is that order already. */
  readonly ordered: boolean;
  readonly offsets: Int32Array; // [E + 1]
}

/** Rows from..to of a chunk are the rows `row`, `row + 1`, … of the columns. */
export interface Run {
  readonly columns: Readonly<Record<string, ColumnData>>;
  readonly from: number;
  readonly to: number;
  readonly row: number;
}

/**
 * Counts the rows of each of the given episodes (ascending numbers) and looks whether they lie in
 * order. Rows of other episodes are passed over, or refused where `complete`.
 */
export async function rowLayout(
  store: Store,
  { table, key }: EpisodeTable,
  episodes: Float64Array,
  complete: boolean,
): Promise<RowLayout> {
  const counts = new Int32Array(episodes.length + 1);
  let ordered = true;
  let e = -1;
  let lastEpisode = -1;
  let lastKey = -1;
  for await (const { rows, columns } of rowsOf(
    table,
    scan(store, `SELECT episode, ${key}${pieceOf(table)} FROM ${table}`),
  )) {
    const episode = numbersOf(columns, 'episode').values;
    const k = numbersOf(columns, key).values;
    for (let i = 0; i < rows; i++) {
      const at = episode[i]!;
      if (at !== lastEpisode) {
        if (at < lastEpisode) ordered = false;
        e = episodes[e + 1] === at ? e + 1 : placeOf(episodes, at);
        if (e < 0 && complete) throw orphan(table, at);
        lastEpisode = at;
      } else if (k[i]! <= lastKey) ordered = false;
      lastKey = k[i]!;
      if (e >= 0) counts[e + 1] = counts[e + 1]! + 1;
    }
  }
  for (let i = 1; i < counts.length; i++) counts[i] = counts[i]! + counts[i - 1]!;
  return { ordered, offsets: counts };
}

/**
 * Scans the rows of the given episodes in the order of (episode, key): as inserted where that is
 * the order, else sorted by the store. Fails where a row appears twice, and where the rows are not
 * those of the layout.
 */
export async function* orderedRuns(
  store: Store,
  { table, key }: EpisodeTable,
  select: string,
  episodes: Float64Array,
  { ordered, offsets }: RowLayout,
): AsyncGenerator<Run> {
  if (episodes.length === 0) return;
  const where = 'WHERE episode BETWEEN $1 AND $2';
  const piece = pieceOf(table);
  const order = ordered ? '' : ` ORDER BY episode, ${key}${piece}`;
  const sql = `SELECT episode, ${key}${piece}, ${select} FROM ${table} ${where}${order}`;
  let row = 0;
  let e = -1;
  let lastEpisode = -1;
  let lastKey = -1;
  for await (const { rows, columns } of rowsOf(table, scan(store, sql, [episodes[0]!, episodes.at(-1)!]))) {
    const episode = numbersOf(columns, 'episode').values;
    const keys = numbersOf(columns, key).values;
    let from = -1; // first row of the run being collected
    for (let i = 0; i < rows; i++) {
      const at = episode[i]!;
      if (at !== lastEpisode) {
        e = episodes[e + 1] === at ? e + 1 : placeOf(episodes, at);
        lastEpisode = at;
      } else if (keys[i]! <= lastKey) throw twice(table, key, at, keys[i]!);
      lastKey = keys[i]!;
      if (e >= 0) {
        if (row < offsets[e]! || row >= offsets[e + 1]!) throw changed(store, table);
        if (from < 0) from = i;
        row++;
      } else if (from >= 0) {
        yield { columns, from, to: i, row: row - (i - from) };
        from = -1;
      }
    }
    if (from >= 0) yield { columns, from, to: rows, row: row - (rows - from) };
  }
  if (row !== offsets.at(-1)) throw changed(store, table);
}

/** Place of a number in an ascending array, −1 where it is not there. */
function placeOf(ascending: Float64Array, wanted: number): number {
  let lo = 0;
  let hi = ascending.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (ascending[mid]! < wanted) lo = mid + 1;
    else hi = mid;
  }
  return ascending[lo] === wanted ? lo : -1;
}

const orphan = (table: string, episode: number) =>
  failure({
    subject: `${table}, episode ${episode}`,
    wrong: 'rows of an episode that is not in the table episodes',
    fix: 'The store is damaged: ingest the logs into a new one.',
  });

const twice = (table: string, key: string, episode: number, k: number) =>
  failure({
    subject: `${table}, episode ${episode}, ${key} ${k}`,
    wrong: 'the row is there twice',
    fix: 'The store is damaged: ingest the logs into a new one.',
  });

const changed = (store: Store, table: string) =>
  failure({
    subject: store.path,
    wrong: `the rows of ${table} are not those that were loaded`,
    fix: 'Something wrote to the store meanwhile: load the trajectories again.',
  });
