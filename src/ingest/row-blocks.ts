import type { EpisodeInput } from '../schema/episode.ts';
import { columnarRecord } from './columnar-record.ts';
import { episodeColumns, type Place } from './episode-columns.ts';
import { type Amend, addEpisodes, type ParsedBlock, rejected } from './parse-block.ts';
import type { Reject } from './rejects.ts';

/** A row of a columnar file as plain values, or what kept it from being read; `size` is its length about. */
export interface Row {
  readonly size: number;
  /** For the excerpt of a reject. */
  text(): string;
  values(): Readonly<Record<string, unknown>>;
}

const BLOCK = 4 << 20;
/** Rows have neither a line nor an offset. */
const NOWHERE: Place = { line: Number.NaN, byteOffset: Number.NaN };

/** Turns rows into episodes; the reason of a reject says which row, from 1. */
export async function* rowBlocks(rows: AsyncIterable<Row>, amend?: Amend): AsyncGenerator<ParsedBlock> {
  let columns = episodeColumns();
  let rejects: Reject[] = [];
  let size = 0;
  let number = 0;
  for await (const row of rows) {
    number++;
    try {
      addEpisodes(columns, [{ episode: columnarRecord(row.values()) as EpisodeInput }], NOWHERE, amend);
    } catch (error) {
      const reject = rejected(error, Buffer.from(row.text()), NOWHERE);
      rejects.push({ ...reject, reason: `row ${number}: ${reject.reason}` });
    }
    size += row.size;
    if (size < BLOCK) continue;
    yield { block: columns.finish(), rejects };
    columns = episodeColumns();
    rejects = [];
    size = 0;
  }
  yield { block: columns.finish(), rejects };
}
