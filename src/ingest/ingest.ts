import { failure } from '../schema/error.ts';
import type { IngestedFile, IngestResult } from '../schema/ingest-result.ts';
import type { Warning } from '../schema/warning.ts';
import { scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { type IdSet, idSet } from './id-set.ts';
import { type FileOutcome, ingestFile } from './ingest-file.ts';
import { findInputs } from './inputs.ts';
import { FORMAT_NAMES, type FormatName } from './log-format.ts';
import { joinReward, type RewardJoin, readRewards, unmatchedKeys } from './rewards.ts';

export interface IngestOptions {
  /** Default 'auto': each file is looked at. */
  readonly format?: FormatName | 'auto' | undefined;
  /** Any reject refuses its file: nothing of it is kept. Default false. */
  readonly strict?: boolean | undefined;
  /** A file of rewards to join by episode; see `readRewards`. */
  readonly rewards?: string | undefined;
  /** Longest record, in MB of 2^20 bytes; longer ones are rejected. Default 64. */
  readonly maxRecordMb?: number | undefined;
  /** What the input `-` reads. Default: standard input of the process. */
  readonly stdin?: NodeJS.ReadableStream | undefined;
  readonly onProgress?: ((progress: IngestProgress) => void) | undefined;
}

export interface IngestProgress {
  readonly path: string;
  /** Episodes or scores of this file so far. */
  readonly records: number;
  /** Bytes of this file read so far, as stored. */
  readonly bytes: number;
}

export const MAX_RECORD_MB = 64;

/**
 * Reads log files into a store: names, globs, or `-`; gzip and Zstandard too. One transaction a file;
 * a file known by its content adds nothing. Memory does not grow with the files, but for eight to
 * sixteen bytes an episode that tell whether its name is taken.
 * @throws failures: an input that is missing or not recognised, a compressed file that ends too early.
 *   Files before it stay ingested, nothing of it is kept.
 */
export async function ingest(
  store: Store,
  inputs: readonly string[],
  options: IngestOptions = {},
): Promise<IngestResult> {
  const { format = 'auto', strict = false, maxRecordMb = MAX_RECORD_MB } = options;
  if (format !== 'auto' && !FORMAT_NAMES.includes(format))
    throw failure({
      subject: 'format',
      wrong: 'unknown',
      got: `"${format}"`,
      expected: `auto, ${FORMAT_NAMES.join(', ')}`,
      exitCode: 2,
    });
  const paths = await findInputs(inputs);
  const join = options.rewards === undefined ? undefined : await readRewards(options.rewards);
  let ids: Promise<IdSet> | undefined;
  const outcomes: FileOutcome[] = [];
  for (const path of paths) {
    outcomes.push(
      await ingestFile(store, path, {
        format,
        strict,
        maxBytes: Math.floor(maxRecordMb * 2 ** 20),
        amend: join && ((episode) => joinReward(episode, join)),
        stdin: options.stdin ?? process.stdin,
        ids: () => (ids ??= storedIds(store)),
        onProgress: (records, bytes) => options.onProgress?.({ path, records, bytes }),
      }),
    );
  }
  const files = outcomes.map((o) => o.file);
  const total = (name: 'episodes' | 'turns' | 'scores' | 'rejects') => files.reduce((n, f) => n + f[name], 0);
  return {
    store: store.path,
    files,
    episodes: total('episodes'),
    turns: total('turns'),
    scores: total('scores'),
    rejects: total('rejects'),
    warnings: warningsOf(outcomes, files, join),
  };
}

/** Every name in the store, for telling duplicates. O(episodes). */
async function storedIds(store: Store): Promise<IdSet> {
  const ids = idSet();
  for await (const chunk of scan(store, 'SELECT episode_id FROM episodes'))
    for (const id of (chunk.columns.episode_id as { values: readonly (string | null)[] }).values)
      ids.add(id!);
  return ids;
}

function warningsOf(
  outcomes: readonly FileOutcome[],
  files: readonly IngestedFile[],
  join: RewardJoin | undefined,
): Warning[] {
  const warnings: Warning[] = [];
  const warn = (code: string, count: number, message: string) => {
    if (count > 0) warnings.push({ code, message, count });
  };
  warn(
    'ending-assumed',
    outcomes.reduce((n, o) => n + o.endingsAssumed, 0),
    'episodes do not say how they ended: `terminated` assumed where a reward is present, else `unfinished`',
  );
  warn(
    'lone-surrogates',
    outcomes.reduce((n, o) => n + o.replaced, 0),
    'texts hold half a surrogate pair, which UTF-8 cannot: stored as U+FFFD',
  );
  for (const file of files)
    if (file.status === 'empty')
      warnings.push({ code: 'empty-file', message: `${file.path}: holds no record` });
  if (join && files.some((f) => f.status === 'added')) {
    warn('reward-missing', join.unmatchedEpisodes, `episodes without a row in ${join.path}`);
    warn('reward-unused', unmatchedKeys(join), `rows of ${join.path} that meet no episode`);
  }
  return warnings;
}
