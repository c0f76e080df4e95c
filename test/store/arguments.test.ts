import { describe, expect, test } from 'vitest';
import { estimateArrays, loadTrajectories, openStore, queryRows } from '../../src/index.ts';

/** What a program without types may pass. */
const open = openStore as (path?: unknown, options?: unknown) => Promise<{ close(): void }>;

describe('openStore says what is wrong with its arguments', () => {
  test.each([
    [[], /^openStore, path: is no name of a file, got undefined, expected the path of a store/],
    [[''], /path: is no name of a file, got an empty one/],
    [[null], /got null/],
    [[{ path: 'a.duckdb' }], /path: is no name of a file, got object/],
    [['a.duckdb', 'read'], /^openStore, options: is no object, got "read", expected \{ mode: 'create' \}/],
    [['a.duckdb', null], /^openStore, options: is no object, got null/],
    [['a.duckdb', { mode: 'append' }], /^openStore, options: mode: .*"create"\|"write"\|"read"/],
    [['a.duckdb', { readonly: true }], /^openStore, options: .*"readonly"\. There are mode, memoryLimit/],
    [['a.duckdb', { threads: 0 }], /^openStore, options: threads: /],
    [['a.duckdb', { memoryLimit: 4e9 }], /^openStore, options: memoryLimit: /],
  ])('%j', async (given, said) => {
    await expect(open(...given)).rejects.toMatchObject({
      name: 'TurnwiseError',
      exitCode: 2,
      message: expect.stringMatching(said),
    });
  });

  test('without options a store is read, and one in memory is made', async () => {
    await expect(open('/nowhere/at-all.duckdb')).rejects.toThrow('no such store');
    (await open(':memory:')).close();
  });
});

test('a function of a store says where it was given something else', async () => {
  const load = loadTrajectories as (store?: unknown) => Promise<unknown>;
  await expect(load('runs.duckdb')).rejects.toThrow(
    'store: is no open store, got the text "runs.duckdb", expected what `await openStore(path)` gives',
  );
  const store = openStore(':memory:');
  await expect(load(store)).rejects.toThrow('got a promise of one');
  (await store).close();
  await expect(queryRows(undefined as never, 'SELECT 1')).rejects.toThrow('got undefined');
});

describe('estimateArrays says what is wrong with its arguments', () => {
  const right = {
    offsets: Int32Array.of(0, 1, 2, 3),
    behaviour: new Float64Array(3).fill(Math.log(0.5)),
    target: new Float64Array(3).fill(Math.log(0.5)),
    rewards: Float64Array.of(0, 1, 1),
    clusters: { of: Int32Array.of(0, 1, 2), count: 3 },
  };
  const estimate = estimateArrays as (arrays?: unknown, settings?: unknown) => Promise<{ ess: number }>;
  test('what is right is computed', async () => {
    expect((await estimate(right)).ess).toBe(3);
    expect((await estimate({ ...right, q: undefined }, { level: 0.9 })).ess).toBe(3);
  });
  test.each([
    [[], /^estimateArrays: is given no columns, got undefined, expected an object of offsets, behaviour/],
    [[null], /got null/],
    [
      [{ ...right, offsets: [0, 1, 2, 3] }],
      /column offsets: is of another type, got Array, expected Int32Array/,
    ],
    [
      [{ ...right, behaviour: Float32Array.of(1, 2, 3) }],
      /column behaviour: .*got Float32Array, expected Float64Array/,
    ],
    [[{ ...right, target: undefined }], /column target: .*got nothing/],
    [
      [{ ...right, reward: right.rewards }],
      /column reward: is not known, got "reward", expected some of offsets/,
    ],
    [[{ ...right, clusters: undefined }], /column clusters: is not there/],
    [[{ ...right, clusters: { of: [0, 1, 2], count: 3 } }], /column clusters\.of: .*got Array/],
    [[{ ...right, clusters: { of: right.clusters.of, count: 2.5 } }], /clusters\.count: .*got 2\.5/],
    [[{ ...right, q: { logged: right.rewards } }], /column q\.v: .*got nothing/],
    [[right, { level: 95 }], /^estimateArrays, settings: level: /],
    [[right, { threads: 1.5 }], /^estimateArrays, settings: threads: /],
    [[right, { alpha: 0.05 }], /^estimateArrays, settings: .*"alpha"\. There are level, threads/],
  ])('%j', async (given, said) => {
    await expect(estimate(...given)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(said),
    });
  });
});
