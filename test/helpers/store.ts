import { episodeColumns } from '../../src/ingest/episode-columns.ts';
import { Episode, type EpisodeInput } from '../../src/schema/episode.ts';
import { appendBatch } from '../../src/store/append.ts';
import { openStore, type Store } from '../../src/store/store.ts';

/** A store in memory that holds these episodes, as one source; `fenced` by episode id. */
export async function storeOf(
  episodes: Iterable<EpisodeInput>,
  fenced: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Promise<Store> {
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  await fill(store, episodes, fenced);
  return store;
}

/** Writes these episodes to an empty store. */
export async function fill(
  store: Store,
  episodes: Iterable<EpisodeInput>,
  fenced: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Promise<void> {
  const columns = episodeColumns();
  for (const input of episodes) {
    const episode = Episode.parse(input);
    columns.add(episode, { line: columns.rows + 1, byteOffset: 0 }, undefined, fenced[episode.episode_id]);
  }
  const { episodes: rows, turns, segments } = columns.finish();
  const source = { kind: 'i32', values: new Int32Array(rows.rows) } as const;
  await appendBatch(store, { ...rows, columns: { ...rows.columns, source } });
  await appendBatch(store, turns);
  await appendBatch(store, segments);
}

/** Runs SQL on a store, to plant what no log reader would let in. */
export async function plant(store: Store, sql: string): Promise<void> {
  await store.connection.run(sql);
}
