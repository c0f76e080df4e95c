import { statSync } from 'node:fs';
import { failure } from '../schema/error.ts';
import type { IngestedFile, RejectedRecord } from '../schema/ingest-result.ts';
import { appendBatch } from '../store/append.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { arrowRows } from './arrow-rows.ts';
import { inlineParser, threadParser } from './block-parser.ts';
import { canonicalBlocks } from './canonical-blocks.ts';
import { episodeWriter } from './episode-writer.ts';
import { canonicalRecords, recordFormats } from './formats/formats.ts';
import type { IdSet } from './id-set.ts';
import { STDIN } from './inputs.ts';
import type { FormatName } from './log-format.ts';
import { type FormatNote, noteCounts } from './notes.ts';
import { parquetRows } from './parquet-rows.ts';
import type { Amend, ParsedBlock } from './parse-block.ts';
import { peek } from './peek.ts';
import { CUT_ARRAY, recordBlocks } from './record-blocks.ts';
import { HEAD_BYTES, unitOf } from './record-unit.ts';
import { oneLine, type Reject, rejectBatch } from './rejects.ts';
import type { RewardJoin } from './rewards.ts';
import { rowBlocks } from './row-blocks.ts';
import { scoreBlocks } from './score-blocks.ts';
import { scoreWriter } from './score-writer.ts';

/** A file of a known format, ready to be read once. */
export interface OpenFile {
  readonly path: string;
  readonly format: FormatName;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Bytes of `chunks`, where they are known before they are read. */
  readonly size?: number | undefined;
  /** Empty where it is known only at the end. */
  readonly sha256: string;
  readonly strict: boolean;
  readonly maxBytes: number;
  readonly amend?: Amend | undefined;
  /** The rewards that `amend` joins. */
  readonly join?: RewardJoin | undefined;
  /** Goes before every episode_id; '' for none. */
  readonly prefix: string;
  readonly given: readonly string[];
  readonly memo: Map<string, unknown>;
  /** Bytes read so far. */
  bytes(): number;
  ids(): Promise<IdSet>;
  onProgress(episodes: number, bytes: number): void;
}

export type FileCounts = Pick<
  IngestedFile,
  | 'episodes'
  | 'turns'
  | 'scores'
  | 'rejects'
  | 'duplicates'
  | 'conflicts'
  | 'parts'
  | 'rewardsJoined'
  | 'firstRejects'
> & {
  /** Where the file is no whole JSON array: what it holds behind that place is not read. */
  readonly cut?: string | undefined;
};

/** What of a file is worth a warning. */
export interface FileNotes {
  /** Endings settled by rule, in canonical records only: other formats leave them open by nature. */
  readonly endingsAssumed: number;
  /** Texts with half a surrogate pair. */
  readonly replaced: number;
  /** Log-probabilities above 0. */
  readonly positive: number;
  /** What the reader of the format noticed, by code and subject. */
  readonly noticed: readonly FormatNote[];
}

/** Rejects that are shown with the result. */
const SHOWN = 5;
/** A file this large is parsed in a thread of its own, which costs some 50 ms to start. */
const THREAD_BYTES = 16 << 20;

const TIMES = 'started_at and ended_at before 1685 or after 2254';

const CANONICAL: ReadonlySet<FormatName> = new Set<FormatName>(['canonical', 'parquet', 'arrow']);

/** Appends what a file holds, within its transaction; of what --strict will undo anyway, nothing more. */
export async function readInto(
  store: Store,
  source: number,
  file: OpenFile,
): Promise<{ readonly counts: FileCounts; readonly notes: FileNotes }> {
  const rejects = rejectCounter(store, source);
  const given = () => ({ rejects: rejects.count, firstRejects: rejects.first, cut: rejects.cut });
  const lost = () => file.strict && rejects.count > 0;
  if (file.format === 'scores') {
    const writer = scoreWriter(store, source, file.prefix);
    const noticed = noteCounts();
    for await (const block of scoreBlocks(file.chunks, file.maxBytes)) {
      noticed.add(block.notes);
      await rejects.add(block.rejects);
      if (!lost()) await rejects.add(await writer.write(block.scores));
      file.onProgress(writer.scores, file.bytes());
    }
    const { scores, positive } = writer;
    return {
      counts: {
        episodes: 0,
        turns: 0,
        scores,
        duplicates: 0,
        conflicts: 0,
        parts: 0,
        rewardsJoined: 0,
        ...given(),
      },
      notes: { endingsAssumed: 0, replaced: 0, positive, noticed: noticed.list() },
    };
  }
  const [row] = await queryRows(store, 'SELECT coalesce(max(episode) + 1, 0) AS next FROM episodes');
  const { prefix, join } = file;
  const firstEpisode = row!.next as number;
  const writer = episodeWriter(store, { source, firstEpisode, ids: await file.ids(), prefix, join });
  let endingsAssumed = 0;
  let positive = 0;
  let parts = 0;
  const noticed = noteCounts();
  for await (const parsed of await episodeBlocks(file)) {
    await rejects.add(parsed.rejects);
    if (!lost()) await rejects.add(await writer.write(parsed.block));
    if (CANONICAL.has(file.format)) endingsAssumed += parsed.block.endingsAssumed;
    positive += parsed.block.positive;
    parts += parsed.parts ?? 0;
    noticed.add(parsed.notes);
    if (parsed.block.timesLeftOut > 0)
      noticed.add([{ code: 'field-left-out', about: TIMES, count: parsed.block.timesLeftOut }]);
    file.onProgress(writer.episodes, file.bytes());
  }
  const { episodes, turns, duplicates, conflicts, rewardsJoined, replaced } = writer;
  return {
    counts: { episodes, turns, scores: 0, duplicates, conflicts, parts, rewardsJoined, ...given() },
    notes: { endingsAssumed, replaced, positive, noticed: noticed.list() },
  };
}

async function episodeBlocks(file: OpenFile): Promise<AsyncIterable<ParsedBlock>> {
  const { path, format, maxBytes, amend } = file;
  if (format === 'canonical') {
    const { head, chunks } = await peek(file.chunks, HEAD_BYTES);
    if (unitOf(head, canonicalRecords.units) !== 'line')
      return recordBlocks({ ...file, chunks }, canonicalRecords);
    const large = path === STDIN || statSync(path).size >= THREAD_BYTES;
    const parser = large && !amend ? threadParser(maxBytes) : inlineParser(maxBytes, amend);
    return canonicalBlocks(chunks, maxBytes, parser);
  }
  if (format === 'arrow') return rowBlocks(arrowRows(path, file.chunks, file.size), amend);
  if (format === 'parquet') {
    if (path === STDIN)
      throw failure({
        subject: 'standard input',
        wrong: 'Parquet is not read from a stream',
        fix: 'Name a file.',
      });
    return rowBlocks(parquetRows(path), amend);
  }
  return recordBlocks(file, recordFormats.find((f) => f.name === format)!);
}

/** Writes rejects to their table, counts them and keeps the first for the result. */
function rejectCounter(store: Store, source: number) {
  const first: RejectedRecord[] = [];
  let count = 0;
  let cut: string | undefined;
  return {
    get cut() {
      return cut;
    },
    first: first as readonly RejectedRecord[] as RejectedRecord[],
    get count() {
      return count;
    },
    async add(rejects: readonly Reject[]): Promise<void> {
      if (rejects.length === 0) return;
      await appendBatch(store, rejectBatch(source, rejects));
      count += rejects.length;
      cut ??= rejects.find(({ reason }) => reason.startsWith(`${CUT_ARRAY}:`))?.reason;
      for (const { line, byteOffset, reason, excerpt } of rejects.slice(0, SHOWN - first.length))
        first.push({ line: orNull(line), byteOffset: orNull(byteOffset), reason: oneLine(reason), excerpt });
    },
  };
}

function orNull(n: number): number | null {
  return Number.isNaN(n) ? null : n;
}
