import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendBatch } from '../../src/store/append.ts';
import { exportArrow } from '../../src/store/arrow.ts';
import { exportParquet } from '../../src/store/parquet.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { folderWrittenWhole, removeUnfinished, writtenWhole } from '../../src/store/whole-file.ts';
import { batchOf } from './arbitrary-batch.ts';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-whole-'));
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});
/** Rows that come until one late in the table fails. */
const FAILS =
  "SELECT CASE WHEN i = 399999 THEN error('late') ELSE i::INTEGER END AS x FROM range(400000) t(i)";

test.each([
  ['Parquet', exportParquet, /late/],
  ['Arrow', exportArrow, /failed in the middle of a scan/],
])('%s that fails half-way leaves nothing, and the file that was there', async (_, write, why) => {
  const path = join(folder, 'x.out');
  await expect(write(store, FAILS, path)).rejects.toThrow(why);
  expect(readdirSync(folder)).toEqual([]);
  await write(store, 'SELECT 7 AS x', path);
  const good = readFileSync(path);
  await expect(write(store, FAILS, path)).rejects.toThrow(why);
  expect(readdirSync(folder)).toEqual(['x.out']);
  expect(readFileSync(path)).toEqual(good);
});

test('shards give way to new ones only where asked, and once those are written', async () => {
  const path = join(folder, 'shards');
  const episodes = [0, 1, 2].map((episode) => ({
    episode,
    episode_id: `e${episode}`,
    source: 0,
    ending: 'terminated',
    n_turns: 1,
  }));
  await appendBatch(store, batchOf('episodes', episodes));
  await exportParquet(store, 'episodes', path, { shards: 1 });
  const good = readFileSync(join(path, 'shard=0', readdirSync(join(path, 'shard=0'))[0]!));
  await expect(exportParquet(store, 'episodes', path, { shards: 1 })).rejects.toThrow(/is there already/);
  const broken = { shards: 1, replace: true };
  await store.connection.run(
    "CREATE TEMP VIEW episodes AS SELECT error('late') AS task_id, 'e' AS episode_id",
  );
  await expect(exportParquet(store, 'episodes', path, broken)).rejects.toThrow(/late/);
  expect(readdirSync(path)).toEqual(['shard=0']);
  expect(readFileSync(join(path, 'shard=0', readdirSync(join(path, 'shard=0'))[0]!))).toEqual(good);
  await store.connection.run('DROP VIEW temp.episodes');
  await exportParquet(store, 'episodes', path, { shards: 8, replace: true });
  expect(readdirSync(path).length).toBeGreaterThan(1);
});

test('what is interrupted is removed: a file, a folder that was made; a folder that was there stays', async () => {
  const there = join(folder, 'there');
  mkdirSync(there);
  writeFileSync(join(there, 'a'), 'old');
  let stop = () => {};
  const stopped = new Promise<void>((_, fail) => {
    stop = () => fail(new Error('stopped'));
  });
  const writing = [
    writtenWhole(join(folder, 'file'), async (part) => {
      writeFileSync(part, 'half');
      await stopped;
    }),
    ...[there, join(folder, 'made')].map((path) =>
      folderWrittenWhole(path, async (part) => {
        writeFileSync(join(part, 'a'), 'new');
        await stopped;
      }),
    ),
  ];
  expect(
    readdirSync(folder)
      .map((name) => name.replace(/-\w{6}$/, ''))
      .sort(),
  ).toEqual(['.file.part', '.made.part', 'there']);
  await removeUnfinished();
  expect(readdirSync(folder)).toEqual(['there']);
  expect(readdirSync(there)).toEqual(['a']);
  expect(readFileSync(join(there, 'a'), 'utf8')).toBe('old');
  stop();
  for (const done of writing) await expect(done).rejects.toThrow('stopped');
});

test('a folder comes to be whole: all of its files, over those that were there', async () => {
  const path = join(folder, 'a', 'b');
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'a'), 'old');
  writeFileSync(join(path, 'other'), 'mine');
  await folderWrittenWhole(path, async (part) => {
    for (const name of ['a', 'b']) {
      writeFileSync(join(part, name), 'new');
      expect(existsSync(join(path, 'b'))).toBe(false);
      expect(readFileSync(join(path, 'a'), 'utf8')).toBe('old');
    }
  });
  expect(readdirSync(path)).toEqual(['a', 'b', 'other']);
  expect(['a', 'b', 'other'].map((n) => readFileSync(join(path, n), 'utf8'))).toEqual(['new', 'new', 'mine']);
});
