import { appendBatch } from '../store/append.ts';
import type { Batch } from '../store/batch.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { EpisodeBlock } from './episode-columns.ts';
import { differencesFromStored, differenceWithin, type Joined, logNames, pathsOf } from './episode-copies.ts';
import type { IdSet } from './id-set.ts';
import { joinCopies } from './join-known.ts';
import type { Reject } from './rejects.ts';
import type { RewardJoin } from './rewards.ts';
import { rowWindow } from './row-window.ts';
import { selectRows } from './select-rows.ts';

/** Appends the episodes of one file, numbered on from those the store holds. */
export interface EpisodeWriter {
  /** Appends a block, but for episodes whose name is taken: by a copy, or by another episode, which makes a reject. */
  write(block: EpisodeBlock): Promise<readonly Reject[]>;
  readonly episodes: number;
  readonly turns: number;
  /** Episodes left out because they are in the store, or earlier in the file, as they are here. */
  readonly duplicates: number;
  /** Rejects: another episode has their name. */
  readonly conflicts: number;
  /** Stored episodes that gained a reward, because a copy of them came with one from the reward file. */
  readonly rewardsJoined: number;
  /** Texts whose lone surrogates were replaced by U+FFFD. */
  readonly replaced: number;
}

export interface WriterOptions {
  readonly source: number;
  readonly firstEpisode: number;
  /** Every name in the store; grows. */
  readonly ids: IdSet;
  /** Goes before every episode_id. */
  readonly prefix: string;
  /** Rewards that the blocks have been given. */
  readonly join: RewardJoin | undefined;
}

/** For use within the transaction of the file. */
export function episodeWriter(store: Store, options: WriterOptions): EpisodeWriter {
  const { source, firstEpisode, ids, prefix, join } = options;
  let episodes = 0;
  let turns = 0;
  let duplicates = 0;
  let conflicts = 0;
  let rewardsJoined = 0;
  let replaced = 0;
  const window = rowWindow(store);
  return {
    get episodes() {
      return episodes;
    },
    get turns() {
      return turns;
    },
    get duplicates() {
      return duplicates;
    },
    get conflicts() {
      return conflicts;
    },
    get rewardsJoined() {
      return rewardsJoined;
    },
    get replaced() {
      return replaced;
    },
    async write(given) {
      const block = prefix === '' ? given : prefixed(given, prefix);
      const { taken, copied } = await takenNames(store, block, ids, (row) => joinedTo(given, row, join));
      const kept = taken.size === 0 ? block : without(block, taken);
      const base = firstEpisode + episodes;
      const columns = { ...kept.episodes.columns, source: filled(source, kept.episodes.rows) };
      for (const batch of [{ ...kept.episodes, columns }, kept.turns, kept.segments]) {
        shift(batch, base);
        replaced += (await appendBatch(store, batch)).replaced;
        await window.add(batch);
      }
      episodes += kept.episodes.rows;
      turns += kept.turns.rows;
      if (join && copied.length > 0) rewardsJoined += await joinCopies(store, copied, join, prefix);
      const rejects = [...taken].filter(([, reason]) => reason !== COPY);
      duplicates += taken.size - rejects.length;
      conflicts += rejects.length;
      return rejects.map(([row, reason]) => ({
        line: block.lines[row]!,
        byteOffset: block.byteOffsets[row]!,
        reason,
        excerpt: '',
      }));
    },
  };
}

/** In place of a reason: the episode is there as it is. */
const COPY = '';
/** Begins the reason of a reject: another episode has its name. */
export const ID_CONFLICT = 'id-conflict';

/** Rows of the block whose episode_id is taken, each with the reason; and the stored episodes that some are copies of. */
async function takenNames(
  store: Store,
  block: EpisodeBlock,
  ids: IdSet,
  joined: (row: number) => Joined | undefined,
): Promise<{ readonly taken: ReadonlyMap<number, string>; readonly copied: readonly number[] }> {
  const taken = new Map<number, string>();
  const copied = new Set<number>();
  if (block.episodes.rows === 0) return { taken, copied: [] };
  const names = texts(block.episodes, 'episode_id');
  const suspects = names.map((_, row) => row).filter((row) => ids.add(names[row]!));
  if (suspects.length === 0) return { taken, copied: [] };
  const known = await queryRows(
    store,
    'SELECT episode_id, episode, source FROM episodes WHERE episode_id IN (SELECT unnest($1))',
    [suspects.map((row) => names[row]!)],
  );
  const stored = new Map(
    known.map((r) => [r.episode_id as string, { episode: r.episode as number, source: r.source as number }]),
  );
  const there = new Map(
    suspects.flatMap((row) => {
      const at = stored.get(names[row]!);
      return at === undefined ? [] : [[row, at.episode] as const];
    }),
  );
  if (there.size > 0) {
    const paths = await pathsOf(
      store,
      known.map((r) => r.source as number),
    );
    for (const [row, difference] of await differencesFromStored(store, block, there, joined)) {
      const { episode, source } = stored.get(names[row]!)!;
      taken.set(row, reasonOf(names[row]!, difference, paths.get(source) ?? 'this file'));
      if (difference === undefined) copied.add(episode);
    }
  }
  const first = new Map<string, number>();
  names.forEach((name, row) => {
    if (!first.has(name)) first.set(name, row);
  });
  for (const row of suspects) {
    const earlier = first.get(names[row]!)!;
    if (there.has(row) || earlier === row) continue;
    taken.set(row, reasonOf(names[row]!, differenceWithin(block, row, earlier), 'this file'));
  }
  return { taken, copied: [...copied] };
}

function reasonOf(name: string, difference: string | undefined, where: string): string {
  if (difference === undefined) return COPY;
  return `${ID_CONFLICT}: episode_id "${name}" is that of another episode, from ${where} (its ${difference} differs); ids that start over in every file need --id-prefix`;
}

/** What the reward file says of a row of the block, before a prefix. */
function joinedTo({ episodes }: EpisodeBlock, row: number, join: RewardJoin | undefined): Joined | undefined {
  if (join === undefined) return undefined;
  const meta = episodes.columns.meta as { values: readonly (string | null)[] } | undefined;
  const names = logNames(texts(episodes, 'episode_id')[row]!, meta?.values[row] ?? null);
  return names.map((name) => join.entries.get(name)).find((entry) => entry !== undefined);
}

function prefixed(block: EpisodeBlock, prefix: string): EpisodeBlock {
  const { episodes } = block;
  if (episodes.rows === 0) return block;
  const values = texts(episodes, 'episode_id').map((name) => prefix + name);
  const columns = { ...episodes.columns, episode_id: { kind: 'text', values } as const };
  return { ...block, episodes: { ...episodes, columns } };
}

function without(block: EpisodeBlock, taken: ReadonlyMap<number, unknown>): EpisodeBlock {
  const place = new Float64Array(block.episodes.rows).fill(-1);
  let kept = 0;
  for (let row = 0; row < place.length; row++) if (!taken.has(row)) place[row] = kept++;
  const cut = (batch: Batch): Batch => {
    if (batch.rows === 0) return batch;
    const episode = numbers(batch, 'episode');
    const rows: number[] = [];
    for (let i = 0; i < batch.rows; i++) if (place[episode[i]!]! >= 0) rows.push(i);
    const out = selectRows(batch, Int32Array.from(rows));
    const renumbered = numbers(out, 'episode');
    for (let i = 0; i < out.rows; i++) renumbered[i] = place[renumbered[i]!]!;
    return out;
  };
  return { ...block, episodes: cut(block.episodes), turns: cut(block.turns), segments: cut(block.segments) };
}

function shift(batch: Batch, base: number): void {
  if (batch.rows === 0) return;
  const episode = numbers(batch, 'episode');
  for (let i = 0; i < batch.rows; i++) episode[i]! += base;
}

function filled(value: number, rows: number) {
  return { kind: 'i32', values: new Int32Array(rows).fill(value) } as const;
}

function numbers(batch: Batch, name: string): Float64Array {
  return (batch.columns[name] as { values: Float64Array }).values;
}

function texts(batch: Batch, name: string): readonly string[] {
  return (batch.columns[name] as { values: readonly string[] }).values;
}
