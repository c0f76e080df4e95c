import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withCreatedStore } from '../../src/cli/new-store.ts';
import { appendBatch } from '../../src/store/append.ts';
import { makeStore } from '../../src/store/make-store.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { batchOf } from './arbitrary-batch.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-make-'));
  path = join(folder, 'runs.duckdb');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const io = { err: () => {} };
const one = batchOf('censored', [{ episode_id: 'e', reason: 'stale' }]);
const held = async (file = path) => {
  const store = await openStore(file, { mode: 'read' });
  try {
    return (await queryRows(store, 'SELECT episode_id FROM censored')).map((r) => r.episode_id);
  } finally {
    store.close();
  }
};

test('of many that make one store at once, one makes it, and it is whole', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => makeStore(path)));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(readdirSync(folder)).toEqual(['runs.duckdb']);
  expect(await held()).toEqual([]);
});

test('it does not take a name that something has, be it a link to nothing', async () => {
  writeFileSync(path, 'mine');
  expect(await makeStore(path)).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('mine');
  rmSync(path);
  symlinkSync(join(folder, 'gone'), path);
  expect(await makeStore(path)).toBe(false);
  await expect(openStore(path, { mode: 'create' })).rejects.toThrow(/is a symbolic link to nothing/);
  expect(existsSync(join(folder, 'gone'))).toBe(false);
});

test('a store that was made and got nothing is removed; one into which another wrote meanwhile is not', async () => {
  const ran = await withCreatedStore(path, {}, io, async () => 1);
  expect(ran).toEqual({ result: 1, kept: false });
  expect(readdirSync(folder)).toEqual([]);
  // What another process wrote between making and opening it, as far as this one can tell.
  await makeStore(path);
  const other = await openStore(path, { mode: 'write' });
  await appendBatch(other, one);
  other.close();
  await expect(
    withCreatedStore(path, {}, io, async () => {
      throw new Error('late');
    }),
  ).rejects.toThrow('late');
  expect(await held()).toEqual(['e']);
});

test('a store whose name went to another file meanwhile is not removed by that name', async () => {
  await withCreatedStore(path, {}, io, async () => {
    rmSync(path);
    writeFileSync(path, 'mine');
  });
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

test('a DuckDB file in which nothing was ever made becomes a store; one with anything in it does not', async () => {
  for (const [sql, fits] of [
    ['SELECT 1', true],
    ['CREATE TABLE t(a INT)', false],
    ['CREATE VIEW v AS SELECT 1 AS x', false],
    ['CREATE SEQUENCE s', false],
    ['CREATE MACRO m(a) AS a + 1', false],
    ["CREATE TYPE mood AS ENUM ('sad')", false],
    ['CREATE SCHEMA own', false],
  ] as const) {
    rmSync(path, { force: true });
    await makeStore(path);
    const blank = await openStore(path, { mode: 'write' });
    const tables = await queryRows(blank, 'SELECT table_name AS name FROM duckdb_tables()');
    for (const { name } of tables) await blank.connection.run(`DROP TABLE ${name}`);
    await blank.connection.run(sql);
    blank.close();
    await expect(openStore(path, { mode: 'read' })).rejects.toThrow(/not a Turnwise store/);
    const opening = openStore(path, { mode: 'create' });
    if (fits) (await opening).close();
    else await expect(opening).rejects.toThrow(/not a Turnwise store/);
    if (fits) expect(await held()).toEqual([]);
  }
});

test('by a link, the file and its log are those that the link leads to', async () => {
  mkdirSync(join(folder, 'far'));
  const far = join(folder, 'far', 'runs.duckdb');
  await makeStore(far);
  symlinkSync(far, path);
  const store = await openStore(path, { mode: 'write' });
  await appendBatch(store, one);
  expect(readdirSync(folder).sort()).toEqual(['far', 'runs.duckdb']);
  // One engine for one file, whatever its name.
  const same = await openStore(far, { mode: 'write' });
  expect(await queryRows(same, 'SELECT count(*) AS n FROM censored')).toEqual([{ n: 1 }]);
  same.close();
  store.close();
  expect(await held(far)).toEqual(['e']);
});

test.each(['nonsense', 'd\0be\x01'])(
  'what stands in the place of its log and is none is refused: %j',
  async (text) => {
    await makeStore(path);
    writeFileSync(`${path}.wal`, text);
    for (const mode of ['read', 'write', 'create'] as const)
      await expect(openStore(path, { mode })).rejects.toThrow(
        /runs\.duckdb\.wal: stands where the engine keeps/,
      );
    expect(readFileSync(`${path}.wal`, 'utf8')).toBe(text);
  },
);

test('what the engine spills lies in a folder of its own name, and goes with it', async () => {
  mkdirSync(`${path}.tmp`);
  writeFileSync(join(`${path}.tmp`, 'duckdb_temp_storage_0.tmp'), 'mine');
  const store = await openStore(path, { mode: 'create', memoryLimit: '60MB', threads: 1 });
  await store.connection.run('CREATE TEMP TABLE z AS SELECT random() AS r FROM range(10000000)');
  expect(readdirSync(folder).filter((name) => name.startsWith('.runs.duckdb.spill-'))).toHaveLength(1);
  store.close();
  expect(readdirSync(folder).sort()).toEqual(['runs.duckdb', 'runs.duckdb.tmp']);
  expect(readFileSync(join(`${path}.tmp`, 'duckdb_temp_storage_0.tmp'), 'utf8')).toBe('mine');
});

test('a store in use is waited for, as long as asked', async () => {
  await makeStore(path);
  const held = await openStore(path, { mode: 'write' });
  // The same process may not open it in another mode; that is not waited for.
  await expect(openStore(path, { mode: 'read', waitSeconds: 3600 })).rejects.toThrow(/another mode/);
  held.close();
});
