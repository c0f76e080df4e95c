import { Decompress } from 'fzstd';
import xxhash from 'xxhash-wasm';
import { type ByteReader, byteReader } from './byte-reader.ts';

/**
 * Zstandard (RFC 8878) in a stream, frame after frame; skippable frames are passed over. What a frame says of itself is
 * held against what comes out: its checksum (the lower half of XXH64, where the writer put one, as `zstd` does), its
 * length, the limits of its blocks. A frame without a checksum and a length cannot be told from a damaged one.
 * @throws errors: cut short, damaged, something behind the last frame, a dictionary needed, a window beyond 128 MiB
 */
export async function* unzstd(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const bytes = byteReader(chunks);
  try {
    for (let frames = 0; ; frames++) {
      const magic = await bytes.atMost(4);
      if (magic.length === 0 && frames > 0) return;
      if (magic.length === 4 && isSkippable(magic)) await bytes.skip(u32(await bytes.take(4)));
      else if (magic.length === 4 && u32(magic) === MAGIC) yield* frame(bytes);
      else if (frames > 0) throw new Error('something that is no Zstandard stands behind its last frame');
      else throw new Error('it ends too early');
    }
  } finally {
    await bytes.close();
  }
}

/** Whether a file starts as Zstandard does; some writers put a skippable frame first. */
export function isZstd(head: Uint8Array): boolean {
  return head.length >= 4 && (u32(head) === MAGIC || isSkippable(head));
}

const MAGIC = 0xfd2fb528;
/** What `zstd -d` takes without being told to take more. */
const MAX_WINDOW = 128 << 20;
const MAX_BLOCK = 128 << 10;
const RLE = 1;
const COMPRESSED = 2;
const RESERVED = 3;
const NOTHING = new Uint8Array(0);
/** The decoder passes over it without a look. */
const NO_CHECKSUM = new Uint8Array(4);

async function* frame(bytes: ByteReader): AsyncGenerator<Uint8Array> {
  const header = await frameHeader(bytes);
  const hash = header.checksum ? (await xxhash()).create64() : undefined;
  let length = 0;
  let out: Uint8Array[] = [];
  const decoder = new Decompress((data) => {
    if (data.length > 0) out.push(data);
  });
  decoder.push(header.bytes);
  for (let last = false; !last; ) {
    const start = await bytes.take(3);
    const field = start[0]! | (start[1]! << 8) | (start[2]! << 16);
    last = (field & 1) === 1;
    const type = (field >> 1) & 3;
    const size = field >> 3;
    if (type === RESERVED || size > MAX_BLOCK) throw new Error('a block is of no known kind, or too long');
    if (type !== COMPRESSED && length + size > (header.length ?? Number.POSITIVE_INFINITY))
      throw tooLong(header);
    decoder.push(start);
    decoder.push(await bytes.take(type === RLE ? 1 : size));
    if (last) decoder.push(header.checksum ? NO_CHECKSUM : NOTHING, true);
    for (const data of out) {
      length += data.length;
      if (length > (header.length ?? Number.POSITIVE_INFINITY)) throw tooLong(header);
      hash?.update(data);
      yield data;
    }
    out = [];
  }
  if (header.length !== undefined && length !== header.length)
    throw new Error(`a frame holds ${length} bytes, and declares ${header.length}`);
  if (hash && u32(await bytes.take(4)) !== Number(hash.digest() & 0xffffffffn))
    throw new Error('the checksum of its content is wrong: it is damaged');
}

function tooLong({ length }: FrameHeader): Error {
  return new Error(`a frame holds more than the ${length} bytes it declares`);
}

interface FrameHeader {
  readonly bytes: Uint8Array;
  readonly window: number;
  /** Of the content, where the frame declares it. */
  readonly length: number | undefined;
  readonly checksum: boolean;
}

async function frameHeader(bytes: ByteReader): Promise<FrameHeader> {
  const descriptor = (await bytes.take(1))[0]!;
  const single = (descriptor & 32) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  const lengthBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  const rest = await bytes.take((single ? 0 : 1) + dictionaryBytes + lengthBytes);
  if (descriptor & 8) throw new Error('a reserved bit is set');
  let at = 0;
  const exponent = single ? 0 : rest[at++]!;
  const dictionary = little(rest, at, dictionaryBytes);
  if (dictionary !== 0) throw new Error(`it needs dictionary ${dictionary}, which is not in it`);
  const declared = little(rest, at + dictionaryBytes, lengthBytes) + (lengthBytes === 2 ? 256 : 0);
  const base = 2 ** (10 + (exponent >> 3));
  const window = single ? declared : base + (base / 8) * (exponent & 7);
  if (window > MAX_WINDOW)
    throw new Error(
      `its window is ${window} bytes, more than ${MAX_WINDOW}: compress it without --long or --ultra`,
    );
  return {
    bytes: Uint8Array.of(...MAGIC_BYTES, descriptor, ...rest),
    window,
    length: lengthBytes === 0 ? undefined : declared,
    checksum: (descriptor & 4) !== 0,
  };
}

const MAGIC_BYTES = [0x28, 0xb5, 0x2f, 0xfd] as const;

function isSkippable(head: Uint8Array): boolean {
  return (u32(head) & 0xfffffff0) >>> 0 === 0x184d2a50;
}

function u32(bytes: Uint8Array): number {
  return little(bytes, 0, 4);
}

function little(bytes: Uint8Array, at: number, n: number): number {
  let value = 0;
  for (let k = n - 1; k >= 0; k--) value = value * 256 + bytes[at + k]!;
  return value;
}
