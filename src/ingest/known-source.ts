import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { forgetSource } from './prefixes.ts';

/** Whether a file of this size has come in: one that has not is not known. */
export async function sameSize(store: Store, bytes: number): Promise<boolean> {
  return (await queryRows(store, 'SELECT 1 FROM sources WHERE bytes = $1 LIMIT 1', [bytes])).length > 0;
}

/** What a file left that added nothing: it may later (a continuation beside it, a reward for an episode it is a copy of). */
const FRUITLESS = `episodes = 0 AND NOT EXISTS (SELECT 1 FROM scores WHERE scores.source = sources.source)`;

/** How a content came into the store. */
export interface KnownSource {
  readonly source: number;
  readonly path: string;
  readonly format: string;
}

/** Scores under another prefix are of other episodes, whatever their bytes. */
const OF_PREFIX = `(format <> 'scores' OR coalesce((SELECT value FROM meta WHERE key = 'id_prefix/' || source), '') = $2)`;

/** The source of this content, where the store holds something of it; of scores, under this prefix. */
export async function knownSource(
  store: Store,
  column: 'sha256' | 'content_sha256',
  hash: string,
  prefix: string,
): Promise<KnownSource | undefined> {
  const [row] = await queryRows(
    store,
    `SELECT source, path, format FROM sources WHERE ${column} = $1 AND ${OF_PREFIX} AND NOT (${FRUITLESS}) LIMIT 1`,
    [hash, prefix],
  );
  return row as unknown as KnownSource | undefined;
}

/** Forgets an earlier reading of this content that gave nothing but rejects. */
export async function forgetFruitless(store: Store, hash: string): Promise<void> {
  const sql = `SELECT source FROM sources WHERE content_sha256 = $1 AND ${FRUITLESS}`;
  for (const { source } of await queryRows(store, sql, [hash])) await forgetSource(store, source as number);
}

export async function nextSource(store: Store): Promise<number> {
  const [row] = await queryRows(store, 'SELECT coalesce(max(source) + 1, 0)::INTEGER AS source FROM sources');
  return row!.source as number;
}
