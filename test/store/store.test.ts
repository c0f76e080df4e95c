import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TurnwiseError } from '../../src/schema/error.ts';
import { appendBatch } from '../../src/store/append.ts';
import { engineFailure } from '../../src/store/engine-failure.ts';
import { migrate, migrationPath } from '../../src/store/migrate.ts';
import { queryRows, scan } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { STORE_VERSION, TABLES } from '../../src/store/tables.ts';
import { batchOf } from './arbitrary-batch.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-store-'));
  path = join(folder, 'runs.duckdb');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function made(): Promise<void> {
  (await openStore(path, { mode: 'create' })).close();
}

async function refusal(file: string, mode: 'create' | 'write' | 'read' = 'read'): Promise<string> {
  try {
    (await openStore(file, { mode })).close();
  } catch (error) {
    expect(error).toBeInstanceOf(TurnwiseError);
    expect((error as TurnwiseError).exitCode).toBe(1);
    expect((error as Error).message).toContain(file);
    return (error as Error).message;
  }
  throw new Error('it opened');
}

/** Runs a module in another process, in which `instance` has the file open. */
function elsewhere(code: string) {
  const root = JSON.stringify(resolve(import.meta.dirname, '../../package.json'));
  const file = join(folder, 'elsewhere.mjs');
  writeFileSync(
    file,
    `import { createRequire } from 'node:module';
     const { DuckDBInstance } = createRequire(${root})('duckdb');
     const instance = await DuckDBInstance.create(${JSON.stringify(path)});\n${code}`,
  );
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    out += text;
  });
  const said = (what: string) =>
    new Promise<void>((done, fail) => {
      const look = () => out.includes(what) && done();
      child.stdout.on('data', look);
      child.on('exit', () => (out.includes(what) ? done() : fail(new Error(out))));
      look();
    });
  const ended = new Promise<string>((done) => child.on('close', () => done(out)));
  return { child, said, ended, out: () => out };
}

describe('a new store', () => {
  test('has every table, with required columns not null, and its version', async () => {
    const store = await openStore(path, { mode: 'create' });
    const columns = await queryRows(
      store,
      `SELECT table_name AS t, column_name AS c, data_type AS type, is_nullable AS n FROM duckdb_columns()
       WHERE table_name <> 'meta' AND NOT internal ORDER BY table_name, column_index`,
    );
    const byName = Object.entries(TABLES).sort(([a], [b]) => (a < b ? -1 : 1));
    const declared = byName.flatMap(([t, list]) =>
      list.map((c) => ({ t, c: c.name, type: c.type, n: c.required !== true })),
    );
    expect(columns).toEqual(declared);
    expect(await queryRows(store, 'FROM meta')).toEqual([
      { key: 'turnwise_store_version', value: String(STORE_VERSION) },
    ]);
    store.close();
    store.close();
  });

  test('is opened again to write and to read, and leaves no other file', async () => {
    await made();
    const writer = await openStore(path, { mode: 'write' });
    await appendBatch(writer, batchOf('censored', [{ episode_id: 'e', reason: 'stale' }]));
    writer.close();
    expect(readdirSync(folder)).toEqual(['runs.duckdb']);
    const reader = await openStore(path, { mode: 'read' });
    expect(await queryRows(reader, 'SELECT episode_id FROM censored')).toEqual([{ episode_id: 'e' }]);
    await expect(
      appendBatch(reader, batchOf('censored', [{ episode_id: 'f', reason: 'stale' }])),
    ).rejects.toThrow(/opened to read only/);
    reader.close();
    expect(readdirSync(folder)).toEqual(['runs.duckdb']);
  });
});

describe('what cannot be opened is refused by name', () => {
  test('a missing file', async () => {
    expect(await refusal(path)).toMatch(/no such store.*turnwise ingest/);
    expect(await refusal(path, 'write')).toMatch(/no such store/);
    expect(existsSync(path)).toBe(false);
  });
  test('a missing folder', async () => {
    expect(await refusal(join(folder, 'no', 'runs.duckdb'), 'create')).toMatch(/folder does not exist/);
  });
  test('a directory', async () => {
    expect(await refusal(folder)).toMatch(/is a directory/);
    expect(await refusal(folder, 'create')).toMatch(/is a directory/);
  });
  test('an empty file', async () => {
    writeFileSync(path, '');
    for (const mode of ['create', 'write', 'read'] as const)
      expect(await refusal(path, mode)).toMatch(/the file is empty/);
  });
  test('a file that is no DuckDB file', async () => {
    for (const content of [
      Buffer.from([0, 1, 2]),
      Buffer.alloc(100_000, 7),
      Buffer.from('SQLite format 3\0'),
    ]) {
      writeFileSync(path, content);
      for (const mode of ['create', 'write', 'read'] as const)
        expect(await refusal(path, mode)).toMatch(/is not a store: not a DuckDB file/);
    }
  });
  test.each<[string, string | Buffer]>([
    ['a log in JSON', '{"episode_id": "a"}\n'],
    ['a log in JSON', '\ufeff  [\n{}]'],
    ['a log or another text', 'Dear diary,\n'.repeat(1000)],
    ['a log or another text', 'é'.repeat(3000)],
    ['a log compressed by gzip', gzipSync('{}\n')],
    ['a log compressed by Zstandard', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0])],
    ['a log or a table in Parquet', 'PAR1....PAR1'],
    ['a log or a table in Arrow', 'ARROW1\0\0'],
  ])('%s is told as one, with what to do, and left as it was', async (what, content) => {
    writeFileSync(path, content);
    for (const mode of ['create', 'write', 'read'] as const)
      expect(await refusal(path, mode)).toBe(
        `${path}: is not a store but looks like ${what}, expected one DuckDB file, which Turnwise makes. Read it into one, and name that one: "turnwise ingest ${path} --store runs.duckdb".`,
      );
    expect(readFileSync(path)).toEqual(Buffer.from(content));
  });
  test('a DuckDB file that is no store, with and without a table of the name', async () => {
    for (const sql of [
      'CREATE TABLE t(a INT)',
      'CREATE TABLE meta(key VARCHAR, value VARCHAR)',
      'CREATE TABLE meta(a INT)',
    ]) {
      rmSync(path, { force: true });
      await made();
      const store = await openStore(path, { mode: 'write' });
      await store.connection.run(`DROP TABLE meta; ${sql}`);
      store.close();
      expect(await refusal(path)).toMatch(/DuckDB file, but not a Turnwise store/);
    }
  });
  test('a newer version, and an older one without a migration', async () => {
    for (const [version, message] of [
      [STORE_VERSION + 1, /newer Turnwise, got store version 4, expected at most 3/],
      [0, /older Turnwise, and no migration is known, got store version 0.*Ingest the logs again/],
    ] as const) {
      rmSync(path, { force: true });
      await made();
      const store = await openStore(path, { mode: 'write' });
      await store.connection.run(`UPDATE meta SET value = '${version}'`);
      store.close();
      expect(await refusal(path)).toMatch(message);
    }
  });
  test.skipIf(process.getuid?.() === 0)(
    'a file without permission (skipped: root may read all)',
    async () => {
      await made();
      chmodSync(path, 0o000);
      expect(await refusal(path)).toMatch(/permission denied/);
    },
  );
  test('a damaged file', async () => {
    await made();
    const store = await openStore(path, { mode: 'write' });
    store.close();
    const { openSync, writeSync, closeSync } = await import('node:fs');
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(8192, 1), 0, 8192, 4096);
    closeSync(file);
    expect(await refusal(path)).toMatch(/runs\.duckdb: /);
  });
});

test('one file opened twice in a process shares the engine, or is refused in another mode', async () => {
  await made();
  const one = await openStore(path, { mode: 'write' });
  const two = await openStore(path, { mode: 'create' });
  await appendBatch(one, batchOf('censored', [{ episode_id: 'e', reason: 'stale' }]));
  expect(await queryRows(two, 'SELECT episode_id FROM censored')).toEqual([{ episode_id: 'e' }]);
  expect(await refusal(path, 'read')).toMatch(/already open in this process in another mode/);
  one.close();
  expect(await queryRows(two, 'SELECT count(*) AS n FROM censored')).toEqual([{ n: 1 }]);
  two.close();
  (await openStore(path, { mode: 'read' })).close();
});

test('a store in use by another process is refused with its PID, and opens once that has closed it', async () => {
  await made();
  const other = elsewhere(`console.log('pid', process.pid);
    process.stdin.once('data', () => { instance.closeSync(); console.log('closed'); });
    process.stdin.resume(); setTimeout(() => process.exit(1), 30000).unref();`);
  await other.said('pid');
  const pid = /pid (\d+)/.exec(other.out())![1];
  expect(await refusal(path, 'write')).toContain(`in use by another process (PID ${pid})`);
  expect(await refusal(path, 'read')).toMatch(/one writer, or any number of readers/);
  other.child.stdin.write('close\n');
  await other.said('closed');
  (await openStore(path, { mode: 'write' })).close();
  other.child.stdin.end();
  other.child.kill();
  await other.ended;
});

test('close releases the lock at once, also after a scan that was left early', async () => {
  await made();
  const store: Store = await openStore(path, { mode: 'write' });
  for await (const _ of scan(store, 'SELECT range FROM range(1000000)')) break;
  await queryRows(store, 'SELECT $1 AS x', [1]);
  store.close();
  const other = elsewhere(`console.log('opened')`);
  expect(await other.ended).toContain('opened');
});

test('a migration runs its steps in order, all or nothing', async () => {
  const steps = {
    0: ['CREATE TABLE a(x INT)'],
    1: ['INSERT INTO a VALUES (1)', 'ALTER TABLE a ADD COLUMN y INT'],
  };
  const sql = migrationPath(path, 0, steps, 2);
  expect(sql).toEqual([...steps[0], ...steps[1]]);
  expect(migrationPath(path, 2, steps, 2)).toEqual([]);
  const store = await openStore(':memory:', { mode: 'create' });
  await expect(migrate(store.connection, [...sql, 'nonsense'], 2)).rejects.toThrow();
  await migrate(store.connection, sql, 2);
  expect(await queryRows(store, 'SELECT * FROM a')).toEqual([{ x: 1, y: null }]);
  expect(await queryRows(store, 'SELECT value FROM meta')).toEqual([{ value: '2' }]);
  store.close();
});

test.each([
  ['IO Error: Could not write file "/x": No space left on device', /^s: the disk is full/],
  [
    'Out of Memory Error: failed to allocate data of size 1 MB (512.0 MB/512.0 MB used)',
    /^s: the engine ran out of memory/,
  ],
  ['IO Error: Cannot open file "/x": Permission denied', /^s: permission denied/],
])('%s', (said, expected) => {
  const error = engineFailure('s', new Error(said));
  expect(error.message).toMatch(expected);
  expect(error.exitCode).toBe(1);
});
