import { excerpt, type Reject } from './rejects.ts';

/** Some whole lines of a file. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** Line number of the first, from 1. */
  readonly line: number;
  /** Where the block starts in the decompressed file. */
  readonly byteOffset: number;
  /** The file ends without a line end, in this block. */
  readonly unterminated: boolean;
  /** Lines before or after it that are longer than a record may be. */
  readonly tooLong: readonly Reject[];
}

/** Bytes in a block: enough to pay for handing it to a worker. */
const BLOCK = 4 << 20;
/** Lines in a block: each may become a reject, a thousand times its size. */
const LINES = 8192;
const NEWLINE = 10;

/**
 * Cuts a file into blocks of whole lines. A line beyond `maxBytes` is passed over, told with its
 * place, without holding more of it than that. A UTF-8 byte order mark at the start is left out.
 */
export async function* lineBlocks(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<LineBlock> {
  const size = Math.min(BLOCK, Math.max(maxBytes, 1024));
  let buffer = Buffer.allocUnsafeSlow(size);
  let used = 0;
  let line = 1;
  let byteOffset = 0;
  let long: { line: number; byteOffset: number; excerpt: string } | undefined;
  let tooLong: Reject[] = [];

  /** The lines up to `end`, as one block, or as several where they are many; the rest stays for the next. */
  function blocks(end: number, unterminated: boolean): LineBlock[] {
    const pieces = piecesOf(buffer, end);
    const made = pieces.map(({ from, to, lines }, k): LineBlock => {
      const start = from === 0 && byteOffset === 0 && isMark(buffer, end) ? 3 : from;
      const block: LineBlock = {
        // Alone it takes the memory with it: blocks change hands between threads.
        bytes: pieces.length === 1 ? buffer.subarray(start, to) : copied(buffer.subarray(start, to)),
        line,
        byteOffset: byteOffset + start,
        unterminated: unterminated && k === pieces.length - 1,
        tooLong: k === 0 ? tooLong : [],
      };
      line += lines;
      return block;
    });
    tooLong = [];
    byteOffset += end;
    const next = Buffer.allocUnsafeSlow(Math.max(size, used - end));
    buffer.copy(next, 0, end, used);
    buffer = next;
    used -= end;
    return made;
  }
  function endLong(bytes: number): void {
    const reason = `record is ${bytes} bytes long, more than the limit of ${maxBytes} (--max-record-mb)`;
    tooLong.push({ ...long!, reason });
    long = undefined;
  }

  for await (const chunk of chunks) {
    let from = 0;
    while (from < chunk.length) {
      if (long) {
        const end = chunk.indexOf(NEWLINE, from);
        const to = end < 0 ? chunk.length : end + 1;
        byteOffset += to - from;
        from = to;
        if (end < 0) continue;
        line++;
        endLong(byteOffset - 1 - long.byteOffset);
        if (tooLong.length === LINES) yield* blocks(0, false);
        continue;
      }
      const taken = Math.min(chunk.length - from, buffer.length - used);
      buffer.set(chunk.subarray(from, from + taken), used);
      used += taken;
      from += taken;
      if (used < buffer.length) continue;
      const end = buffer.lastIndexOf(NEWLINE, used - 1) + 1;
      if (end > 0) yield* blocks(end, false);
      else if (used > maxBytes) {
        long = { line, byteOffset, excerpt: excerpt(buffer) };
        byteOffset += used;
        used = 0;
        buffer = Buffer.allocUnsafeSlow(size);
      } else {
        const wider = Buffer.allocUnsafeSlow(Math.min(2 * buffer.length, maxBytes + 1));
        buffer.copy(wider, 0, 0, used);
        buffer = wider;
      }
    }
  }
  if (long) endLong(byteOffset - long.byteOffset);
  if (used > 0 || tooLong.length > 0) yield* blocks(used, used > 0 && buffer[used - 1] !== NEWLINE);
}

function isMark(bytes: Buffer, end: number): boolean {
  return end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Pieces of whole lines, `LINES` at most in each, with how many line ends each holds; one at least. */
function piecesOf(bytes: Buffer, end: number): { from: number; to: number; lines: number }[] {
  const pieces: { from: number; to: number; lines: number }[] = [];
  let from = 0;
  let lines = 0;
  for (let p = bytes.indexOf(NEWLINE); p >= 0 && p < end; p = bytes.indexOf(NEWLINE, p + 1)) {
    if (++lines < LINES) continue;
    pieces.push({ from, to: p + 1, lines });
    from = p + 1;
    lines = 0;
  }
  if (from < end || pieces.length === 0) pieces.push({ from, to: end, lines });
  return pieces;
}

function copied(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
