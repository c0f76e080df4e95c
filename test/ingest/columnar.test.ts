import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Binary, Field, List, Struct, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';

const FOUND = resolve(import.meta.dirname, '../../../shared/found/03-parquet-binary-text/log.parquet');
const folder = mkdtempSync(join(tmpdir(), 'turnwise-columnar-'));
let store: Store;
beforeEach(async () => {
  store?.close();
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});
let count = 0;
/** A Parquet file of what a query gives; `turns` is one turn with the action a, unless the query has its own. */
async function parquet(select: string): Promise<string> {
  const path = join(folder, `${count++}.parquet`);
  const turns = / AS turns\b/.test(select) ? '' : ", [{action: 'a'}] AS turns";
  await store.connection.run(`COPY (SELECT ${select}${turns}) TO '${path}' (FORMAT parquet)`);
  return path;
}
const stored = (columns: string) => queryRows(store, `SELECT ${columns} FROM episodes ORDER BY episode`);

test.skipIf(!existsSync(FOUND))(
  `Parquet text without its UTF-8 mark is text${existsSync(FOUND) ? '' : ' (skipped: no ../shared/found)'}`,
  async () => {
    expect((await ingest(store, [FOUND])).files[0]).toMatchObject({ episodes: 2, rejects: 0 });
    expect(await stored('task_id')).toEqual([{ task_id: 'café' }, { task_id: 't1' }]);
    expect(await queryRows(store, 'SELECT observation FROM turns WHERE episode = 0')).toEqual([
      { observation: 'naïve "quote"\n' },
    ]);
  },
);

describe('bytes that are no text are refused by name', () => {
  test('Parquet', async () => {
    const path = await parquet("'e' AS episode_id, '\\xFF\\xFE'::BLOB AS policy");
    const { files } = await ingest(store, [path]);
    expect(files[0]!.error).toMatch(/\.parquet: holds text that is not valid UTF-8/);
  });
  test('Arrow', async () => {
    const turn = new Struct([new Field('action', new Utf8(), true)]);
    const turns = vectorFromArray(
      [[{ action: 'a' }], [{ action: 'b' }]],
      new List(new Field('item', turn, true)),
    );
    const table = new Table({
      episode_id: vectorFromArray(['e', 'f'], new Utf8()),
      policy: vectorFromArray([Buffer.from('café'), Uint8Array.of(0xff, 0xfe)], new Binary()),
      turns,
    });
    const path = join(folder, 'binary.arrow');
    writeFileSync(path, tableToIPC(table));
    const { files } = await ingest(store, [path]);
    expect(files[0]).toMatchObject({ episodes: 1, rejects: 1 });
    expect(files[0]!.firstRejects[0]!.reason).toBe('row 2: policy: is no text: not valid UTF-8');
    expect(await stored('policy')).toEqual([{ policy: 'café' }]);
  });
});

test('struct keys that a writer filled with null are absent, at every depth', async () => {
  const path = await parquet(
    `'e' AS episode_id, {a: NULL::INTEGER, b: {c: NULL::VARCHAR, d: 1}, l: [{x: NULL::INTEGER}, NULL], m: MAP {'k': NULL::VARCHAR, 'j': 'v'}} AS meta,
     [{action: 'a', sampling: {temperature: NULL::DOUBLE, top_k: 3},
       tool_calls: [{name: 'f', arguments: {id: 7, note: NULL::VARCHAR, deep: {k: NULL::VARCHAR, v: [NULL, 1]}}, result: NULL::VARCHAR},
                    {name: 'g', arguments: NULL, result: 'r'}]}] AS turns,
     {acc: {score: 1.0, weight: NULL::DOUBLE}, other: NULL::STRUCT(score DOUBLE, weight DOUBLE)} AS rewards`,
  );
  expect((await ingest(store, [path])).files[0]).toMatchObject({ episodes: 1, rejects: 0, firstRejects: [] });
  const [row] = await stored('meta, rewards');
  expect(JSON.parse(row!.meta as string)).toEqual({ b: { d: 1 }, l: [{}, null], m: { j: 'v' } });
  expect(JSON.parse(row!.rewards as string)).toEqual({ acc: { score: 1, weight: 1 } });
  const [turn] = await queryRows(store, 'SELECT tool_calls, top_k FROM turns');
  expect(turn!.top_k).toBe(3);
  expect(JSON.parse(turn!.tool_calls as string)).toMatchObject([
    { name: 'f', arguments: { id: 7, deep: { v: [null, 1] } }, result: null },
    { name: 'g', arguments: null, result: 'r' },
  ]);
  expect(turn!.tool_calls).not.toContain('note');
});

test('JSON text in a column stands as it was written, its nulls among it', async () => {
  const path = await parquet(`'e' AS episode_id, '{"a":null,"n":123456789012345678901}' AS meta`);
  await ingest(store, [path]);
  expect(await stored('meta')).toEqual([{ meta: '{"a":null,"n":123456789012345678901}' }]);
});

test('ids that are numbers are their digits; numbers inside keep theirs', async () => {
  const path = await parquet(
    `9007199254740993 AS episode_id, 12345678901234567890::UBIGINT AS task_id,
     {big: 12345678901234567890123456789012345678::DECIMAL(38,0), price: 1234567890123456.789::DECIMAL(20,3), small: 1.50::DECIMAL(4,2)} AS meta`,
  );
  expect((await ingest(store, [path])).files[0]).toMatchObject({ episodes: 1, rejects: 0 });
  expect(await stored('episode_id, task_id, meta')).toEqual([
    {
      episode_id: '9007199254740993',
      task_id: '12345678901234567890',
      meta: '{"big":12345678901234567890123456789012345678,"price":1234567890123456.789,"small":1.5}',
    },
  ]);
});

test('times are ISO 8601 to their last digit, in UTC where they have a zone', async () => {
  const path = await parquet(
    `'e' AS episode_id, TIMESTAMPTZ '2024-05-01 12:00:00.123456+02' AS started_at, TIMESTAMP '2024-05-01 10:00:01' AS ended_at,
     {zoned: TIMESTAMPTZ '2024-05-01 12:00:00+02', naive: TIMESTAMP '2024-05-01 10:00:00.5', nano: TIMESTAMP_NS '2024-05-01 10:00:00.123456789',
      day: DATE '2024-05-01', clock: TIME '10:00:00.25'} AS meta`,
  );
  expect((await ingest(store, [path])).files[0]).toMatchObject({ episodes: 1, rejects: 0 });
  expect(await stored('started_at, ended_at, meta')).toEqual([
    {
      started_at: Date.UTC(2024, 4, 1, 10) * 1000 + 123456,
      ended_at: Date.UTC(2024, 4, 1, 10, 0, 1) * 1000,
      meta: '{"zoned":"2024-05-01T10:00:00Z","naive":"2024-05-01T10:00:00.5","nano":"2024-05-01T10:00:00.123456789","day":"2024-05-01","clock":"10:00:00.25"}',
    },
  ]);
});

test.each([
  ['NaN', "'NaN'::DOUBLE AS reward", 'row 1: reward: is NaN, expected a finite number'],
  ['infinity', "'-inf'::DOUBLE AS reward", 'row 1: reward: is -Infinity, expected a finite number'],
  [
    'a time of the year 12024',
    "{t: TIMESTAMP '12024-01-01'} AS meta",
    'row 1: meta.t: is beyond the years 1 to 9999',
  ],
  [
    'a time before Christ',
    "{t: TIMESTAMP '0044-03-15 (BC) 00:00:00'} AS meta",
    'row 1: meta.t: is beyond the years 1 to 9999',
  ],
])('%s is a reject of its row', async (_, column, reason) => {
  const { files } = await ingest(store, [await parquet(`'e' AS episode_id, ${column}`)]);
  expect(files[0]!.firstRejects.map((r) => r.reason)).toEqual([reason]);
});

test('a row index is left out and named; other columns of that name are not', async () => {
  const path = await parquet(`'e' AS episode_id, 7::BIGINT AS "__index_level_0__", 0::UINTEGER AS "index"`);
  const { files, warnings } = await ingest(store, [path]);
  expect(files[0]).toMatchObject({ episodes: 1, rejects: 0 });
  expect(warnings.filter((w) => w.code === 'row-index-left-out').map((w) => [w.message, w.count])).toEqual([
    ['row with __index_level_0__, which only numbers the rows: left out', 1],
    ['row with index, which only numbers the rows: left out', 1],
  ]);
  const text = await parquet(`'f' AS episode_id, 'run-7' AS "index"`);
  expect((await ingest(store, [text])).files[0]!.firstRejects[0]!.reason).toMatch(
    /^row 1: unknown column "index"/,
  );
});

test('a column named as the row is in SQL does not stand for the row', async () => {
  const path = await parquet("'e' AS episode_id, 't' AS task_id, {t: 1} AS meta");
  expect((await ingest(store, [path])).files[0]).toMatchObject({ episodes: 1 });
  const odd = await parquet("'f' AS episode_id, 1 AS t, 2 AS row_episode_id_t_turns");
  expect((await ingest(store, [odd])).files[0]!.firstRejects[0]!.reason).toMatch(
    /^row 1: unknown columns? "t"/,
  );
});

test('a column of a type that JSON has not is refused by name', async () => {
  const path = await parquet("'e' AS episode_id, {wait: INTERVAL 1 DAY} AS meta");
  expect((await ingest(store, [path])).files[0]!.error).toMatch(
    /\.parquet: column meta\.wait: is of Parquet type INTERVAL, which is no text, number, time, list or struct/,
  );
});
