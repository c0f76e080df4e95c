import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { appendBatch } from '../../src/store/append.ts';
import { queryRows, scan } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { transaction } from '../../src/store/transaction.ts';
import { arbitraryRows, arbitraryTable, batchOf, rowsOf, TABLE_NAMES } from './arbitrary-batch.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore(':memory:', { mode: 'create' });
});
afterAll(() => store.close());

async function stored(sql: string) {
  const rows = [];
  for await (const chunk of scan(store, sql)) rows.push(...rowsOf(chunk.columns, chunk.rows));
  return rows;
}

describe('what is appended is what is read', () => {
  test.prop([arbitraryTable], { numRuns: 60 })('any table, any values', async ({ table, rows }) => {
    await store.connection.run(`DELETE FROM ${table}`);
    await appendBatch(store, batchOf(table, rows));
    expect(await stored(`SELECT * FROM ${table}`)).toEqual(rows);
    expect(await queryRows(store, `SELECT * FROM ${table}`)).toEqual(rows);
  });

  test.each(TABLE_NAMES)('%s: more rows than a chunk holds', async (table) => {
    const [some] = fc.sample(
      arbitraryRows(table, 40).filter((r) => r.length > 7),
      { numRuns: 1, seed: 7 },
    );
    const rows = Array.from({ length: 5000 }, (_, i) => some![(i * i) % some!.length]!);
    await store.connection.run(`DELETE FROM ${table}`);
    await appendBatch(store, batchOf(table, rows));
    expect(await stored(`SELECT * FROM ${table}`)).toEqual(rows);
  });

  test.prop([fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { minLength: 1, maxLength: 300 })])(
    'text of every length beside each other',
    async (reasons) => {
      await store.connection.run('DELETE FROM censored');
      const rows = reasons.length;
      const columns = {
        episode_id: { kind: 'text', values: reasons },
        reason: { kind: 'text', values: reasons },
      } as const;
      await appendBatch(store, { table: 'censored', rows, columns });
      const back = await queryRows(store, 'SELECT reason, length(reason) AS n FROM censored');
      expect(back.map((r) => r.reason)).toEqual(reasons);
    },
  );
});

test('a column that is left out is null, a bool other than 0 is true', async () => {
  await store.connection.run('DELETE FROM turn_values');
  await appendBatch(store, {
    table: 'turn_values',
    rows: 2,
    columns: {
      critic: { kind: 'text', values: ['c', 'c'] },
      episode: { kind: 'i64', values: Float64Array.of(1, 2) },
      turn: { kind: 'i32', values: Int32Array.of(0, 1) },
      supported: { kind: 'bool', values: Uint8Array.of(7, 0) },
    },
  });
  expect(await queryRows(store, 'SELECT episode, q, supported FROM turn_values')).toEqual([
    { episode: 1, q: null, supported: true },
    { episode: 2, q: null, supported: false },
  ]);
});

test('lone surrogates become U+FFFD and are counted', async () => {
  await store.connection.run('DELETE FROM censored');
  const values = [
    '\ud83d',
    '\ude42 then long enough to lie outside',
    'a\ud83d',
    '\ude42b',
    '🙂 fine',
    '\ud800'.repeat(30),
  ];
  const column = { kind: 'text', values } as const;
  const columns = { episode_id: column, reason: column };
  expect(await appendBatch(store, { table: 'censored', rows: values.length, columns })).toEqual({
    replaced: 10,
  });
  const back = await queryRows(store, 'SELECT reason FROM censored');
  expect(back.map((r) => r.reason)).toEqual(values.map((v) => Buffer.from(v, 'utf8').toString('utf8')));
});

test('a batch of a window into larger arrays', async () => {
  await store.connection.run('DELETE FROM segments');
  const wide = Int32Array.of(9, 9, 1, 2, 3, 9);
  await appendBatch(store, {
    table: 'segments',
    rows: 2,
    columns: {
      episode: { kind: 'i64', values: Float64Array.of(5, 6, 7).subarray(1) },
      segment: { kind: 'i32', values: new Int32Array(2) },
      token_ids: { kind: 'list', offsets: Int32Array.of(2, 4, 5), child: { kind: 'i32', values: wide } },
      action_mask: {
        kind: 'list',
        offsets: Int32Array.of(0, 0, 1),
        child: { kind: 'bool', values: Uint8Array.of(1) },
      },
    },
  });
  expect(await queryRows(store, 'SELECT episode, token_ids, action_mask FROM segments')).toEqual([
    { episode: 6, token_ids: [1, 2], action_mask: [] },
    { episode: 7, token_ids: [3], action_mask: [true] },
  ]);
});

describe('refused by name, nothing written', () => {
  const episode = { kind: 'i64', values: Float64Array.of(0, 1) } as const;
  const turn = { kind: 'i32', values: Int32Array.of(0, 1) } as const;
  const refused: [string, object, RegExp][] = [
    [
      'unknown column',
      { episode, turn, q: { kind: 'f64', values: new Float64Array(2) } },
      /turns\.q: no such column/,
    ],
    ['missing column', { episode }, /turns\.turn: is missing/],
    [
      'wrong kind',
      { episode, turn: { kind: 'f64', values: new Float64Array(2) } },
      /turns\.turn: INTEGER column of the wrong kind, got f64, expected i32/,
    ],
    [
      'too short',
      { episode, turn: { kind: 'i32', values: new Int32Array(1) } },
      /turns\.turn: holds too few values, got 1/,
    ],
    ['null', { episode, turn: { ...turn, valid: Uint8Array.of(1, 0) } }, /turns\.turn: is null at row 1/],
    [
      'fraction',
      { episode: { kind: 'i64', values: Float64Array.of(0, 0.5) }, turn },
      /turns\.episode: is not a whole number below 2\^53 at row 1 of the batch, got 0.5/,
    ],
    ['beyond 2^53', { episode: { kind: 'i64', values: Float64Array.of(0, 2 ** 53) }, turn }, /2\^53/],
    [
      'offsets',
      {
        episode,
        turn,
        features: {
          kind: 'list',
          offsets: Int32Array.of(0, 2, 1),
          child: { kind: 'f64', values: new Float64Array(2) },
        },
      },
      /features: offsets do not ascend at row 1/,
    ],
    [
      'child too short',
      {
        episode,
        turn,
        features: {
          kind: 'list',
          offsets: Int32Array.of(0, 2, 3),
          child: { kind: 'f64', values: new Float64Array(2) },
        },
      },
      /features \(values\): holds too few/,
    ],
    [
      'child of the wrong kind',
      {
        episode,
        turn,
        features: {
          kind: 'list',
          offsets: Int32Array.of(0, 1, 2),
          child: { kind: 'f32', values: new Float32Array(2) },
        },
      },
      /wrong kind, got f32, expected f64/,
    ],
  ];
  test.each(refused)('%s', async (_, columns, message) => {
    await store.connection.run('DELETE FROM turns');
    await expect(appendBatch(store, { table: 'turns', rows: 2, columns: columns as never })).rejects.toThrow(
      message,
    );
    expect(await queryRows(store, 'SELECT count(*) AS n FROM turns')).toEqual([{ n: 0 }]);
  });
});

describe('transaction', () => {
  const batch = batchOf('censored', [{ episode_id: 'e', task_id: null, lag: 1, reason: 'stale' }]);
  const count = async () => (await queryRows(store, 'SELECT count(*) AS n FROM censored'))[0]!.n;

  test('sees its own rows and keeps them', async () => {
    await store.connection.run('DELETE FROM censored');
    const value = await transaction(store, async () => {
      await appendBatch(store, batch);
      await appendBatch(store, batch);
      expect(await count()).toBe(2);
      expect(await stored('SELECT reason FROM censored')).toHaveLength(2);
      return 'done';
    });
    expect(value).toBe('done');
    expect(await count()).toBe(2);
  });

  test('keeps nothing where the body throws, nor where the engine refuses', async () => {
    await store.connection.run('DELETE FROM censored');
    const thrown = transaction(store, async () => {
      await appendBatch(store, batch);
      throw new Error('mine');
    });
    await expect(thrown).rejects.toThrow('mine');
    const refused = transaction(store, async () => {
      await appendBatch(store, batch);
      await store.connection.run('SELECT * FROM nowhere');
    });
    await expect(refused).rejects.toThrow(/nowhere/);
    expect(await count()).toBe(0);
    await transaction(store, () => appendBatch(store, batch));
    expect(await count()).toBe(1);
  });

  test('does not nest', async () => {
    await expect(transaction(store, () => transaction(store, count))).rejects.toThrow(/in a transaction/);
  });
});
