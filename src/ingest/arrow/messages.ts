import { open } from 'node:fs/promises';
import type { ByteReader } from '../byte-reader.ts';
import { type FlatTable, flatRoot } from './flatbuffer.ts';

/** One message of Arrow's IPC format: of `kind` SCHEMA, DICTIONARY or BATCH. */
export interface Message {
  readonly kind: number;
  readonly header: FlatTable;
  readonly body: Uint8Array;
}

export const [SCHEMA, DICTIONARY, BATCH] = [1, 2, 3];
export const MAGIC = 'ARROW1';

/** Bytes of the head of one message, or of a footer; a schema of 10,000 columns has 2 MB. */
const MAX_HEAD = 256 << 20;
/** Bytes of one record batch: what an array of bytes can hold everywhere. */
const MAX_BODY = 2 ** 32;

/** The messages of a stream, up to the marker of its end. `head`: its first bytes, which were taken already. */
export async function* streamMessages(
  bytes: ByteReader,
  head: Uint8Array,
  size: number,
): AsyncGenerator<Message, void> {
  let ahead = head;
  const take = async (n: number): Promise<Uint8Array> => {
    const first = ahead.subarray(0, n);
    ahead = ahead.subarray(first.length);
    if (first.length === n) return first;
    const rest = await bytes.take(n - first.length);
    return first.length === 0 ? rest : Buffer.concat([first, rest]);
  };
  const word = async () => int32(await take(4).catch(() => cut('it is cut: no marker of its end')));
  for (;;) {
    let length = await word();
    if (length === -1) length = await word(); // before Arrow 0.15 there was no -1
    if (length === 0) break;
    if (length < 0 || length > MAX_HEAD) throw new Error(`a message says its head has ${length} bytes`);
    const message = flatRoot(await take(length));
    const body = bodyBytes(message, size - bytes.position);
    // Where the length of the file is known the body is there; else memory follows what comes.
    const held = size < Number.POSITIVE_INFINITY ? await bytes.takeOwn(body) : await bytes.take(body);
    yield messageOf(message, held);
  }
  if ((await bytes.atMost(1)).length > 0) throw new Error('something stands behind the marker of its end');
}

/** Bytes that can be read at any place. */
export interface ByteRange {
  readonly size: number;
  /** Memory of its own, for typed arrays to lie on. */
  read(at: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export async function fileRange(path: string): Promise<ByteRange> {
  const file = await open(path);
  const { size } = await file.stat();
  return {
    size,
    async read(at, length) {
      const bytes = new Uint8Array(length);
      for (let used = 0; used < length; ) {
        const { bytesRead } = await file.read(bytes, used, Math.min(length - used, 1 << 30), at + used);
        if (bytesRead === 0) cut('it is cut');
        used += bytesRead;
      }
      return bytes;
    },
    close: () => file.close(),
  };
}

export function memoryRange(bytes: Uint8Array): ByteRange {
  return {
    size: bytes.length,
    read: async (at, length) => bytes.slice(at, at + length),
    close: async () => undefined,
  };
}

/** What may stand between the last message of a file and its footer: the marker of the end, bytes to fill up. */
const MAX_GAP = 256;

/**
 * The footer of a file: behind its messages, before its length and the magic.
 * @throws where it is not that of the whole file: of two written one behind the other it is the second's, and its places
 *   lie in the first
 */
export async function footerOf(range: ByteRange): Promise<FlatTable> {
  const { size } = range;
  const end = size - MAGIC.length - 4;
  if (end < 8) cut('it is cut: it does not end as an Arrow file does');
  const tail = await range.read(end, 4 + MAGIC.length);
  if (Buffer.from(tail.subarray(4)).toString('latin1') !== MAGIC)
    cut('it is cut: it does not end as an Arrow file does');
  const length = int32(tail);
  if (length <= 0 || length > end - 8 || length > MAX_HEAD)
    throw new Error(`its footer says it has ${length} bytes`);
  const footer = flatRoot(await range.read(end - length, length));
  const blocks = [...footer.blocks(2), ...footer.blocks(3)];
  const last = blocks.reduce((most, [at, head, body]) => Math.max(most, at + head + body), 0);
  const messages = blocks.length > 0 ? last : await schemaEnd(range);
  if (end - length - messages > MAX_GAP)
    throw new Error(
      `its footer names nothing of bytes ${messages} to ${end - length}: more than one Arrow file, one behind the other?`,
    );
  return footer;
}

/** Where the message ends that begins a file, its schema. */
async function schemaEnd(range: ByteRange): Promise<number> {
  const start = await range.read(8, 8);
  const marked = int32(start) === -1;
  return 8 + (marked ? 8 + int32(start.subarray(4)) : 4 + int32(start));
}

/** The messages of a file where its footer says they lie: dictionaries, then record batches. */
export async function* fileMessages(range: ByteRange, footer: FlatTable): AsyncGenerator<Message, void> {
  for (const [field, kind] of [
    [2, DICTIONARY],
    [3, BATCH],
  ] as const)
    for (const [offset, headLength, bodyLength] of footer.blocks(field)) {
      if (
        offset < 8 ||
        headLength < 8 ||
        headLength > MAX_HEAD ||
        bodyLength < 0 ||
        offset + headLength + bodyLength > range.size
      )
        throw new Error(
          `its footer names a message at bytes ${offset} to ${offset + headLength + bodyLength} of ${range.size}`,
        );
      const head = await range.read(offset, headLength);
      const message = flatRoot(head.subarray(int32(head) === -1 ? 8 : 4));
      const body = bodyBytes(message, range.size - offset - headLength);
      const made = messageOf(message, await range.read(offset + headLength, body));
      if (made.kind !== kind || body !== bodyLength)
        throw new Error('its footer and its messages do not agree');
      yield made;
    }
}

function bodyBytes(message: FlatTable, left: number): number {
  const length = message.int64(3, 0);
  if (length < 0 || length > MAX_BODY || length > left)
    throw new Error(`it is cut, or a message lies: its body has ${length} bytes`);
  return length;
}

function messageOf(message: FlatTable, body: Uint8Array): Message {
  const header = message.table(2);
  if (!header) throw new Error('a message is empty');
  return { kind: message.byte(1, 0), header, body };
}

function int32(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
}

function cut(wrong: string): never {
  throw new Error(wrong);
}
