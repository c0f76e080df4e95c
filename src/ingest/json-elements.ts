/** A file that is not a complete JSON array: where it stops making sense. */
export class JsonArrayError extends Error {
  /** Byte offset in the decompressed file. */
  readonly offset: number;
  /** From 1. */
  readonly line: number;
  constructor(reason: string, offset: number, line: number) {
    super(`${reason} at line ${line}, byte ${offset}`);
    this.name = 'JsonArrayError';
    this.offset = offset;
    this.line = line;
  }
}

export interface JsonElement {
  /** The element's own bytes, without white space around it; null: larger than maxBytes. */
  readonly bytes: Uint8Array | null;
  /** Byte offset of its first byte in the file. */
  readonly offset: number;
  /** Line of its first byte, from 1. */
  readonly line: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BOM = [0xef, 0xbb, 0xbf];

/** Between elements: what may come next. */
type Expecting = 'array' | 'first' | 'element' | 'separator' | 'nothing';

/**
 * Splits a top-level JSON array into the bytes of its elements, whatever the chunk boundaries; a
 * UTF-8 byte order mark is skipped. Brackets are counted, not matched: what is wrong inside an
 * element is left to the parser of that element, and the elements after it still come out.
 * Memory: one element (at most maxBytes) and one chunk. Cost: one pass over the bytes.
 *
 * Throws JsonArrayError, after the elements before it, for anything but a comma between elements
 * and for a file that ends before its array does.
 */
export async function* splitElements(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<JsonElement, void, undefined> {
  let expecting: Expecting = 'array';
  const scan: Scan = { inside: false, scalar: false, inString: false, escaped: false, depth: 0 };
  let base = 0; // offset of the chunk in the file
  let line = 1;
  let start = { offset: 0, line: 1 }; // of the element being read
  let size = 0;
  let parts: Uint8Array[] = [];
  const take = (bytes: Uint8Array): void => {
    size += bytes.length;
    if (size > maxBytes) parts = [];
    else if (bytes.length > 0) parts.push(bytes);
  };

  for await (const chunk of chunks) {
    let counted = 0; // line breaks before it are in `line`
    let i = 0;
    while (i < chunk.length) {
      if (scan.inside) {
        const end = elementEnd(chunk, i, scan);
        take(chunk.subarray(i, end));
        i = end;
        if (scan.inside) break;
        yield { bytes: size > maxBytes ? null : joined(parts, size), ...start };
        parts = [];
        continue;
      }
      const byte = chunk[i]!;
      const offset = base + i;
      if (isSpace(byte) || (offset < 3 && byte === BOM[offset])) {
        i++;
        continue;
      }
      line += lineBreaks(chunk, counted, i);
      counted = i;
      if (expecting === 'array') {
        if (byte !== OPEN_ARRAY) throw unexpected(byte, "'[' to start the array", offset, line);
        expecting = 'first';
      } else if (expecting === 'nothing') {
        throw unexpected(byte, 'nothing after the end of the array', offset, line);
      } else if (byte === CLOSE_ARRAY && expecting !== 'element') {
        expecting = 'nothing';
      } else if (expecting === 'separator') {
        if (byte !== COMMA) throw unexpected(byte, "',' or ']' after an element", offset, line);
        expecting = 'element';
      } else {
        if (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)
          throw unexpected(byte, 'an element', offset, line);
        scan.inside = true;
        scan.scalar = byte !== QUOTE && byte !== OPEN_OBJECT && byte !== OPEN_ARRAY;
        size = 0;
        start = { offset, line };
        expecting = 'separator'; // once it has ended
        continue; // the scan takes its first byte
      }
      i++;
    }
    line += lineBreaks(chunk, counted, chunk.length);
    base += chunk.length;
  }
  if (scan.inside)
    throw new JsonArrayError('the file ends inside the element that starts', start.offset, start.line);
  if (expecting === 'array') throw new JsonArrayError("no '[': the file is empty", base, line);
  if (expecting !== 'nothing') throw new JsonArrayError("the file ends before the array's ']'", base, line);
}

/** Where in an element the scan is. */
interface Scan {
  inside: boolean;
  /** A number, true, false or null: ends before white space, a comma or a bracket. */
  scalar: boolean;
  inString: boolean;
  escaped: boolean;
  depth: number;
}

/** Index just behind the element, which is then no longer `inside`; or the chunk's length. */
function elementEnd(chunk: Uint8Array, from: number, scan: Scan): number {
  const n = chunk.length;
  let i = from;
  if (scan.scalar) {
    while (i < n && !isSpace(chunk[i]!) && chunk[i] !== COMMA && chunk[i] !== CLOSE_ARRAY) i++;
    scan.inside = i === n;
    return i;
  }
  let { depth, inString, escaped } = scan;
  while (i < n) {
    const byte = chunk[i++]!;
    if (inString) {
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) inString = false;
      else continue;
      if (inString || depth > 0) continue;
    } else if (byte === QUOTE) {
      inString = true;
      continue;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++;
      continue;
    } else if ((byte !== CLOSE_OBJECT && byte !== CLOSE_ARRAY) || --depth > 0) continue;
    scan.inside = false;
    break;
  }
  scan.depth = depth;
  scan.inString = inString;
  scan.escaped = escaped;
  return i;
}

function lineBreaks(chunk: Uint8Array, from: number, to: number): number {
  const part = chunk.subarray(from, to); // so that the search stops there
  let breaks = 0;
  for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) breaks++;
  return breaks;
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}

function unexpected(byte: number, expected: string, offset: number, line: number): JsonArrayError {
  const shown = byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `byte 0x${byte.toString(16)}`;
  return new JsonArrayError(`${shown} found, expected ${expected},`, offset, line);
}
