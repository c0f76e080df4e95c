import { ENDINGS } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import type { ColumnData } from '../store/batch.ts';
import { BROKEN_SEQUENCES } from '../store/pieces.ts';
import { queryRows, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { TABLES, type TableName } from '../store/tables.ts';

/** Tables whose rows lie in the order of these columns. */
const ORDER: Readonly<Partial<Record<TableName, readonly string[]>>> = {
  episodes: ['episode'],
  turns: ['episode', 'turn'],
  segments: ['episode', 'segment', 'piece'],
};

/**
 * What every store that was ingested holds to, and rows from outside may not: names used once, episodes dense
 * from 0, turns and segments in order, nothing that refers to a missing episode or source.
 * O(rows) over narrow columns; for use before the transaction that added them ends.
 */
export async function checkTables(store: Store): Promise<void> {
  for (const [table, columns] of Object.entries(ORDER)) await checkOrder(store, table, columns);
  const [dense] = await queryRows(
    store,
    'SELECT count(*) AS n, coalesce(max(episode) + 1, 0) AS next FROM episodes',
  );
  if (dense!.n !== dense!.next)
    throw wrong('episodes', `${dense!.n} episodes are not numbered 0 to ${(dense!.n as number) - 1}`);
  await none(
    store,
    'SELECT episode_id AS value FROM episodes GROUP BY episode_id HAVING count(*) > 1',
    'episodes',
    'an episode_id stands twice',
  );
  await none(
    store,
    'SELECT source AS value FROM sources GROUP BY source HAVING count(*) > 1',
    'sources',
    'a source stands twice',
  );
  await none(
    store,
    `SELECT ending AS value FROM episodes WHERE ending NOT IN (${ENDINGS.map((e) => `'${e}'`).join(', ')})`,
    'episodes',
    `an ending is none of ${ENDINGS.join(', ')}`,
  );
  for (const [table, columns] of Object.entries(TABLES))
    for (const [name, owner] of [
      ['episode', 'episodes'],
      ['source', 'sources'],
    ] as const)
      if (table !== owner && columns.some((c) => c.name === name))
        await none(
          store,
          `SELECT ${name} AS value FROM ${table} ANTI JOIN ${owner} USING (${name})`,
          table,
          `refers to ${name === 'episode' ? 'an episode' : 'a source'} that is not there`,
          `Import table "${owner}" with it.`,
        );
  for (const [table, sql] of Object.entries(BROKEN_SEQUENCES))
    await none(store, sql, table, 'a sequence is not whole: pieces are missing or cut, of episode number');
  await checkTurns(store);
  await none(
    store,
    `SELECT c.critic AS value FROM critics c
     LEFT JOIN (SELECT critic, count(*) AS n FROM turn_values GROUP BY critic) v USING (critic)
     WHERE coalesce(v.n, 0) <> c.turns`,
    'turn_values',
    'does not hold the values that table "critics" counts, of critic',
    'Export again, and import tables "critics" and "turn_values" of the same export together, or neither.',
  );
}

/** Every episode has as many turns as it says: rows that were lost on the way leave no other trace. */
async function checkTurns(store: Store): Promise<void> {
  const [found] = await queryRows(
    store,
    `SELECT e.episode_id AS id, e.n_turns AS said, coalesce(t.n, 0) AS n, count(*) OVER () AS episodes
     FROM episodes e LEFT JOIN (SELECT episode, count(*) AS n FROM turns GROUP BY episode) t USING (episode)
     WHERE coalesce(t.n, 0) <> e.n_turns ORDER BY e.episode LIMIT 1`,
  );
  if (!found) return;
  const { id, said, n, episodes } = found;
  throw failure({
    subject: 'table "turns"',
    wrong: `does not hold the turns that table "episodes" counts, of ${episodes} ${episodes === 1 ? 'episode' : 'episodes'}`,
    got: `${n} of episode "${id}"`,
    expected: `${said}`,
    fix: 'The export is not whole: export again, and import tables "episodes" and "turns" of the same export together.',
  });
}

async function none(store: Store, sql: string, table: string, what: string, fix?: string): Promise<void> {
  const [found] = await queryRows(store, `${sql} LIMIT 1`);
  if (found) throw wrong(table, what, String(found.value), fix);
}

/** Ascending, none twice. */
async function checkOrder(store: Store, table: string, columns: readonly string[]): Promise<void> {
  const before = columns.map(() => -1);
  for await (const chunk of scan(store, `SELECT ${columns.join(', ')} FROM ${table}`)) {
    const keys = columns.map((name) => numbers(chunk.columns[name]!));
    for (let i = 0; i < chunk.rows; i++) {
      let k = 0;
      while (k + 1 < keys.length && keys[k]![i] === before[k]) k++;
      if (keys[k]![i]! <= before[k]!)
        throw wrong(
          table,
          `its rows are not in the order of ${columns.join(' and ')}`,
          columns.map((name, c) => `${name} ${keys[c]![i]}`).join(', '),
        );
      for (let c = 0; c < keys.length; c++) before[c] = keys[c]![i]!;
    }
  }
}

function numbers(data: ColumnData): Float64Array | Int32Array {
  return (data as { values: Float64Array | Int32Array }).values;
}

function wrong(table: string, what: string, got?: string, fix?: string) {
  return failure({ subject: `table "${table}"`, wrong: what, got, fix });
}
