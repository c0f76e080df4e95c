import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { failure } from '../schema/error.ts';
import { peek } from './peek.ts';
import { isZstd, unzstd } from './zstd.ts';

/** A file as a stream of decompressed bytes; what it was on disk is known once they are all read. */
export interface ByteSource {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Of the bytes as stored, so that it equals what `sha256sum` says; once they are all read. */
  sha256(): string;
  /** Of the decompressed bytes; the same where nothing is compressed. */
  contentSha256(): string;
  /** Bytes as stored. */
  readonly bytes: number;
  /** Whether the chunks are other than what is stored. */
  readonly compressed: boolean;
}

const CHUNK = 1 << 20;

/**
 * Opens a file, or a stream that stands for it, for one pass: gzip and Zstandard are recognised by
 * their first bytes, whatever the name says.
 */
export async function openBytes(path: string, stream?: NodeJS.ReadableStream): Promise<ByteSource> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* raw(): AsyncGenerator<Uint8Array> {
    const input = stream ?? createReadStream(path, { highWaterMark: CHUNK });
    for await (const chunk of input as AsyncIterable<Uint8Array | string>) {
      const data = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      hash.update(data);
      bytes += data.length;
      yield data;
    }
  }
  const { head, chunks } = await peek(named(path, 'cannot be read', raw()), 4);
  const plain = decompressed(path, head, chunks);
  const contentHash = plain === chunks ? undefined : createHash('sha256');
  let sha256: string | undefined;
  let content: string | undefined;
  const own = () => (sha256 ??= hash.digest('hex'));
  return {
    chunks: contentHash ? hashed(contentHash, plain) : chunks,
    sha256: own,
    contentSha256: () => (content ??= contentHash?.digest('hex') ?? own()),
    get bytes() {
      return bytes;
    },
    compressed: contentHash !== undefined,
  };
}

/** sha256 of a file as stored, by a pass of its own. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of named(path, 'cannot be read', createReadStream(path, { highWaterMark: CHUNK })))
    hash.update(chunk);
  return hash.digest('hex');
}

/** Both hashes of a file, by a pass of its own. */
export async function hashContent(path: string): Promise<{ sha256: string; contentSha256: string }> {
  const source = await openBytes(path);
  for await (const _ of source.chunks);
  return { sha256: source.sha256(), contentSha256: source.contentSha256() };
}

async function* hashed(hash: Hash, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

function decompressed(
  path: string,
  head: Uint8Array,
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (head[0] === 0x1f && head[1] === 0x8b) return named(path, 'is not valid gzip', gunzip(chunks));
  if (isZstd(head)) return named(path, 'is not valid Zstandard', unzstd(chunks));
  return chunks;
}

async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const out = createGunzip({ chunkSize: 1 << 18 });
  pipeline(Readable.from(chunks, { objectMode: false }), out, () => undefined);
  yield* out;
}

/** The same chunks; an error on the way names the file. */
async function* named(
  path: string,
  wrong: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    if (error instanceof Error && error.name === 'TurnwiseError') throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'Z_BUF_ERROR' ? 'it ends too early' : (message ?? String(error)).split('\n')[0];
    throw failure({
      subject: path === '-' ? 'standard input' : path,
      wrong: `${wrong} (${why})`,
      cause: error,
    });
  }
}
