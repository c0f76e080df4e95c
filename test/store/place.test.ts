import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describe as describeStore, importTables, ingest, openStore } from '../../src/index.ts';
import { exportArrow } from '../../src/store/arrow.ts';
import { exportParquet } from '../../src/store/parquet.ts';
import { placeOf } from '../../src/store/place.ts';
import { queryRows } from '../../src/store/query.ts';
import { folderWrittenWhole, writtenWhole } from '../../src/store/whole-file.ts';

/*
 * near/link leads to far/inner, so `near/link/..` is `far` to the system, and `near` to whoever strikes the link out.
 */
let root: string;
let through: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'place-')));
  mkdirSync(join(root, 'far/inner'), { recursive: true });
  mkdirSync(join(root, 'near'));
  symlinkSync('../far/inner', join(root, 'near/link'));
  through = `${root}/near/link/..`;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('".." behind a link is the folder above what the link leads to', () => {
  expect(placeOf(`${through}/x`)).toBe(join(root, 'far/x'));
  expect(placeOf(through)).toBe(join(root, 'far'));
  expect(placeOf(`${root}/near/link/../../near/x`)).toBe(join(root, 'near/x'));
  expect(placeOf('a..b/c')).toBe('a..b/c');
  expect(placeOf('gone/../x')).toBe('gone/../x');
});

/** A log of one episode in Parquet. */
async function parquet(path: string, id: string): Promise<void> {
  const store = await openStore(':memory:', { mode: 'create' });
  await exportParquet(store, `SELECT '${id}' AS episode_id, [{action: 'a'}] AS turns`, path);
  store.close();
}

test('a Parquet file is the one that was named, not one of the same name elsewhere', async () => {
  await parquet(join(root, 'far/log.parquet'), 'far');
  await parquet(join(root, 'near/log.parquet'), 'near');
  const store = await openStore(':memory:', { mode: 'create' });
  await ingest(store, [`${through}/log.parquet`]);
  expect(await queryRows(store, 'SELECT episode_id FROM episodes')).toEqual([{ episode_id: 'far' }]);
  store.close();
});

test('a store is made, opened, exported and read back where it was named', async () => {
  writeFileSync(join(root, 'log.jsonl'), '{"episode_id": "e", "turns": [{"action": "a"}]}\n');
  const store = await openStore(`${through}/s.duckdb`, { mode: 'create' });
  await ingest(store, [join(root, 'log.jsonl')]);
  mkdirSync(join(root, 'far/out'));
  for (const table of [
    'sources',
    'episodes',
    'turns',
    'segments',
    'scores',
    'turn_values',
    'critics',
    'rejects',
    'censored',
  ])
    await exportArrow(store, table, `${through}/out/${table}.arrow`);
  store.close();
  expect(readdirSync(join(root, 'near'))).toEqual(['link']);

  const read = await openStore(`${through}/s.duckdb`, { mode: 'read' });
  expect((await describeStore(read)).episodes).toBe(1);
  read.close();
  const copy = await openStore(`${through}/copy.duckdb`, { mode: 'create' });
  await importTables(copy, [`${through}/out`]);
  expect((await describeStore(copy)).episodes).toBe(1);
  copy.close();
  expect(readdirSync(join(root, 'far')).sort()).toEqual(['copy.duckdb', 'inner', 'out', 's.duckdb']);
});

test('a link to nothing in the folder of an export is no table', async () => {
  mkdirSync(join(root, 'out'));
  symlinkSync('nowhere', join(root, 'out/lost'));
  const store = await openStore(':memory:', { mode: 'create' });
  await expect(importTables(store, [join(root, 'out')])).rejects.toThrow(/holds no Parquet or Arrow file/);
  store.close();
});

test('files and folders are written where they were named', async () => {
  await writtenWhole(`${through}/file`, async (part) => writeFileSync(part, 'x'));
  await folderWrittenWhole(`${through}/folder`, async (part) => writeFileSync(join(part, 'x'), 'x'));
  expect(readdirSync(join(root, 'far')).sort()).toEqual(['file', 'folder', 'inner']);
  expect(readdirSync(join(root, 'near'))).toEqual(['link']);
});

test('beside a store the place of its log is no place for a file', async () => {
  const path = join(root, 's.duckdb');
  const store = await openStore(path, { mode: 'create' });
  const wal = join(root, 's.duckdb.wal');
  await expect(writtenWhole(wal, async (part) => writeFileSync(part, 'x'))).rejects.toThrow(
    /last changes of/,
  );
  expect(readdirSync(root)).not.toContain('s.duckdb.wal');
  store.close();
  await writtenWhole(join(root, 'other.wal'), async (part) => writeFileSync(part, 'x'));
  expect(readdirSync(root)).toContain('other.wal');
});
