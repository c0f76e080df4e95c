import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { appendBatch } from '../../src/store/append.ts';
import type { Batch, ColumnData } from '../../src/store/batch.ts';
import { openStore } from '../../src/store/store.ts';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { compact } from '../../src/trajectories/compact.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { filterEpisodes } from '../../src/trajectories/view.ts';
import { batchesOf, episodes, parse, withStore } from './arbitrary.ts';

const parts = { features: true, tokens: true };

test.prop([episodes], { numRuns: 30 })('load(store(records)) = build(records)', async (records) => {
  const built = trajectoriesFromEpisodes(records, parts);
  expect(await withStore(records, (store) => loadTrajectories(store, parts))).toEqual(built);
});

test.prop([episodes, fc.integer()], { numRuns: 20 })(
  'rows out of order are sorted by the store',
  async (records, seed) => {
    const store = await openStore(':memory:', { mode: 'create' });
    for (const batch of batchesOf(records)) await appendBatch(store, shuffled(batch, seed));
    const loaded = await loadTrajectories(store, parts);
    store.close();
    expect(loaded).toEqual(trajectoriesFromEpisodes(records, parts));
  },
);

test.prop([episodes], { numRuns: 20 })(
  'loading some policies = the view of them, on its own',
  async (records) => {
    const all = trajectoriesFromEpisodes(records, parts);
    const code = all.episodes.policy.values.indexOf('b');
    fc.pre(code >= 0);
    const view = compact(filterEpisodes(all, (e) => all.episodes.policy.codes[e] === code));
    const loaded = await withStore(records, (store) =>
      loadTrajectories(store, { ...parts, policies: ['b'] }),
    );
    expect(loaded.episodes.episode).toEqual(view.episodes.episode);
    expect(loaded.episodeOffsets).toEqual(view.episodeOffsets);
    expect(loaded.turns.reward).toEqual(view.turns.reward);
    expect(loaded.features?.values ?? new Float64Array(0)).toEqual(
      view.features?.values ?? new Float64Array(0),
    );
    expect(loaded.tokens).toEqual(view.tokens);
    const names = (t: typeof view) =>
      Array.from(t.turns.actionClass.codes, (c) => t.turns.actionClass.values[c]);
    expect(names(loaded)).toEqual(names(view));
  },
);

test('more rows than a chunk holds', async () => {
  const [plain] = parse([{ turns: [{ action: 'ls' }] }]);
  const turns = (i: number) =>
    Array.from({ length: i % 4 }, (_, k) => ({
      ...plain!.turns[0]!,
      reward: i + k / 10,
      features: [i, k],
      action_class: `c${k}`,
    }));
  const records = Array.from({ length: 50_000 }, (_, i) => ({
    ...plain!,
    episode_id: `e${i}`,
    task_id: `t${i % 7}`,
    turns: turns(i),
  }));
  const loaded = await withStore(records, (store) => loadTrajectories(store));
  const built = trajectoriesFromEpisodes(records);
  expect(loaded.episodeOffsets.at(-1)).toBe(75_000);
  for (const [a, b] of [
    [loaded.episodeOffsets, built.episodeOffsets],
    [loaded.episodes.task.codes, built.episodes.task.codes],
    [loaded.turns.turn, built.turns.turn],
    [loaded.turns.reward, built.turns.reward],
    [loaded.turns.actionClass.codes, built.turns.actionClass.codes],
    [loaded.features!.offsets, built.features!.offsets],
    [loaded.features!.values, built.features!.values],
  ] as const)
    expect(Buffer.compare(Buffer.from(a.buffer), Buffer.from(b.buffer))).toBe(0);
});

test('an unknown policy or source is a usage error that lists the known', async () => {
  const records = parse([{ policy: 'a' }]);
  await withStore(records, async (store) => {
    const expected = { exitCode: 2, message: expect.stringContaining('expected one of a') };
    await expect(loadTrajectories(store, { policies: ['zz'] })).rejects.toMatchObject(expected);
    await expect(loadTrajectories(store, { sources: [7] })).rejects.toMatchObject({ exitCode: 2 });
  });
});

test('a turn that is there twice and a turn without an episode are refused by name', async () => {
  const records = parse([{ turns: [{}, {}] }]);
  await withStore(records, async (store) => {
    await appendBatch(store, batchesOf(records)[1]!);
    await expect(loadTrajectories(store)).rejects.toThrow(/turns, episode 0, turn 0: the row is there twice/);
  });
  await withStore(records, async (store) => {
    const orphan = { kind: 'i64', values: Float64Array.of(9) } as const;
    const turn = { kind: 'i32', values: Int32Array.of(0) } as const;
    await appendBatch(store, { table: 'turns', rows: 1, columns: { episode: orphan, turn } });
    await expect(loadTrajectories(store)).rejects.toThrow(/turns, episode 9: rows of an episode/);
  });
});

test('build refuses an id that comes twice and turns out of order', () => {
  expect(() => trajectoriesFromEpisodes(parse([{}, { episode_id: 'e0' }]))).toThrow(/episode e0/);
  const back = parse([{ turns: [{ turn: 3 }, { turn: 2 }] }]);
  expect(() => trajectoriesFromEpisodes(back)).toThrow(/episode e0, turn 2: comes after turn 3/);
});

/** The rows of a batch in another order. */
function shuffled(batch: Batch, seed: number): Batch {
  const order = Array.from({ length: batch.rows }, (_, i) => i).sort(
    (a, b) => Math.sin(a * 12.9 + seed) - Math.sin(b * 12.9 + seed),
  );
  const columns = Object.entries(batch.columns).map(([name, column]) => [name, permuted(column, order)]);
  return { ...batch, columns: Object.fromEntries(columns) };
}

function permuted(column: ColumnData, order: readonly number[]): ColumnData {
  if (column.kind === 'text') return { kind: 'text', values: order.map((i) => column.values[i]!) };
  const valid = column.valid && Uint8Array.from(order, (i) => column.valid![i]!);
  if (column.kind !== 'list') {
    const values = column.values.slice(0, order.length);
    order.forEach((i, j) => {
      values[j] = column.values[i]!;
    });
    return { ...column, values, valid } as ColumnData;
  }
  const child = order.flatMap((i) =>
    Array.from({ length: column.offsets[i + 1]! - column.offsets[i]! }, (_, j) => column.offsets[i]! + j),
  );
  const offsets = Int32Array.of(0, ...order.map((i) => column.offsets[i + 1]! - column.offsets[i]!));
  for (let i = 1; i < offsets.length; i++) offsets[i] = offsets[i]! + offsets[i - 1]!;
  return { kind: 'list', offsets, child: permuted(column.child, child), valid };
}
