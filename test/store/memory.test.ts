import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, describe as group, test } from 'vitest';
import { importTables } from '../../src/ingest/import-tables.ts';
import { check } from '../../src/inspect/check.ts';
import { describe } from '../../src/inspect/describe.ts';
import { appendBatch } from '../../src/store/append.ts';
import { exportArrow } from '../../src/store/arrow.ts';
import type { Batch } from '../../src/store/batch.ts';
import { memorySize, memoryThere } from '../../src/store/memory-limit.ts';
import { exportParquet } from '../../src/store/parquet.ts';
import { queryRows, scan } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { TABLES, type TableName } from '../../src/store/tables.ts';
import { transaction } from '../../src/store/transaction.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { withTokenLogprobs } from '../../src/weights/token-sums.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

group('sizes', () => {
  test.each([
    ['4GB', 4e9],
    ['512mb', 512e6],
    ['1.5 GiB', 1.5 * 2 ** 30],
    ['33000KB', 33e6],
  ])('%s', (text, bytes) => expect(memorySize(text)).toBe(bytes));
  test.each(['', '4', 'GB', '-4GB', '4 G B', '1e9', '4GB; DROP TABLE turns', 'NaNGB'])(
    '"%s" is none',
    (text) => expect(() => memorySize(text)).toThrow(/memoryLimit: is not a size, got .*for instance 4GB/),
  );
  test('31MB is too little', () =>
    expect(() => memorySize('31MB', '--memory')).toThrow(/--memory: is too little/));
  test('what is there is most of the machine, and no more', () => {
    expect(memoryThere()).toBeGreaterThan(0);
    expect(memoryThere()).toBeLessThanOrEqual(0.75 * totalmem());
  });
});

/** Values that cannot be spilled, about 100 MB of them, from nothing. */
const NEEDY = 'SELECT len(list(i))::INTEGER AS n FROM range(12000000) t(i)';

group('the limit', () => {
  test('one that nobody gave grows with the query, and the answer is whole', async () => {
    const store = await openStore(':memory:', { mode: 'create', startLimit: '64MB' });
    expect(store.memory).toMatchObject({ bytes: 64e6, fixed: false });
    expect(await queryRows(store, NEEDY)).toEqual([{ n: 12_000_000 }]);
    expect(store.memory.bytes).toBeGreaterThan(64e6);
    store.close();
  });
  test('so does a scan that has handed out nothing yet', async () => {
    const store = await openStore(':memory:', { mode: 'create', startLimit: '64MB' });
    const rows: unknown[] = [];
    for await (const chunk of scan(store, NEEDY))
      rows.push(...(chunk.columns.n as { values: Int32Array }).values);
    expect(rows).toEqual([12_000_000]);
    store.close();
  });
  test('one that was given stays, and the message names the flag and the value in force', async () => {
    const store = await openStore(':memory:', { mode: 'create', memoryLimit: '64MB' });
    await expect(queryRows(store, NEEDY)).rejects.toThrow(
      /ran out of memory.*Let it have more with --memory \(in a program: memoryLimit\).*it had 61\.0 MiB/,
    );
    expect(store.memory.bytes).toBe(64e6);
    store.close();
  });
});

/** Made so that 2,048 whole segments, or the rows of all turns, do not fit into the limit below. */
const EPISODES = 240;
const TOKENS = 20_000;
const LIMIT = '128MB';
/** The writer of Parquet holds row groups of 2,048 pieces. */
const EXPORT_LIMIT = '256MB';

async function fill(store: Store): Promise<void> {
  const some = 20;
  const n = some * TOKENS;
  const offsets = Int32Array.from({ length: some + 1 }, (_, i) => i * TOKENS);
  const list = (child: Extract<Batch['columns'][string], { kind: 'i32' | 'f32' | 'bool' }>) =>
    ({ kind: 'list', offsets, child }) as const;
  const ids = Int32Array.from({ length: n }, (_, k) => (k * 7919) % 150_000);
  const text = (rows: number, of: (i: number) => string) =>
    ({ kind: 'text', values: Array.from({ length: rows }, (_, i) => of(i)) }) as const;
  await transaction(store, async () => {
    await store.connection.run(
      "INSERT INTO sources VALUES (0, 'log', 'aa', 'bb', 'canonical', 1, 240, 240, 0, TIMESTAMP '2026-01-01')",
    );
    for (let at = 0; at < EPISODES; at += some) {
      const episode = { kind: 'i64', values: Float64Array.from({ length: some }, (_, i) => at + i) } as const;
      const zero = { kind: 'i32', values: new Int32Array(some) } as const;
      const one = { kind: 'i32', values: new Int32Array(some).fill(1) } as const;
      await appendBatch(store, {
        table: 'episodes',
        rows: some,
        columns: {
          episode,
          episode_id: text(some, (i) => `e${at + i}`),
          source: zero,
          ending: text(some, () => 'terminated'),
          reward: { kind: 'f64', values: Float64Array.from({ length: some }, (_, i) => i % 2) },
          n_turns: one,
        },
      });
      await appendBatch(store, {
        table: 'turns',
        rows: some,
        columns: { episode, turn: zero, segment: zero, action: text(some, (i) => `action ${at + i}`) },
      });
      await appendBatch(store, {
        table: 'segments',
        rows: some,
        columns: {
          episode,
          segment: zero,
          token_ids: list({ kind: 'i32', values: ids.map((id) => id ^ at) }),
          action_mask: list({ kind: 'bool', values: new Uint8Array(n).fill(1) }),
          behaviour_logprobs: list({ kind: 'f32', values: new Float32Array(n).fill(-0.25) }),
          token_turn: list({ kind: 'i32', values: new Int32Array(n) }),
        },
      });
    }
  });
}

test('240 segments of 20,000 tokens are written and read within 128 MB, exported and imported within 256', async () => {
  const path = join(folder, 'long.duckdb');
  const made = await openStore(path, { mode: 'create', memoryLimit: LIMIT });
  await fill(made);
  made.close();
  const store = await openStore(path, { mode: 'read', memoryLimit: LIMIT });
  const { tokens } = await describe(store);
  expect(tokens).toMatchObject({
    segments: EPISODES,
    tokens: EPISODES * TOKENS,
    actionTokens: EPISODES * TOKENS,
  });
  const codes = (await check(store)).findings.map((f) => f.code);
  expect(codes).not.toContain('segment-broken');
  const { turns } = await withTokenLogprobs(store, await loadTrajectories(store));
  expect(turns.behaviourLogprob).toEqual(new Float64Array(EPISODES).fill(-0.25 * TOKENS));
  store.close();
  const source = await openStore(path, { mode: 'read', memoryLimit: EXPORT_LIMIT });
  for (const format of ['parquet', 'arrow'] as const) {
    const write = format === 'parquet' ? exportParquet : exportArrow;
    const files: string[] = [];
    for (const table of Object.keys(TABLES) as TableName[]) {
      files.push(join(folder, `${table}.${format}`));
      await write(source, table, files.at(-1)!);
    }
    const copyPath = join(folder, `copy-${format}.duckdb`);
    const copy = await openStore(copyPath, { mode: 'create', memoryLimit: EXPORT_LIMIT });
    await importTables(copy, files);
    const sum = 'SELECT count(*) AS rows, bit_xor(hash(segments))::VARCHAR AS hash FROM segments';
    expect(await queryRows(copy, sum)).toEqual(await queryRows(source, sum));
    copy.close();
    for (const file of [...files, copyPath]) rmSync(file);
  }
  source.close();
});
