import { isUtf8 } from 'node:buffer';
import { Score } from '../schema/score.ts';
import type { Place } from './episode-columns.ts';
import { isFields } from './formats/fields.ts';
import { lineBlocks } from './line-blocks.ts';
import { RecordError } from './log-format.ts';
import { nearestName } from './nearest-name.ts';
import { type FormatNote, noteCounts } from './notes.ts';
import { checkLine, linesOf, parseJson, rejected } from './parse-block.ts';
import { excerpt, type Reject } from './rejects.ts';
import { MAX_FLOAT, MAX_INTEGER } from './segment-scan.ts';
import { settled } from './settled-numbers.ts';
import { zodReason } from './zod-reason.ts';

/** A score with its place, and what a reject of it would show. */
export interface PlacedScore extends Place {
  readonly score: Score;
  readonly excerpt: string;
}

export interface ScoreBlock {
  readonly scores: readonly PlacedScore[];
  readonly rejects: readonly Reject[];
  /** Columns that scores do not have, left out. */
  readonly notes: readonly FormatNote[];
}

/** Reads a scores file, a block of lines at a time. */
export async function* scoreBlocks(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<ScoreBlock> {
  for await (const block of lineBlocks(chunks, maxBytes)) {
    const scores: PlacedScore[] = [];
    const rejects = [...block.tooLong];
    const notes = noteCounts();
    const valid = isUtf8(block.bytes);
    for (const line of linesOf(block)) {
      const bytes = block.bytes.subarray(line.start, line.end);
      try {
        checkLine(block, line, maxBytes, valid);
        const { record, noticed } = known(parsed(bytes, line.last && block.unterminated));
        const score = checked(record);
        notes.add(noticed);
        scores.push({ score, line: line.line, byteOffset: line.byteOffset, excerpt: excerpt(bytes) });
      } catch (error) {
        rejects.push(rejected(error, bytes, line));
      }
    }
    yield { scores, rejects, notes: notes.list() };
  }
}

/** @throws RecordError, which says what to write where a serialiser has put a token that JSON does not have */
function parsed(bytes: Buffer, cutShort: boolean): unknown {
  try {
    return parseJson(bytes, cutShort);
  } catch (error) {
    if (!(error instanceof RecordError) || !/[:,[]\s*(-?Infinity|NaN)\b/.test(bytes.toString('utf8')))
      throw error;
    throw new RecordError(
      `${error.message}; JSON has no NaN or Infinity: write "-inf" for a probability of 0, null for one that is not known`,
    );
  }
}

const COLUMNS = Object.keys(Score.shape);

/** The record without columns that a score does not have; one that looks like a known column stays, and is refused. */
function known(record: unknown): { readonly record: unknown; readonly noticed: readonly FormatNote[] } {
  if (!isFields(record)) return { record, noticed: [] };
  const foreign = Object.keys(record).filter(
    (name) => !COLUMNS.includes(name) && nearestName(name, COLUMNS) === undefined,
  );
  if (foreign.length === 0) return { record, noticed: [] };
  return {
    record: Object.fromEntries(Object.entries(record).filter(([name]) => !foreign.includes(name))),
    noticed: foreign.map((about) => ({ code: 'score-column-left-out', about })),
  };
}

function checked(record: unknown): Score {
  let parsed = Score.safeParse(record);
  if (!parsed.success) parsed = Score.safeParse(settled(record));
  if (!parsed.success) throw new RecordError(zodReason(parsed.error, Score));
  const { turn, segment, logprobs } = parsed.data;
  if ((turn ?? 0) > MAX_INTEGER) throw new RecordError('is beyond a 32-bit integer', 'turn');
  if ((segment ?? 0) > MAX_INTEGER) throw new RecordError('is beyond a 32-bit integer', 'segment');
  if (logprobs?.some((v) => v !== null && Math.abs(v) > MAX_FLOAT))
    throw new RecordError('holds a number beyond a 32-bit float', 'logprobs');
  return parsed.data;
}
