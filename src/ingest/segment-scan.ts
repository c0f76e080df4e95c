import {
  type NumberScan,
  SAW_BOOLEAN,
  SAW_FRACTION,
  SAW_INTEGER,
  SAW_NULL,
  scanNumbers,
} from './number-scan.ts';

/** The token columns of a segment, by name, in the order of `TokenSegment`. */
const COLUMNS = ['token_ids', 'action_mask', 'behaviour_logprobs', 'versions', 'token_turn'] as const;

/** One segment in typed arrays, NaN for null; an absent column is null. */
export interface TokenSegment {
  readonly token_ids: Float64Array;
  readonly action_mask: Float64Array;
  readonly behaviour_logprobs: Float64Array | null;
  readonly versions: Float64Array | null;
  readonly token_turn: Float64Array | null;
}

/** Reads `segments` off the bytes of a record; its arrays are good until the next `scan`. */
export interface SegmentScanner {
  /** Position behind the `]` of the array that opens at `at`, or −1: take the slow path. */
  scan(bytes: Buffer, at: number, end: number): number;
  readonly segments: readonly TokenSegment[];
}

/**
 * A scanner for well-formed segments: known names once each, columns of the schema's kinds, equal
 * lengths, token ids and versions in 32 bits. It never takes what the schema refuses (a property test
 * holds it to that); whatever it does not take is left to JSON.parse and the schema.
 */
export function segmentScanner(): SegmentScanner {
  const segments: TokenSegment[] = [];
  const pool: NumberScan[] = [];
  const names = COLUMNS.map((name) => Buffer.from(`"${name}"`));
  let used = 0;
  const scratch = () => (pool[used++] ??= { values: new Float64Array(4096), length: 0, seen: 0 });

  function scanSegment(bytes: Buffer, at: number, end: number): number {
    const found: (Float64Array | null | undefined)[] = [
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ];
    let p = skipSpace(bytes, at + 1);
    for (;;) {
      const column = names.findIndex((name) => startsWith(bytes, p, name));
      if (column < 0 || found[column] !== undefined) return -1;
      p = skipSpace(bytes, p + names[column]!.length);
      if (bytes[p] !== 58) return -1;
      p = skipSpace(bytes, p + 1);
      if (bytes[p] === 110) {
        if (column < 2 || !startsWith(bytes, p, NULL)) return -1;
        found[column] = null;
        p += 4;
      } else {
        if (bytes[p] !== 91) return -1;
        const out = scratch();
        p = scanNumbers(bytes, p, out, column === 2);
        if (p < 0 || p > end || !fits(column, out)) return -1;
        found[column] = out.values.subarray(0, out.length);
      }
      p = skipSpace(bytes, p);
      if (bytes[p] === 125) break;
      if (bytes[p] !== 44) return -1;
      p = skipSpace(bytes, p + 1);
    }
    const [token_ids, action_mask, behaviour_logprobs = null, versions = null, token_turn = null] = found;
    if (!token_ids || !action_mask) return -1;
    for (const values of found) if (values && values.length !== token_ids.length) return -1;
    segments.push({ token_ids, action_mask, behaviour_logprobs, versions, token_turn });
    return p + 1;
  }

  return {
    segments,
    scan(bytes, at, end) {
      segments.length = 0;
      used = 0;
      let p = skipSpace(bytes, at + 1);
      if (bytes[p] === 93) return p < end ? p + 1 : -1;
      for (;;) {
        if (bytes[p] !== 123) return -1;
        p = scanSegment(bytes, p, end);
        if (p < 0) return -1;
        p = skipSpace(bytes, p);
        if (bytes[p] === 93) break;
        if (bytes[p] !== 44) return -1;
        p = skipSpace(bytes, p + 1);
      }
      return p < end ? p + 1 : -1;
    },
  };
}

const NULL = Buffer.from('null');

/** Whether a column holds what the schema and the store's type allow. */
function fits(column: number, { values, length, seen }: NumberScan): boolean {
  if (column === 2) {
    if ((seen & SAW_BOOLEAN) !== 0) return false;
    for (let i = 0; i < length; i++) if (values[i]! > MAX_FLOAT || values[i]! < -MAX_FLOAT) return false;
    return true;
  }
  if (column === 1) {
    if ((seen & ~(SAW_BOOLEAN | SAW_INTEGER)) !== 0) return false;
    if ((seen & SAW_INTEGER) !== 0)
      for (let i = 0; i < length; i++) if (values[i] !== 0 && values[i] !== 1) return false;
    return true;
  }
  if ((seen & (SAW_BOOLEAN | SAW_FRACTION)) !== 0 || (column === 0 && (seen & SAW_NULL) !== 0)) return false;
  for (let i = 0; i < length; i++)
    if (values[i]! > MAX_INTEGER || values[i]! < -MAX_INTEGER - 1) return false;
  return true;
}

/** Largest values of INTEGER and FLOAT columns. */
export const MAX_INTEGER = 2147483647;
export const MAX_FLOAT = 3.4028234663852886e38;

function skipSpace(bytes: Buffer, at: number): number {
  let p = at;
  for (let c = bytes[p]; c === 32 || c === 10 || c === 13 || c === 9; c = bytes[p]) p++;
  return p;
}

function startsWith(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let k = 0; k < text.length; k++) if (bytes[at + k] !== text[k]) return false;
  return true;
}
