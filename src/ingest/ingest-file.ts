import { statSync } from 'node:fs';
import { failure } from '../schema/error.ts';
import type { IngestedFile } from '../schema/ingest-result.ts';
import { appendBatch } from '../store/append.ts';
import type { Batch } from '../store/batch.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { transaction } from '../store/transaction.ts';
import { hashFile, openBytes } from './byte-source.ts';
import { detectFormat, HEAD_BYTES } from './detect.ts';
import type { IdSet } from './id-set.ts';
import { STDIN } from './inputs.ts';
import type { FormatName } from './log-format.ts';
import type { Amend } from './parse-block.ts';
import { peek } from './peek.ts';
import { type FileCounts, readInto } from './read-into.ts';

export interface FileOptions {
  readonly format: FormatName | 'auto';
  readonly strict: boolean;
  /** Longest record, in bytes. */
  readonly maxBytes: number;
  readonly amend?: Amend | undefined;
  readonly stdin: NodeJS.ReadableStream;
  /** Every episode_id of the store; grows. Asked for only where a file has episodes to add. */
  ids(): Promise<IdSet>;
  onProgress(episodes: number, bytes: number): void;
}

/** What became of a file, with what is worth a warning. */
export interface FileOutcome {
  readonly file: IngestedFile;
  readonly endingsAssumed: number;
  readonly replaced: number;
}

type Identity = Pick<IngestedFile, 'path' | 'format' | 'sha256' | 'bytes'>;

/**
 * Reads one file into the store in one transaction: a process killed at any moment leaves the store as
 * before the file or as after it. A content that the store already holds adds nothing.
 */
export async function ingestFile(store: Store, path: string, options: FileOptions): Promise<FileOutcome> {
  const isFile = path !== STDIN;
  let sha256 = isFile && (await sameSize(store, statSync(path).size)) ? await hashFile(path) : undefined;
  if (sha256 !== undefined) {
    const known = await knownFormat(store, sha256);
    if (known) return nothing({ path, format: known, sha256, bytes: statSync(path).size }, 'known');
  }
  const source = await openBytes(path, isFile ? undefined : options.stdin);
  const { format, chunks } = await formatOf(path, source.chunks, options);
  if (format === null)
    return nothing({ path, format, sha256: source.sha256(), bytes: source.bytes }, 'empty');
  if (isFile && WHOLE.has(format)) sha256 ??= await hashFile(path);

  let undone: FileOutcome | undefined;
  const undo = (outcome: FileOutcome): never => {
    undone = outcome;
    throw outcome;
  };
  try {
    return await transaction(store, async () => {
      const number = await nextSource(store);
      const bytes = () => source.bytes;
      const counts = await readInto(store, number, {
        ...options,
        path,
        format,
        chunks,
        sha256: sha256 ?? '',
        bytes,
      });
      sha256 ??= source.sha256();
      const size = isFile ? statSync(path).size : source.bytes;
      const identity = { path, format, sha256, bytes: size };
      const known = await knownFormat(store, sha256);
      if (known) undo(nothing({ ...identity, format: known }, 'known'));
      const { rejects, firstRejects } = counts;
      if (options.strict && rejects > 0) undo(nothing(identity, 'refused', { rejects, firstRejects }));
      await appendBatch(store, sourceBatch(number, identity, counts));
      const { endingsAssumed, replaced, ...rest } = counts;
      return { file: { ...identity, status: 'added', ...rest }, endingsAssumed, replaced };
    });
  } catch (error) {
    if (undone !== undefined && error === undone) return undone;
    throw error;
  }
}

/** Formats that are not read in one pass over all their bytes: hashed by a pass of their own. */
const WHOLE: ReadonlySet<FormatName> = new Set<FormatName>(['parquet', 'arrow', 'tau-bench', 'chat', 'atif']);
/** A document or an array may have a first record beyond the head. */
const WIDE_HEAD_BYTES = 64 << 20;

/** null: an empty file. */
async function formatOf(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  options: FileOptions,
): Promise<{ format: FormatName | null; chunks: AsyncIterable<Uint8Array> }> {
  const { head, chunks } = await peek(bytes, HEAD_BYTES);
  if (head.every(isSpace)) return { format: null, chunks };
  if (options.format !== 'auto') return { format: options.format, chunks };
  const format = detectFormat(path, head);
  if (format !== undefined) return { format, chunks };
  const wide = await peek(chunks, WIDE_HEAD_BYTES);
  const found = wide.head.length > head.length ? detectFormat(path, wide.head) : undefined;
  if (found === undefined)
    throw failure({
      subject: path === STDIN ? 'standard input' : path,
      wrong: 'its format is not recognised',
      fix: 'Name it with --format.',
    });
  return { format: found, chunks: wide.chunks };
}

function isSpace(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}

async function sameSize(store: Store, bytes: number): Promise<boolean> {
  return (await queryRows(store, 'SELECT 1 FROM sources WHERE bytes = $1 LIMIT 1', [bytes])).length > 0;
}

/** The format the content was read in, where the store holds it. */
async function knownFormat(store: Store, sha256: string): Promise<string | undefined> {
  const [row] = await queryRows(store, 'SELECT format FROM sources WHERE sha256 = $1 LIMIT 1', [sha256]);
  return row?.format as string | undefined;
}

async function nextSource(store: Store): Promise<number> {
  const [row] = await queryRows(store, 'SELECT coalesce(max(source) + 1, 0)::INTEGER AS source FROM sources');
  return row!.source as number;
}

function nothing(
  identity: Identity,
  status: IngestedFile['status'],
  found: Partial<Pick<FileCounts, 'rejects' | 'firstRejects'>> = {},
): FileOutcome {
  const file = {
    ...identity,
    status,
    episodes: 0,
    turns: 0,
    scores: 0,
    rejects: 0,
    firstRejects: [],
    ...found,
  };
  return { file, endingsAssumed: 0, replaced: 0 };
}

function sourceBatch(number: number, { path, format, sha256, bytes }: Identity, counts: FileCounts): Batch {
  return {
    table: 'sources',
    rows: 1,
    columns: {
      source: { kind: 'i32', values: Int32Array.of(number) },
      path: { kind: 'text', values: [path] },
      sha256: { kind: 'text', values: [sha256] },
      format: { kind: 'text', values: [format] },
      bytes: { kind: 'i64', values: Float64Array.of(bytes) },
      episodes: { kind: 'i32', values: Int32Array.of(counts.episodes) },
      turns: { kind: 'i64', values: Float64Array.of(counts.turns) },
      rejects: { kind: 'i32', values: Int32Array.of(counts.rejects) },
      ingested_at: { kind: 'i64', values: Float64Array.of(Date.now() * 1000) },
    },
  };
}
