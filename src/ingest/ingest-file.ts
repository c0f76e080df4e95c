import { statSync } from 'node:fs';
import { failure } from '../schema/error.ts';
import type { IngestedFile } from '../schema/ingest-result.ts';
import { appendBatch } from '../store/append.ts';
import type { Batch } from '../store/batch.ts';
import type { Store } from '../store/store.ts';
import { transaction } from '../store/transaction.ts';
import type { ActionClasses } from './action-class.ts';
import { type ByteSource, hashContent, hashFile, openBytes } from './byte-source.ts';
import { formatOf } from './format-of.ts';
import type { IdSet } from './id-set.ts';
import { STDIN } from './inputs.ts';
import { joinKnown } from './join-known.ts';
import { forgetFruitless, type KnownSource, knownSource, nextSource, sameSize } from './known-source.ts';
import type { FormatName } from './log-format.ts';
import type { Amend } from './parse-block.ts';
import {
  conflictsOf,
  cutOf,
  NONE_BEFORE,
  prefixOf,
  rememberPrefix,
  type Stored,
  takenUp,
} from './prefixes.ts';
import { type FileCounts, type FileNotes, readInto } from './read-into.ts';
import { oneLine } from './rejects.ts';
import { joinReward, type RewardJoin } from './rewards.ts';

export interface FileOptions {
  readonly format: FormatName | 'auto';
  readonly strict: boolean;
  /** Longest record, in bytes. */
  readonly maxBytes: number;
  readonly join?: RewardJoin | undefined;
  /** Goes before every episode_id; '' for none. */
  readonly prefix: string;
  /** Declares the action classes that the log has not. */
  readonly classes?: ActionClasses | undefined;
  readonly stdin: NodeJS.ReadableStream;
  /** Every file of the call, and what formats keep of them for it. */
  readonly given: readonly string[];
  readonly memo: Map<string, unknown>;
  /** A file of scores is not read yet: episodes may follow. */
  readonly postponeScores: boolean;
  /** Every episode_id of the store; grows. Asked for only where a file has episodes to add. */
  ids(): Promise<IdSet>;
  onProgress(episodes: number, bytes: number): void;
}

/** What became of a file, with what is worth a warning. */
export interface FileOutcome {
  readonly file: IngestedFile;
  readonly notes: FileNotes;
}

/** A file that is read once the others of the call are. */
export interface Postponed {
  read(): Promise<FileOutcome>;
}

type Identity = Pick<IngestedFile, 'path' | 'format' | 'bytes'> & {
  readonly sha256: string;
  readonly contentSha256: string;
};

/**
 * Reads one file into the store in one transaction: a process killed at any moment leaves the store as
 * before the file or as after it. Of a content that the store already holds, compressed or not, nothing is
 * added but the rewards that its episodes lack, and, where a prefix of their own is given now, the episodes that were
 * refused for their names; `again`: this is such a file, as it came in.
 */
export async function ingestFile(
  store: Store,
  path: string,
  options: FileOptions,
  again?: KnownSource,
): Promise<FileOutcome | Postponed> {
  const isFile = path !== STDIN;
  const size = isFile ? sizeOf(path) : 0;
  if (isFile && again === undefined && (await sameSize(store, size))) {
    const sha256 = await hashFile(path);
    const source = await knownSource(store, 'sha256', sha256, options.prefix);
    if (source) return known(store, source, { path, sha256, bytes: size }, options);
  }
  const source = await openBytes(path, isFile ? undefined : options.stdin);
  const { format, chunks } = await formatOf(path, source.chunks, options);
  if (format === null)
    return nothing({ path, format, sha256: source.sha256(), bytes: source.bytes }, 'empty');
  const opened = { source, format, chunks };
  if (format !== 'scores' || !options.postponeScores) return readOpened(store, path, opened, options, again);
  if (!isFile) return { read: () => readOpened(store, path, opened, options) };
  // Thousands of files of scores are not held open.
  for await (const _ of chunks) break;
  const now = { ...options, postponeScores: false };
  return { read: () => ingestFile(store, path, now) as Promise<FileOutcome> };
}

async function readOpened(
  store: Store,
  path: string,
  { source, format, chunks }: { source: ByteSource; format: FormatName; chunks: AsyncIterable<Uint8Array> },
  options: FileOptions,
  again?: KnownSource,
): Promise<FileOutcome> {
  const { join } = options;
  const isFile = path !== STDIN;
  const size = isFile ? sizeOf(path) : 0;
  const whole = isFile && WHOLE.has(format);
  const hashed = whole ? stateOf(path) : undefined;
  const hashes = whole ? await hashContent(path) : undefined;

  /** What is found only once the file is read, and undoes it. */
  let undone: FileOutcome | KnownSource | undefined;
  const undo = (why: FileOutcome | KnownSource): never => {
    undone = why;
    throw why;
  };
  const unmatched = join?.unmatchedEpisodes ?? 0;
  const identity = (): Identity => ({
    path,
    format,
    sha256: hashes?.sha256 ?? source.sha256(),
    contentSha256: hashes?.contentSha256 ?? source.contentSha256(),
    bytes: isFile ? size : source.bytes,
  });
  try {
    return await transaction(store, async () => {
      const before = again === undefined ? NONE_BEFORE : await takenUp(store, again, options);
      const number = again?.source ?? (await nextSource(store));
      const { counts: found, notes } = await readInto(store, number, {
        ...options,
        amend: amendments(options),
        path,
        format,
        chunks,
        size: isFile && !source.compressed ? size : undefined,
        sha256: hashes?.sha256 ?? '',
        bytes: () => source.bytes,
      });
      if (hashed !== undefined && stateOf(path) !== hashed)
        throw failure({ subject: path, wrong: 'was changed while it was read', fix: 'Ingest it again.' });
      const is = identity();
      const { cut, ...counts } = found;
      const there = again
        ? undefined
        : await knownSource(store, 'content_sha256', is.contentSha256, options.prefix);
      if (there) undo(there);
      const { rejects, duplicates, conflicts, firstRejects } = counts;
      if (counts.episodes + counts.scores + rejects + duplicates === 0)
        undo(nothing(is, counts.parts > 0 ? 'part' : 'empty'));
      if (options.strict && rejects > 0)
        undo(nothing(is, 'refused', { rejects, duplicates, conflicts, firstRejects }));
      await forgetFruitless(store, is.contentSha256);
      await appendBatch(store, sourceBatch(number, is, counts, before));
      if (options.prefix !== '') await rememberPrefix(store, number, options.prefix);
      const error = cut === undefined ? null : cutError(path, cut);
      const noticed = [...notes.noticed];
      if (before.episodes > 0)
        noticed.push({ code: 'ids-renamed', about: options.prefix, count: before.episodes });
      return { file: { ...nothing(is, 'added').file, ...counts, error }, notes: { ...notes, noticed } };
    });
  } catch (error) {
    if (undone === undefined || error !== undone) throw error;
  }
  if ('file' in undone) return undone;
  if (join) join.unmatchedEpisodes = unmatched;
  return known(store, undone, identity(), options);
}

/** What is added to every episode; undefined: nothing. */
function amendments({ join, classes }: FileOptions): Amend | undefined {
  if (join === undefined) return classes?.amend;
  return (episode) => joinReward(classes ? classes.amend(episode) : episode, join);
}

/** A file that failed: it is told, and the others go on. */
export function failed(path: string, error: string): FileOutcome {
  const outcome = nothing({ path, format: null, sha256: null, bytes: 0 }, 'failed');
  return { ...outcome, file: { ...outcome.file, error } };
}

/**
 * The file is in the store: rewards are joined to its episodes, where there are some to join. Episodes of it that were
 * refused for their names are told again, or, with a prefix that they can have, taken up.
 */
async function known(
  store: Store,
  source: KnownSource,
  is: Pick<IngestedFile, 'path' | 'sha256' | 'bytes'>,
  options: FileOptions,
): Promise<FileOutcome> {
  const { join } = options;
  const conflicts = await conflictsOf(store, source.source);
  const prefix = await prefixOf(store, source.source);
  if (conflicts > 0 && options.prefix !== '' && options.prefix !== prefix && is.path !== STDIN)
    return ingestFile(store, is.path, { ...options, postponeScores: false }, source) as Promise<FileOutcome>;
  const rewardsJoined = join
    ? await transaction(store, () => joinKnown(store, source.source, join, prefix || options.prefix))
    : 0;
  const outcome = nothing({ ...is, format: source.format }, 'known');
  const cut = await cutOf(store, source.source);
  const error = cut === undefined ? null : cutError(is.path, cut);
  return { ...outcome, file: { ...outcome.file, error, knownAs: source.path, rewardsJoined, conflicts } };
}

/** Nobody knows how many records are lost: that is no file read with a reject. */
function cutError(path: string, reason: string): string {
  return `${path === STDIN ? 'standard input' : path}: ${oneLine(reason)}: nothing behind that place was read. Mend the file, and ingest it again.`;
}

/** Formats that are not read in one pass over all their bytes: hashed by a pass of their own. */
const WHOLE: ReadonlySet<FormatName> = new Set<FormatName>(['parquet', 'arrow', 'tau-bench', 'chat', 'atif']);
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (cause) {
    throw failure({ subject: path, wrong: `cannot be read (${(cause as Error).message})`, cause });
  }
}

/** What tells whether a file is the one it was: its number, its length, when it was last written. */
function stateOf(path: string): string {
  const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
  return [dev, ino, size, mtimeNs].join(' ');
}

function nothing(
  { path, format, sha256, bytes }: Pick<IngestedFile, 'path' | 'format' | 'sha256' | 'bytes'>,
  status: IngestedFile['status'],
  found: Partial<Pick<FileCounts, 'rejects' | 'duplicates' | 'conflicts' | 'firstRejects'>> = {},
): FileOutcome {
  const file = {
    path,
    format,
    status,
    error: null,
    sha256,
    bytes,
    episodes: 0,
    turns: 0,
    scores: 0,
    rejects: 0,
    duplicates: 0,
    conflicts: 0,
    parts: 0,
    knownAs: null,
    rewardsJoined: 0,
    firstRejects: [],
    ...found,
  };
  return { file, notes: { endingsAssumed: 0, replaced: 0, positive: 0, noticed: [] } };
}

function sourceBatch(
  number: number,
  { path, format, sha256, contentSha256, bytes }: Identity,
  counts: FileCounts,
  before: Stored,
): Batch {
  return {
    table: 'sources',
    rows: 1,
    columns: {
      source: { kind: 'i32', values: Int32Array.of(number) },
      path: { kind: 'text', values: [path] },
      sha256: { kind: 'text', values: [sha256] },
      content_sha256: { kind: 'text', values: [contentSha256] },
      format: { kind: 'text', values: [format] },
      bytes: { kind: 'i64', values: Float64Array.of(bytes) },
      episodes: { kind: 'i32', values: Int32Array.of(before.episodes + counts.episodes) },
      turns: { kind: 'i64', values: Float64Array.of(before.turns + counts.turns) },
      rejects: { kind: 'i32', values: Int32Array.of(counts.rejects) },
      ingested_at: { kind: 'i64', values: Float64Array.of(Date.now() * 1000) },
    },
  };
}
