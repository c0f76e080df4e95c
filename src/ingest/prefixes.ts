import { failure } from '../schema/error.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { ID_CONFLICT } from './episode-writer.ts';
import type { FileOptions } from './ingest-file.ts';
import type { KnownSource } from './known-source.ts';
import { CUT_ARRAY } from './record-blocks.ts';

/** What a source had brought before it is read again. */
export interface Stored {
  readonly episodes: number;
  readonly turns: number;
}
export const NONE_BEFORE: Stored = { episodes: 0, turns: 0 };

/** Rejects of a source whose episode_id another episode has. */
export async function conflictsOf(store: Store, source: number): Promise<number> {
  const [row] = await queryRows(
    store,
    `SELECT count(*) AS n FROM rejects WHERE source = $1 AND starts_with(reason, '${ID_CONFLICT}:')`,
    [source],
  );
  return row!.n as number;
}

/** Why a source was not read to its end, a JSON array that is none; undefined: it was. */
export async function cutOf(store: Store, source: number): Promise<string | undefined> {
  const [row] = await queryRows(
    store,
    `SELECT min(reason) AS reason FROM rejects WHERE source = $1 AND starts_with(reason, '${CUT_ARRAY}:')`,
    [source],
  );
  return (row?.reason as string | null) ?? undefined;
}

/** What was put before the ids of a source when it was read; '' for nothing. */
export async function prefixOf(store: Store, source: number): Promise<string> {
  const [row] = await queryRows(store, 'SELECT value FROM meta WHERE key = $1', [keyOf(source)]);
  return (row?.value as string | undefined) ?? '';
}

export async function rememberPrefix(store: Store, source: number, prefix: string): Promise<void> {
  await queryRows(store, 'DELETE FROM meta WHERE key = $1', [keyOf(source)]);
  await queryRows(store, 'INSERT INTO meta VALUES ($1, $2)', [keyOf(source), prefix]);
}

/** Removes what the store says of a source that has no episodes, or is about to be read again. */
export async function forgetSource(store: Store, source: number): Promise<void> {
  for (const table of ['rejects', 'sources'])
    await queryRows(store, `DELETE FROM ${table} WHERE source = $1`, [source]);
  await queryRows(store, 'DELETE FROM meta WHERE key = $1', [keyOf(source)]);
}

/**
 * Readies a source of which episodes were refused for their names to be read again under a prefix: those that it
 * did bring take the prefix too, so that its ids are of one kind, and meet themselves as copies.
 * @returns what it had brought
 */
export async function takenUp(
  store: Store,
  { source, path }: KnownSource,
  { prefix, ids }: FileOptions,
): Promise<Stored> {
  const before = await prefixOf(store, source);
  const renamed = 'SELECT $2 || substr(episode_id, $3) AS name FROM episodes WHERE source = $1';
  const values = [source, prefix, before.length + 1];
  const names = await queryRows(store, renamed, values);
  const [taken] = await queryRows(
    store,
    `SELECT episode_id FROM episodes WHERE source <> $1 AND episode_id IN (${renamed}) LIMIT 1`,
    values,
  );
  if (taken)
    throw failure({
      subject: path,
      wrong: `with the prefix "${prefix}" its ids are taken too`,
      got: `"${taken.episode_id as string}"`,
      fix: 'Give it another --id-prefix.',
    });
  await queryRows(
    store,
    'UPDATE episodes SET episode_id = $2 || substr(episode_id, $3) WHERE source = $1',
    values,
  );
  const known = await ids();
  for (const { name } of names) known.add(name as string);
  const [stored] = await queryRows(store, 'SELECT episodes, turns FROM sources WHERE source = $1', [source]);
  await forgetSource(store, source);
  return stored as unknown as Stored;
}

function keyOf(source: number): string {
  return `id_prefix/${source}`;
}
