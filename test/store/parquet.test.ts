import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { appendBatch } from '../../src/store/append.ts';
import { exportParquet, importParquet } from '../../src/store/parquet.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { TableName } from '../../src/store/tables.ts';
import { arbitraryTable, batchOf } from './arbitrary-batch.ts';

let store: Store;
let folder: string;
beforeAll(async () => {
  store = await openStore(':memory:', { mode: 'create' });
  folder = mkdtempSync(join(tmpdir(), "turnwise-it's-parquet-"));
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const emptied = (table: TableName) => store.connection.run(`DELETE FROM ${table}`);
const rowsIn = (table: TableName) => queryRows(store, `SELECT * FROM ${table}`);

describe('store → Parquet → store is the identity', () => {
  test.prop([arbitraryTable], { numRuns: 30 })('any table, any rows', async ({ table, rows }) => {
    const path = join(folder, 'table.parquet');
    await emptied(table);
    await appendBatch(store, batchOf(table, rows));
    expect(await exportParquet(store, table, path)).toEqual({ rows: rows.length });
    await emptied(table);
    expect(await importParquet(store, table, path)).toEqual({ rows: rows.length });
    expect(await rowsIn(table)).toEqual(rows);
  });

  test('in shards by task: no task is cut through, and the order comes back', async () => {
    const episodes = Array.from({ length: 300 }, (_, i) => ({
      episode: i,
      episode_id: `e${i}`,
      source: 0,
      task_id: i % 10 === 0 ? null : `task ${i % 17}`,
      ending: 'terminated',
      n_turns: 2,
    }));
    const turns = episodes.flatMap((e) =>
      [0, 1].map((turn) => ({ episode: e.episode, turn, reward: e.episode / 7 })),
    );
    await emptied('episodes');
    await emptied('turns');
    await appendBatch(store, batchOf('episodes', episodes));
    await appendBatch(store, batchOf('turns', turns));
    const before = [await rowsIn('episodes'), await rowsIn('turns')];
    const shardOf = new Map<unknown, Set<unknown>>();
    for (const table of ['episodes', 'turns'] as const) {
      const path = join(folder, table);
      await exportParquet(store, table, path, { shards: 4 });
      expect(readdirSync(path).sort()).toEqual(['shard=0', 'shard=1', 'shard=2', 'shard=3']);
      const files = `read_parquet('${path.replaceAll("'", "''")}/**/*.parquet')`;
      const pairs = await queryRows(
        store,
        `SELECT coalesce(e.task_id, e.episode_id) AS task, f.shard FROM ${files} f JOIN episodes e USING (episode)`,
      );
      for (const { task, shard } of pairs) shardOf.set(task, (shardOf.get(task) ?? new Set()).add(shard));
      expect(pairs).toHaveLength(table === 'episodes' ? 300 : 600);
    }
    for (const shards of shardOf.values()) expect(shards.size).toBe(1);
    await emptied('turns');
    await importParquet(store, 'turns', join(folder, 'turns'));
    await emptied('episodes');
    await importParquet(store, 'episodes', join(folder, 'episodes'));
    expect([await rowsIn('episodes'), await rowsIn('turns')]).toEqual(before);
  });
});

test('refused by name', async () => {
  await expect(exportParquet(store, 'rejects', join(folder, 'r'), { shards: 4 })).rejects.toThrow(
    /rejects: has no task to cut it by/,
  );
  await expect(exportParquet(store, 'turns', join(folder, 'r'), { shards: 0 })).rejects.toThrow(
    /shards.*got 0/,
  );
  await expect(importParquet(store, 'turns', join(folder, 'none.parquet'))).rejects.toThrow(/none\.parquet/);
  await emptied('censored');
  await exportParquet(store, "SELECT 'e' AS episode_id", join(folder, 'short.parquet'));
  await expect(importParquet(store, 'censored', join(folder, 'short.parquet'))).rejects.toThrow(
    /short\.parquet/,
  );
});
