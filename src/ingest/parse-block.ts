import { isUtf8 } from 'node:buffer';
import { TooDeepError } from '../json/depth.ts';
import { parseExact } from '../json/exact-json.ts';
import { Episode, type EpisodeInput } from '../schema/episode.ts';
import { parseSplit } from './canonical-line.ts';
import { type EpisodeBlock, type EpisodeColumns, episodeColumns, type Place } from './episode-columns.ts';
import { hasFreeNumber } from './free-numbers.ts';
import type { LineBlock } from './line-blocks.ts';
import { RecordError } from './log-format.ts';
import type { FormatNote } from './notes.ts';
import { excerpt, type Reject } from './rejects.ts';
import type { SegmentScanner } from './segment-scan.ts';
import { settled } from './settled-numbers.ts';
import { unfit } from './unfit.ts';
import { unusable } from './unusable.ts';
import { zodReason } from './zod-reason.ts';

/** What came of a block of records. */
export interface ParsedBlock {
  readonly block: EpisodeBlock;
  readonly rejects: readonly Reject[];
  /** Of the records kept; absent: none. */
  readonly notes?: readonly FormatNote[];
  /** Records that are read with another file; absent: none. */
  readonly parts?: number;
}

/** Fills in what is not in the log itself; the reward of a benchmark's own report, for instance. */
export type Amend = (episode: EpisodeInput) => EpisodeInput;

/** Parses and checks a block of canonical lines; every line becomes an episode or a reject. */
export function parseCanonicalBlock(
  block: LineBlock,
  scanner: SegmentScanner,
  maxBytes: number,
  amend?: Amend,
): ParsedBlock {
  const columns = episodeColumns();
  const rejects = [...block.tooLong];
  const valid = isUtf8(block.bytes);
  for (const line of linesOf(block)) {
    const { start, end } = line;
    try {
      checkLine(block, line, maxBytes, valid);
      const split = parseSplit(block.bytes, start, end, scanner);
      if (split) {
        columns.add(checked({ ...split.record, segments: [] }, amend), line, split.segments);
      } else {
        const cutShort = line.last && block.unterminated;
        const record = parseJson(block.bytes.subarray(start, end), cutShort, hasFreeNumber);
        columns.add(checked(record, amend), line);
      }
    } catch (error) {
      rejects.push(rejected(error, block.bytes.subarray(start, end), line));
    }
  }
  return { block: columns.finish(), rejects };
}

/** Reads one record of another format into the columns: all its episodes or, where one is bad, none. */
export function addEpisodes(
  columns: EpisodeColumns,
  found: readonly { readonly episode: EpisodeInput; readonly fenced?: Readonly<Record<string, unknown>> }[],
  place: Place,
  amend?: Amend,
): void {
  const episodes = found.map((f) => checked(f.episode, amend));
  for (const { fenced } of found) {
    const reason = unfit(fenced, 'fenced');
    if (reason !== undefined) throw new RecordError(reason);
  }
  for (let k = 0; k < episodes.length; k++) columns.add(episodes[k]!, place, undefined, found[k]!.fenced);
}

/** A line of a block, without its line end. */
export interface Line extends Place {
  readonly start: number;
  readonly end: number;
  readonly last: boolean;
}

/** The lines of a block that hold more than white space. */
export function* linesOf({ bytes, line, byteOffset }: LineBlock): Generator<Line> {
  let start = 0;
  for (let n = line; start < bytes.length; n++) {
    const at = bytes.indexOf(10, start);
    const end = at < 0 ? bytes.length : at;
    let p = start;
    while (p < end && (bytes[p] === 32 || bytes[p] === 9 || bytes[p] === 13)) p++;
    if (p < end) yield { start, end, line: n, byteOffset: byteOffset + start, last: end === bytes.length };
    start = end + 1;
  }
}

/** @throws RecordError for a line that is too long or no UTF-8 */
export function checkLine(
  block: LineBlock,
  { start, end }: Line,
  maxBytes: number,
  validBlock: boolean,
): void {
  if (end - start > maxBytes)
    throw new RecordError(
      `record is ${end - start} bytes long, more than the limit of ${maxBytes} (--max-record-mb)`,
    );
  if (!validBlock && !isUtf8(block.bytes.subarray(start, end))) throw new RecordError('not valid UTF-8');
}

/** Loses no digit of a number. @throws RecordError with what JSON.parse says, or for a record nested too deep */
export function parseJson(
  bytes: Buffer,
  cutShort = false,
  digitsMatter?: (value: unknown) => boolean,
): unknown {
  if (!isUtf8(bytes)) throw new RecordError('not valid UTF-8');
  try {
    return parseExact(bytes.toString('utf8'), digitsMatter);
  } catch (error) {
    if (error instanceof TooDeepError) throw new RecordError(error.message);
    const said = (error as Error).message.split('\n')[0]!.replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase());
    const short = cutShort ? ' (the last line has no line end: the file may be cut short)' : '';
    throw new RecordError(`not JSON: ${said}${short}`);
  }
}

/** The reject an error makes; an error that is not about the record goes on its way. */
export function rejected(error: unknown, bytes: Uint8Array, { line, byteOffset }: Place): Reject {
  return { line, byteOffset, reason: recordReason(error), excerpt: excerpt(bytes) };
}

function recordReason(error: unknown): string {
  if (error instanceof RecordError) {
    const { column, message } = error;
    return column === undefined || message.startsWith(column) ? message : `${column}: ${message}`;
  }
  throw error;
}

/** An episode that fits the schema and can be stored, or RecordError. */
function checked(record: unknown, amend: Amend | undefined): Episode {
  const episode = fitting(record);
  const amended = amend ? fitting(amend(episode)) : episode;
  const reason = unusable(amended);
  if (reason !== undefined) throw new RecordError(reason);
  return amended;
}

function fitting(record: unknown): Episode {
  let given = record;
  let parsed = Episode.safeParse(given);
  if (!parsed.success) {
    given = settled(record);
    if (given !== record) parsed = Episode.safeParse(given);
  }
  if (!parsed.success) throw new RecordError(zodReason(parsed.error, Episode));
  const { data } = parsed;
  // An empty name is none: many episodes of a task that has no name are not one task.
  if (data.task_id === '') data.task_id = null;
  if (data.policy === '') data.policy = null;
  // The schema leaves out a key "__proto__", which a log may have as well as any other.
  if (data.meta !== null) data.meta = (given as { meta: Record<string, unknown> }).meta;
  if (data.rewards !== null && Object.hasOwn((given as { rewards: object }).rewards, '__proto__'))
    throw new RecordError('no part of a reward may be named "__proto__"', 'rewards');
  return data;
}
