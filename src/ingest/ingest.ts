import { failure, TurnwiseError } from '../schema/error.ts';
import type { IngestedFile, IngestResult } from '../schema/ingest-result.ts';
import type { Warning } from '../schema/warning.ts';
import { scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { type ActionClasses, actionClasses } from './action-class.ts';
import { type IdSet, idSet } from './id-set.ts';
import { type FileOutcome, failed, ingestFile, type Postponed } from './ingest-file.ts';
import { findInputs, type Inputs } from './inputs.ts';
import { FORMAT_NAMES, type FormatName } from './log-format.ts';
import { noteCounts, noteMessage } from './notes.ts';
import { firstUnmatched, type RewardJoin, readRewards, unmatchedKeys } from './rewards.ts';

export interface IngestOptions {
  /** Default 'auto': each file is looked at. */
  readonly format?: FormatName | 'auto' | undefined;
  /** Any reject refuses its file: nothing of it is kept. Default false. */
  readonly strict?: boolean | undefined;
  /** A file of rewards to join by episode; see `readRewards`. */
  readonly rewards?: string | undefined;
  /** Goes before every episode_id of these files, scores and rewards alike, so that runs whose ids start over keep apart. */
  readonly idPrefix?: string | undefined;
  /** Longest record, in MB of 2^20 bytes; longer ones are rejected. Default 64. */
  readonly maxRecordMb?: number | undefined;
  /** What the input `-` reads. Default: standard input of the process. */
  readonly stdin?: NodeJS.ReadableStream | undefined;
  /** What declares the action class of turns that have none: `tool`, `column:NAME`, `/PATTERN/`; see `actionClasses`. */
  readonly actionClass?: string | undefined;
  readonly onProgress?: ((progress: IngestProgress) => void) | undefined;
  /** What became of a file, once its transaction is over. */
  readonly onFile?: ((file: IngestedFile) => void) | undefined;
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
 * a file known by its content adds nothing but rewards that its episodes lack. Scores are read after all episodes of the
 * call. A file that cannot be read, or is not recognised, has status `failed` and its error in the result; the others go
 * on. Memory does not grow with the files, but for eight to sixteen bytes an episode that tell whether its name is taken.
 * @throws failures: a missing input, rewards that cannot be read, the store itself (a full disk, another writer).
 *   Files before that stay ingested.
 */
export async function ingest(
  store: Store,
  inputs: readonly string[],
  options: IngestOptions = {},
): Promise<IngestResult> {
  return ingestInputs(
    store,
    await findInputs(inputs, { store: store.path, rewards: options.rewards }),
    options,
  );
}

/** The same, of inputs that have been found. */
export async function ingestInputs(
  store: Store,
  { paths, unreadable, own }: Inputs,
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
  const join = options.rewards === undefined ? undefined : await readRewards(options.rewards);
  let ids: Promise<IdSet> | undefined;
  const classes = options.actionClass === undefined ? undefined : actionClasses(options.actionClass);
  const outcomes: FileOutcome[] = [];
  /** Scores, whose episodes may come with a later file. */
  const postponed: { readonly k: number; readonly read: Postponed['read'] }[] = [];
  const memo = new Map<string, unknown>();
  const told = async <T>(path: string, reading: Promise<T>): Promise<T | FileOutcome> =>
    reading.catch((error: unknown) => {
      // What is wrong with the store is wrong for every file.
      if (!(error instanceof TurnwiseError) || error.message.startsWith(`${store.path}: `)) throw error;
      return failed(path, error.message);
    });
  const done = (k: number, outcome: FileOutcome) => {
    outcomes[k] = outcome;
    options.onFile?.(outcome.file);
  };
  for (const [k, path] of paths.entries()) {
    const wrong = unreadable.get(path);
    if (wrong !== undefined) {
      done(k, failed(path, wrong));
      continue;
    }
    const reading = ingestFile(store, path, {
      format,
      strict,
      maxBytes: Math.floor(maxRecordMb * 2 ** 20),
      join,
      prefix: options.idPrefix ?? '',
      classes,
      stdin: options.stdin ?? process.stdin,
      given: paths,
      memo,
      postponeScores: k < paths.length - 1,
      ids: () => (ids ??= storedIds(store)),
      onProgress: (records, bytes) => options.onProgress?.({ path, records, bytes }),
    });
    const outcome = await told(path, reading);
    if ('read' in outcome) postponed.push({ k, read: outcome.read });
    else done(k, outcome);
  }
  for (const { k, read } of postponed) done(k, (await told(paths[k]!, read())) as FileOutcome);
  const files = outcomes.map((o) => o.file);
  const total = (name: 'episodes' | 'turns' | 'scores' | 'rejects' | 'duplicates' | 'conflicts') =>
    files.reduce((n, f) => n + f[name], 0);
  return {
    store: store.path,
    files,
    episodes: total('episodes'),
    turns: total('turns'),
    scores: total('scores'),
    rejects: total('rejects'),
    duplicates: total('duplicates'),
    conflicts: total('conflicts'),
    warnings: warningsOf(outcomes, files, join, own, classes),
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
  own: readonly string[],
  classes: ActionClasses | undefined,
): Warning[] {
  const warnings: Warning[] = own.map((path) => ({
    code: 'own-file-skipped',
    message: `${path}: is the store that is written, or its reward file: not read as a log`,
  }));
  const warn = (code: string, count: number, one: string, many: string) => {
    if (count > 0) warnings.push({ code, message: count === 1 ? one : many, count });
  };
  const total = (name: 'endingsAssumed' | 'replaced' | 'positive') =>
    outcomes.reduce((n, o) => n + o.notes[name], 0);
  const assumed = '`terminated` where rewarded, else `unfinished`';
  warn(
    'ending-assumed',
    total('endingsAssumed'),
    `episode does not say how it ended: ${assumed}`,
    `episodes do not say how they ended: ${assumed}`,
  );
  warn(
    'lone-surrogates',
    total('replaced'),
    'text holds half a surrogate pair, which UTF-8 cannot: stored as U+FFFD',
    'texts hold half a surrogate pair, which UTF-8 cannot: stored as U+FFFD',
  );
  warn(
    'logprob-positive',
    total('positive'),
    'log-probability is above 0, and no probability exceeds 1: "turnwise check" tells where',
    'log-probabilities are above 0, and no probability exceeds 1: "turnwise check" tells where',
  );
  const noticed = noteCounts();
  for (const { notes } of outcomes) noticed.add(notes.noticed);
  noticed.add(join?.notes);
  for (const note of noticed.list()) {
    const message = noteMessage(note);
    warn(note.code, note.count!, message, message);
  }
  const without = 'that the declaration gives no action class';
  const known = classes === undefined ? 0 : files.filter((f) => f.status === 'known').length;
  const keep =
    'stored already: its turns keep the action classes they have, or none; for others ingest into a new store';
  warn('action-class-unused', known, `file is ${keep}`, `files are ${keep.replace('its', 'their')}`);
  warn('action-class-missing', classes?.turns.without ?? 0, `turn ${without}`, `turns ${without}`);
  for (const file of files)
    if (file.status === 'empty')
      warnings.push({ code: 'empty-file', message: `${file.path}: holds no record` });
  if (join && files.some((f) => f.status === 'added' || f.status === 'known')) {
    const { path, unmatchedEpisodes } = join;
    warn(
      'reward-missing',
      unmatchedEpisodes,
      `episode without a row in ${path}`,
      `episodes without a row in ${path}`,
    );
    const unused = unmatchedKeys(join);
    const first = firstUnmatched(join);
    warn(
      'reward-unused',
      unused,
      `row of ${path} that meets no episode: ${JSON.stringify(first)}`,
      `rows of ${path} that meet no episode, the first ${JSON.stringify(first)}`,
    );
  }
  return warnings;
}
