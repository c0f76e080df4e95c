import { writeFileSync } from 'node:fs';
import { ingest } from '../../src/ingest/ingest.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { openStore } from '../../src/store/store.ts';

/** Writes PATH.jsonl and the store PATH.duckdb that it gives. */
export async function storeFileOf(path: string, episodes: readonly EpisodeInput[]): Promise<void> {
  writeFileSync(`${path}.jsonl`, episodes.map((e) => `${JSON.stringify(e)}\n`).join(''));
  const store = await openStore(`${path}.duckdb`, { mode: 'create' });
  try {
    await ingest(store, [`${path}.jsonl`]);
  } finally {
    store.close();
  }
}
