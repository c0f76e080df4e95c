import { parseExact } from '../json/exact-json.ts';
import { hasFreeNumber } from './free-numbers.ts';
import type { SegmentScanner, TokenSegment } from './segment-scan.ts';

/** A record without its `segments`, which lie beside it in typed arrays. */
export interface SplitRecord {
  readonly record: Record<string, unknown>;
  readonly segments: readonly TokenSegment[];
}

/**
 * Parses a canonical line [start, end) of valid UTF-8, its token arrays off the bytes and the rest,
 * which is text, with JSON.parse. null: not a record this fast path takes (no `segments`, or not well
 * formed); then parse the whole line, which finds out what is wrong.
 *
 * The text handed to JSON.parse has a stand-in in place of the array that was read. A JSON value stands
 * in place of a JSON value, so the rest is valid exactly where the line is.
 */
export function parseSplit(
  bytes: Buffer,
  start: number,
  end: number,
  scanner: SegmentScanner,
): SplitRecord | null {
  const at = findSegments(bytes, start, end);
  if (at < 0) return null;
  const behind = scanner.scan(bytes, at, end);
  if (behind < 0 || findSegments(bytes, behind, end, 1) !== NONE) return null;
  let record: unknown;
  try {
    record = parseExact(
      `${bytes.toString('utf8', start, at)}${STAND_IN}${bytes.toString('utf8', behind, end)}`,
      hasFreeNumber,
    );
  } catch {
    return null;
  }
  const { segments, ...rest } = record as Record<string, unknown>;
  return segments === CUT_OUT ? { record: rest, segments: scanner.segments } : null;
}

const CUT_OUT = '\u0000segments are read off the bytes';
const STAND_IN = JSON.stringify(CUT_OUT);
const NONE = -1;
const NOT_AN_ARRAY = -2;
const NAME = Buffer.from('"segments"');

/** Where the array under the top-level key `segments` opens, NONE, or NOT_AN_ARRAY. */
function findSegments(bytes: Buffer, start: number, end: number, startDepth = 0): number {
  let depth = startDepth;
  let p = start;
  while (p < end) {
    const c = bytes[p]!;
    if (c === 34) {
      const open = p++;
      while (p < end && bytes[p] !== 34) p += bytes[p] === 92 ? 2 : 1;
      p++;
      if (p > end) return NONE;
      if (depth !== 1 || p - open !== NAME.length || NAME.compare(bytes, open, p) !== 0) continue;
      while (p < end && isSpace(bytes[p]!)) p++;
      if (bytes[p] !== 58) continue;
      p++;
      while (p < end && isSpace(bytes[p]!)) p++;
      return p < end && bytes[p] === 91 ? p : NOT_AN_ARRAY;
    }
    if (c === 123 || c === 91) depth++;
    else if (c === 125 || c === 93) depth--;
    p++;
  }
  return NONE;
}

function isSpace(c: number): boolean {
  return c === 32 || c === 9 || c === 13 || c === 10;
}
