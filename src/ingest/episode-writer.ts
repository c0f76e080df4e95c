import { appendBatch } from '../store/append.ts';
import type { Batch } from '../store/batch.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { EpisodeBlock } from './episode-columns.ts';
import type { IdSet } from './id-set.ts';
import type { Reject } from './rejects.ts';
import { selectRows } from './select-rows.ts';
import { tokenWindow } from './token-window.ts';

/** Appends the episodes of one file, numbered on from those the store holds. */
export interface EpisodeWriter {
  /** Appends a block, but for episodes whose name is taken: those come back as rejects. */
  write(block: EpisodeBlock): Promise<readonly Reject[]>;
  readonly episodes: number;
  readonly turns: number;
  /** Episodes left out because another file has brought one of their name. */
  readonly duplicates: number;
  /** Texts whose lone surrogates were replaced by U+FFFD. */
  readonly replaced: number;
}

const STORED = ' is already in the store';

/** For use within the transaction of the file. `ids` holds every name in the store, and grows. */
export function episodeWriter(store: Store, source: number, firstEpisode: number, ids: IdSet): EpisodeWriter {
  let episodes = 0;
  let turns = 0;
  let duplicates = 0;
  let replaced = 0;
  const window = tokenWindow(store);
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
    get replaced() {
      return replaced;
    },
    async write(block) {
      const taken = await takenIds(store, source, block, ids);
      const kept = taken.size === 0 ? block : without(block, taken);
      const base = firstEpisode + episodes;
      const columns = { ...kept.episodes.columns, source: filled(source, kept.episodes.rows) };
      for (const batch of [{ ...kept.episodes, columns }, kept.turns, kept.segments]) {
        shift(batch, base);
        replaced += (await appendBatch(store, batch)).replaced;
      }
      await window.add(kept.segments);
      episodes += kept.episodes.rows;
      turns += kept.turns.rows;
      for (const reason of taken.values()) if (reason.endsWith(STORED)) duplicates++;
      return [...taken].map(([row, reason]) => ({
        line: block.lines[row]!,
        byteOffset: block.byteOffsets[row]!,
        reason,
        excerpt: '',
      }));
    },
  };
}

/** Rows of the block whose episode_id is taken, each with the reason. */
async function takenIds(
  store: Store,
  source: number,
  { episodes }: EpisodeBlock,
  ids: IdSet,
): Promise<ReadonlyMap<number, string>> {
  const taken = new Map<number, string>();
  if (episodes.rows === 0) return taken;
  const names = texts(episodes, 'episode_id');
  const suspects = names.map((_, row) => row).filter((row) => ids.add(names[row]!));
  if (suspects.length === 0) return taken;
  const known = await queryRows(
    store,
    'SELECT episode_id, source FROM episodes WHERE episode_id IN (SELECT unnest($1))',
    [suspects.map((row) => names[row]!)],
  );
  const sources = new Map(known.map((r) => [r.episode_id as string, r.source as number]));
  const first = new Map<string, number>();
  names.forEach((name, row) => {
    if (!first.has(name)) first.set(name, row);
  });
  for (const row of suspects) {
    const name = names[row]!;
    const at = sources.get(name);
    if (at === source || (at === undefined && first.get(name) !== row))
      taken.set(row, `episode_id: "${name}" occurs before in this file`);
    else if (at !== undefined) taken.set(row, `episode_id: "${name}"${STORED}`);
  }
  return taken;
}

function without(block: EpisodeBlock, taken: ReadonlyMap<number, string>): EpisodeBlock {
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
