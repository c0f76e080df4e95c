import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import {
  Bool,
  Int16,
  makeVector,
  Table,
  TimestampMillisecond,
  TimestampNanosecond,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { appendBatch } from '../../src/store/append.ts';
import {
  appendArrow,
  chunksToArrow,
  exportArrow,
  fromIpc,
  tableToArrow,
  toIpc,
} from '../../src/store/arrow.ts';
import { columnFromArrow } from '../../src/store/arrow-read.ts';
import { queryRows, scan } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { TableName } from '../../src/store/tables.ts';
import { transaction } from '../../src/store/transaction.ts';
import { arbitraryRows, arbitraryTable, batchOf, TABLE_NAMES } from './arbitrary-batch.ts';

let store: Store;
let folder: string;
beforeAll(async () => {
  store = await openStore(':memory:', { mode: 'create' });
  folder = mkdtempSync(join(tmpdir(), 'turnwise-arrow-'));
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const emptied = (table: TableName) => store.connection.run(`DELETE FROM ${table}`);
const rowsIn = (table: TableName) => queryRows(store, `SELECT * FROM ${table}`);

describe('store → Arrow → IPC → Arrow → store is the identity', () => {
  test.prop([arbitraryTable, fc.constantFrom('file', 'stream')], { numRuns: 60 })(
    'any table, any rows',
    async ({ table, rows }, format) => {
      await emptied(table);
      await appendBatch(store, batchOf(table, rows));
      const bytes = toIpc(await tableToArrow(store, table), format as 'file' | 'stream');
      await emptied(table);
      await appendArrow(store, table, fromIpc(bytes));
      expect(await rowsIn(table)).toEqual(rows);
    },
  );

  test.each(TABLE_NAMES)('%s: several record batches, and a slice out of them', async (table) => {
    const [some] = fc.sample(
      arbitraryRows(table, 40).filter((r) => r.length > 7),
      { numRuns: 1, seed: 11 },
    );
    const rows = Array.from({ length: 5000 }, (_, i) => some![(i * i) % some!.length]!);
    await emptied(table);
    await appendBatch(store, batchOf(table, rows));
    const halves = [];
    for (const sql of [`FROM ${table} LIMIT 2500`, `FROM ${table} OFFSET 2500`])
      for await (const chunk of scan(store, sql)) halves.push(chunk);
    const arrow = fromIpc(toIpc(chunksToArrow(halves)));
    expect(arrow.batches.length).toBe(2);
    await emptied(table);
    await appendArrow(store, table, arrow);
    expect(await rowsIn(table)).toEqual(rows);
    await emptied(table);
    await appendArrow(store, table, arrow.slice(1234, 3501));
    expect(await rowsIn(table)).toEqual(rows.slice(1234, 3501));
  });

  test.each(TABLE_NAMES)('%s: no rows, with all its columns', async (table) => {
    await emptied(table);
    const arrow = await tableToArrow(store, table);
    expect(arrow.numRows).toBe(0);
    const back = fromIpc(toIpc(arrow));
    expect(String(back.schema)).toBe(String(arrow.schema));
    await appendArrow(store, table, back);
    expect(await rowsIn(table)).toEqual([]);
  });
});

test('numeric columns are wrapped, not copied', async () => {
  for await (const chunk of scan(
    store,
    'SELECT range::DOUBLE x, range::INTEGER y, [range::FLOAT] z FROM range(5000)',
  )) {
    const arrow = chunksToArrow([chunk]);
    const at = (name: string) => arrow.getChild(name)!.data[0]!;
    const { x, y, z } = chunk.columns;
    if (x?.kind !== 'f64' || y?.kind !== 'i32' || z?.kind !== 'list' || z.child.kind !== 'f32')
      throw new Error();
    expect(at('x').values.buffer).toBe(x.values.buffer);
    expect(at('y').values.buffer).toBe(y.values.buffer);
    expect(at('z').valueOffsets.buffer).toBe(z.offsets.buffer);
    expect(at('z').children[0]!.values.buffer).toBe(z.child.values.buffer);
    const back = columnFromArrow('x', at('x'));
    expect(back.kind === 'f64' && back.values.buffer === x.values.buffer).toBe(true);
  }
});

test('a query keeps the difference between a time and a number', async () => {
  const arrow = await tableToArrow(store, "SELECT TIMESTAMP '2026-01-02' t, $1 n", [5]);
  expect(String(arrow.schema)).toBe('Schema<{ 0: t: Timestamp<MICROSECOND>, 1: n: Int64 }>');
});

test('a file written chunk by chunk reads the same, and no part is left', async () => {
  await emptied('turn_values');
  const rows = Array.from({ length: 70_000 }, (_, i) => ({ critic: 'c', episode: i, turn: 0, q: i / 3 }));
  await appendBatch(store, batchOf('turn_values', rows));
  const path = join(folder, 'values.arrow');
  expect(await exportArrow(store, 'turn_values', path)).toEqual({ rows: 70_000 });
  const arrow = fromIpc(readFileSync(path));
  expect(arrow.batches.length).toBe(2);
  expect(arrow.getChild('q')!.toArray()).toEqual(Float64Array.from(rows, (r) => r.q));
  await expect(exportArrow(store, 'SELECT sum(1) s', join(folder, 'bad.arrow'))).rejects.toThrow(/HUGEINT/);
  await expect(exportArrow(store, 'turns', join(folder, 'no', 'x.arrow'))).rejects.toThrow(
    /folder does not exist/,
  );
  expect(readdirSync(folder)).toEqual(['values.arrow']);
});

describe('Arrow of other makers', () => {
  test('dictionaries, narrow integers and milliseconds are read', async () => {
    await emptied('censored');
    const text = tableFromArrays({ episode_id: ['a', 'b', 'a'], reason: ['stale', 'stale', 'filtered'] });
    const lag = vectorFromArray([1, null, -3], new Int16());
    await appendArrow(store, 'censored', text);
    expect(await queryRows(store, 'SELECT episode_id, reason FROM censored')).toEqual([
      { episode_id: 'a', reason: 'stale' },
      { episode_id: 'b', reason: 'stale' },
      { episode_id: 'a', reason: 'filtered' },
    ]);
    expect(columnFromArrow('lag', lag.data[0]!)).toEqual({
      kind: 'i32',
      values: Int32Array.of(1, 0, -3),
      valid: Uint8Array.of(1, 0, 1),
    });
    const time = vectorFromArray([5n, null], new TimestampMillisecond());
    expect(columnFromArrow('t', time.data[0]!)).toEqual({
      kind: 'i64',
      values: Float64Array.of(5000, 0),
      valid: Uint8Array.of(1, 0),
    });
  });

  test('what would be rounded, and what has no counterpart, is refused by name', () => {
    const nanoseconds = makeVector({ type: new TimestampNanosecond(), data: BigInt64Array.of(1n) }).data[0]!;
    expect(() => columnFromArrow('episodes.started_at', nanoseconds)).toThrow(
      /started_at: is not whole microseconds/,
    );
    const big = vectorFromArray([2n ** 53n]).data[0]!;
    expect(() => columnFromArrow('x', big)).toThrow(/column x: is beyond 2\^53, got 9007199254740992/);
    const dictionary = vectorFromArray(['a']).data[0]!;
    expect(columnFromArrow('x', dictionary)).toEqual({ kind: 'text', values: ['a'] });
    expect(columnFromArrow('x', vectorFromArray([true, false], new Bool()).data[0]!).kind).toBe('bool');
  });

  test('text that is not JSON is refused, and nothing of the table is kept', async () => {
    await emptied('turns');
    const turnsOf = (calls: string) =>
      new Table({
        episode: makeVector(BigInt64Array.of(0n)),
        turn: makeVector(Int32Array.of(0)),
        tool_calls: vectorFromArray([calls], new Utf8()),
      });
    const good = turnsOf('[]');
    const both = good.concat(turnsOf('{oops'));
    expect(both.batches.length).toBe(2);
    await expect(appendArrow(store, 'turns', both)).rejects.toThrow(
      /turns\.tool_calls: is not JSON at row 0/,
    );
    expect(await rowsIn('turns')).toEqual([]);
    await transaction(store, () => appendArrow(store, 'turns', good));
    expect(await rowsIn('turns')).toHaveLength(1);
  });
});
