import type { EpisodeInput } from '../schema/episode.ts';
import { columnarRecord } from './columnar-record.ts';
import { episodeColumns, type Place } from './episode-columns.ts';
import { noteCounts } from './notes.ts';
import { type Amend, addEpisodes, type ParsedBlock, rejected } from './parse-block.ts';
import type { Reject } from './rejects.ts';

/** A row of a columnar file as plain values, or what kept it from being read; `size` is its length about. */
export interface Row {
  readonly size: number;
  /** For the excerpt of a reject. */
  text(): string;
  values(): Readonly<Record<string, unknown>>;
  /** Columns that number the rows, which it does not hold. */
  readonly leftOut: readonly string[];
}

const BLOCK = 4 << 20;
/** Rows of a block, so that rejects of short rows do not fill the memory. */
const ROWS = 16_384;
/** Rows have neither a line nor an offset. */
const NOWHERE: Place = { line: Number.NaN, byteOffset: Number.NaN };

/** Turns rows into episodes; the reason of a reject says which row, from 1. */
export async function* rowBlocks(rows: AsyncIterable<Row>, amend?: Amend): AsyncGenerator<ParsedBlock> {
  let columns = episodeColumns();
  let rejects: Reject[] = [];
  let size = 0;
  let number = 0;
  let notes = noteCounts();
  for await (const row of rows) {
    number++;
    try {
      addEpisodes(columns, [{ episode: columnarRecord(row.values()) as EpisodeInput }], NOWHERE, amend);
    } catch (error) {
      const reject = rejected(error, Buffer.from(row.text()), NOWHERE);
      rejects.push({ ...reject, reason: `row ${number}: ${reject.reason}` });
    }
    for (const about of row.leftOut) notes.add([{ code: 'row-index-left-out', about }]);
    size += row.size;
    if (size < BLOCK && number % ROWS !== 0) continue;
    yield { block: columns.finish(), rejects, notes: notes.list() };
    columns = episodeColumns();
    rejects = [];
    notes = noteCounts();
    size = 0;
  }
  yield { block: columns.finish(), rejects, notes: notes.list() };
}
