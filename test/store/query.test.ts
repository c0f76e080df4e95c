import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryRows, scan } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { transaction } from '../../src/store/transaction.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore(':memory:', { mode: 'create' });
});
afterAll(() => store.close());

describe('queryRows', () => {
  test('reads every type as a plain value', async () => {
    const sql = `SELECT 1::TINYINT a, 2::SMALLINT b, 3::INTEGER c, 4::BIGINT d, 5::UTINYINT e, 6::USMALLINT f,
      4294967295::UINTEGER g, 7::UBIGINT h, 1.5::FLOAT i, 2.5::DOUBLE j, true k, 'x' l, '{"a": 1}'::JSON m,
      TIMESTAMP '1970-01-01 00:00:01' n, [1, NULL, 3] o, [['a'], [], NULL] p, NULL::DOUBLE q, -5::BIGINT r`;
    expect(await queryRows(store, sql)).toEqual([
      {
        a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 4294967295, h: 7, i: 1.5, j: 2.5, k: true, l: 'x', m: '{"a": 1}',
        n: 1_000_000, o: [1, null, 3], p: [['a'], [], null], q: null, r: -5,
      },
    ]); // biome-ignore format: one row
  });

  test('takes parameters by position and by name', async () => {
    const sql = 'SELECT $1::VARCHAR a, $2 + 1 b, $3 c, typeof($2) t, $4 IS NULL d';
    expect(await queryRows(store, sql, ["it's", 41, -0, null])).toEqual([
      { a: "it's", b: 42, c: -0, t: 'BIGINT', d: true },
    ]);
    expect(await queryRows(store, 'SELECT unnest($ids) x', { ids: ['a', 'b'] })).toEqual([
      { x: 'a' },
      { x: 'b' },
    ]);
    expect(await queryRows(store, 'SELECT list_sum($1) x', [[1, 2.5]])).toEqual([{ x: 3.5 }]);
  });

  test('refuses an integer that a double cannot hold, and a type it does not read', async () => {
    await expect(queryRows(store, 'SELECT 9007199254740993 AS big')).rejects.toThrow(/column big: .*2\^53/);
    await expect(queryRows(store, 'SELECT -9007199254740993 AS big')).rejects.toThrow(/column big: .*2\^53/);
    await expect(queryRows(store, 'SELECT sum(1) AS s')).rejects.toThrow(
      /column s: type HUGEINT is not read.*Cast/,
    );
  });

  test('names the store and the mistake', async () => {
    await expect(queryRows(store, 'SELECT nope FROM turns')).rejects.toThrow(/:memory:: .*nope/);
  });
});

describe('scan', () => {
  const total = async (sql: string, between: () => Promise<unknown> = async () => undefined) => {
    let rows = 0;
    let sum = 0;
    for await (const chunk of scan(store, sql)) {
      const { x } = chunk.columns;
      if (x?.kind !== 'f64') throw new Error('not a double');
      expect(x.values.length).toBe(chunk.rows);
      for (const v of x.values) sum += v;
      rows += chunk.rows;
      await between();
    }
    return { rows, sum };
  };
  const sql = 'SELECT range::DOUBLE AS x FROM range(300000)';
  const whole = { rows: 300_000, sum: (300_000 * 299_999) / 2 };

  test('reads every row once, in order, in a few chunks', async () => {
    let next = 0;
    let chunks = 0;
    let wrong = 0;
    for await (const chunk of scan(store, 'SELECT range AS x FROM range(300000)')) {
      for (const v of (chunk.columns.x as { values: Float64Array }).values) wrong += v === next++ ? 0 : 1;
      chunks++;
    }
    expect({ next, chunks, wrong }).toEqual({ next: 300_000, chunks: 5, wrong: 0 });
  });

  test('is not cut short by other queries and scans', async () => {
    expect(await total(sql, () => queryRows(store, 'SELECT 1'))).toEqual(whole);
    expect(await total(sql, async () => expect(await total(sql)).toEqual(whole))).toEqual(whole);
  });

  test('an empty result is one chunk of no rows, with its columns', async () => {
    const chunks = [];
    for await (const chunk of scan(store, 'SELECT episode, features FROM turns')) chunks.push(chunk);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]!.rows).toBe(0);
    expect(chunks[0]!.types).toEqual({ episode: 'BIGINT', features: 'DOUBLE[]' });
  });

  test('in a transaction no other query may run while it is open', async () => {
    await transaction(store, async () => {
      await expect(total(sql, () => queryRows(store, 'SELECT 1'))).rejects.toThrow(/a scan is under way/);
      expect(await total(sql)).toEqual(whole);
      expect(await queryRows(store, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  });

  test('that fails half-way is an error, alone and in a transaction, not a short result', async () => {
    const late = `SELECT CASE WHEN i = 399999 THEN error('late') ELSE i::INTEGER END AS x FROM range(400000) t(i)`;
    const all = async () => {
      let rows = 0;
      for await (const chunk of scan(store, late)) rows += chunk.rows;
      return rows;
    };
    await expect(all()).rejects.toThrow(/failed in the middle of a scan/);
    await expect(transaction(store, all)).rejects.toThrow(/failed in the middle of a scan/);
    expect(await queryRows(store, 'SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });

  test('may be left early', async () => {
    for await (const _ of scan(store, sql)) break;
    expect(await total(sql)).toEqual(whole);
  });

  test('lists that lie apart after a filter, and lists of one constant', async () => {
    const lists = 'SELECT i, [i, NULL, i + 1]::DOUBLE[] AS l FROM range(9000) t(i)';
    const apart = `SELECT l FROM (${lists}) WHERE i % 3 = 0 ORDER BY i DESC`;
    const rows = await queryRows(store, apart);
    expect(rows).toEqual(
      Array.from({ length: 3000 }, (_, k) => ({ l: [3 * (2999 - k), null, 3 * (2999 - k) + 1] })),
    );
    const same = await queryRows(store, "SELECT ['a', NULL] AS l, [[1], []] AS m FROM range(5000)");
    expect(same).toEqual(Array.from({ length: 5000 }, () => ({ l: ['a', null], m: [[1], []] })));
  });
});
