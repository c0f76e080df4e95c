/**
 * Text in and out of DuckDB's vectors. An entry is 16 bytes: the length in bytes; then up to 12 bytes of text, or the
 * first 4 of them and a pointer. A native call a text would take longer than everything else about it, so:
 * written, the long texts of a chunk are handed over as one, and entries point into the engine's copy of that;
 * read, texts that lie side by side are seen through one window of memory, and short ones that were seen before
 * are the same string again.
 */
import { assignText, copyIn, pointedBytes, type Vector, vectorBytes, writeValid } from './vectors.ts';

/** Texts are handed over as one up to so many characters. */
const JOINED = 1 << 20;
/** Texts closer than this share the pages between them, which therefore can be seen. */
const GAP = 4096;

/** Writes texts `from` to `to` into a vector. */
export function writeText(
  vector: Vector,
  values: readonly (string | null)[],
  from: number,
  to: number,
): void {
  const n = to - from;
  const entries = Buffer.alloc(16 * n);
  let nulls = 0;
  let group: number[] = [];
  let characters = 0;
  for (let i = 0; i < n; i++) {
    const text = values[from + i];
    if (text === null || text === undefined) {
      nulls++;
      continue;
    }
    if (inlined(entries, 16 * i, text)) continue;
    group.push(i);
    characters += text.length;
    if (characters < JOINED) continue;
    writeJoined(vector, entries, values, from, group);
    group = [];
    characters = 0;
  }
  writeJoined(vector, entries, values, from, group);
  copyIn(vector, entries);
  if (nulls > 0) writeValid(vector, n, (i) => values[from + i] != null);
}

/** Writes ASCII of up to 12 characters in place. */
function inlined(entries: Buffer, at: number, text: string): boolean {
  const length = text.length;
  if (length > 12) return false;
  for (let k = 0; k < length; k++) {
    const code = text.charCodeAt(k);
    if (code > 127) return false;
    entries[at + 4 + k] = code;
  }
  entries[at] = length;
  return true;
}

/** Has the engine copy the texts of `rows` as one, and makes the entry of each from where that lies. */
function writeJoined(
  vector: Vector,
  entries: Buffer,
  values: readonly (string | null)[],
  from: number,
  rows: readonly number[],
): void {
  if (rows.length === 0) return;
  const texts = rows.map((i) => values[from + i]!);
  const joined = texts.join('');
  // 12 bytes before them, so that the whole is never short enough to be put into the entry itself.
  const bytes = Buffer.from(`            ${joined}`, 'utf8');
  const ascii = bytes.length === joined.length + 12;
  // Half a surrogate pair at the end of one text would join with the other half at the start of the next.
  const lengths = ascii ? undefined : texts.map((text) => Buffer.byteLength(text, 'utf8'));
  if (lengths && lengths.reduce((a, b) => a + b, 12) !== bytes.length) {
    if (rows.length === 1) throw new Error('a text is not as long as its bytes');
    for (const i of rows) writeJoined(vector, entries, values, from, [i]);
    return;
  }
  const first = rows[0]!;
  assignText(vector, first, bytes);
  const entry = Buffer.from(vectorBytes(vector, 16 * (first + 1)).subarray(16 * first));
  let low = entry.readUInt32LE(8);
  let high = entry.readUInt32LE(12);
  let at = 12;
  low += 12;
  for (const [k, i] of rows.entries()) {
    const length = lengths ? lengths[k]! : texts[k]!.length;
    const to = 16 * i;
    entries.writeUInt32LE(length, to);
    if (length <= 12) bytes.copy(entries, to + 4, at, at + length);
    else {
      if (low >= 2 ** 32) {
        low -= 2 ** 32;
        high++;
      }
      bytes.copy(entries, to + 4, at, at + 4);
      entries.writeUInt32LE(low, to + 8);
      entries.writeUInt32LE(high, to + 12);
    }
    at += length;
    low += length;
  }
}

/** Reads texts out of vectors, one after the other. */
export interface TextReader {
  /** Appends the texts of `rows`, or all `n`, to `out`; null where the mask says so. Returns their characters. */
  read(
    vector: Vector,
    n: number,
    isNull: (i: number) => boolean,
    pick: Int32Array | undefined,
    out: (string | null)[],
  ): number;
}

export function textReader(): TextReader {
  const recent: string[] = [];
  const words = new Int32Array(4 * RECENT);
  return {
    read(vector, n, isNull, pick, out) {
      const memory = vectorBytes(vector, 16 * n);
      const entries = new Int32Array(memory.buffer, memory.byteOffset, 4 * n);
      const bytes = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
      let window: Window | undefined;
      let characters = 0;
      const count = pick ? pick.length : n;
      for (let j = 0; j < count; j++) {
        const i = pick ? pick[j]! : j;
        if (isNull(i)) {
          out.push(null);
          continue;
        }
        const length = entries[4 * i]!;
        let text: string;
        if (length <= 12) text = short(bytes, entries, i, length, recent, words);
        else {
          const start = address(entries, i);
          if (!window || start < window.start || start + length > window.end)
            window = windowFrom(bytes, entries, j, count, pick, isNull);
          text = window.bytes.toString('utf8', start - window.start, start - window.start + length);
        }
        out.push(text);
        characters += text.length;
      }
      return characters;
    },
  };
}

interface Window {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** Sees the text of row `j` and those after it that lie behind it, as far as one follows the other. */
function windowFrom(
  bytes: Buffer,
  entries: Int32Array,
  j: number,
  count: number,
  pick: Int32Array | undefined,
  isNull: (i: number) => boolean,
): Window {
  const first = pick ? pick[j]! : j;
  const start = address(entries, first);
  let end = start + entries[4 * first]!;
  for (let k = j + 1; k < count; k++) {
    const i = pick ? pick[k]! : k;
    if (isNull(i)) continue;
    const length = entries[4 * i]!;
    if (length <= 12) continue;
    const at = address(entries, i);
    if (at < start || at > end + GAP) break;
    end = Math.max(end, at + length);
  }
  return { start, end, bytes: pointedBytes(bytes, 16 * first + 8, end - start) };
}

/** Where a long text lies; user addresses are below 2^53. */
function address(entries: Int32Array, i: number): number {
  return (entries[4 * i + 2]! >>> 0) + (entries[4 * i + 3]! >>> 0) * 2 ** 32;
}

/** Slots for short texts seen before. */
const RECENT = 1024;

/** Short texts repeat (endings, policies, versions): the same 16 bytes are the same string. */
function short(
  bytes: Buffer,
  entries: Int32Array,
  i: number,
  length: number,
  recent: string[],
  words: Int32Array,
): string {
  if (length === 0) return '';
  const [a, b, c] = [entries[4 * i + 1]!, entries[4 * i + 2]!, entries[4 * i + 3]!];
  const slot =
    ((Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35) ^ length) >>> 16) %
    RECENT;
  const at = 4 * slot;
  if (words[at] === length && words[at + 1] === a && words[at + 2] === b && words[at + 3] === c)
    return recent[slot]!;
  const text = bytes.toString('utf8', 16 * i + 4, 16 * i + 4 + length);
  recent[slot] = text;
  words[at] = length;
  words[at + 1] = a;
  words[at + 2] = b;
  words[at + 3] = c;
  return text;
}
