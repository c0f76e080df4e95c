import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { clusters } from '../../src/trajectories/clusters.ts';
import { episodeShards, foldsByTask, taskShard, trainTestByTask } from '../../src/trajectories/split.ts';
import { filterEpisodes, takeEpisodes, withoutTasks, withTasks } from '../../src/trajectories/view.ts';
import { parse } from './arbitrary.ts';

const build = (tasks: readonly (string | null)[]) =>
  trajectoriesFromEpisodes(parse(tasks.map((task_id) => ({ task_id }))));
const name = fc.option(fc.constantFrom(...'abcdefgh'), { freq: 5 });
const logs = fc.array(name, { minLength: 1, maxLength: 40 }).map(build);
const seeds = fc.integer({ min: 0, max: 1e6 });

test('clusters count tasks in order of appearance in the view; an episode without one is its own', () => {
  const t = build(['b', null, 'a', 'b', null]);
  expect(clusters(t)).toEqual({ of: Int32Array.of(0, 1, 2, 0, 3), count: 4 });
  expect(clusters(takeEpisodes(t, [4, 2, 4, 3]))).toEqual({ of: Int32Array.of(0, 1, 0, 2), count: 3 });
});

test('views by task', () => {
  const t = build(['b', null, 'a', 'b', 'c']);
  expect([...withTasks(t, ['b', 'c', 'zz']).index]).toEqual([0, 3, 4]);
  expect([...withoutTasks(t, new Set(['b', 'c'])).index]).toEqual([1, 2]);
  expect([...filterEpisodes(withTasks(t, ['b', 'c']), (row) => row !== 3).index]).toEqual([0, 4]);
  expect(() => takeEpisodes(t, [5])).toThrow(/no such place in the view, got 5, expected 0 to 4/);
});

test.prop([logs, fc.integer({ min: 2, max: 5 }), seeds])(
  'folds hold whole tasks and are balanced',
  (t, folds, seed) => {
    const c = clusters(t);
    fc.pre(c.count >= folds);
    const fold = foldsByTask(t, folds, seed);
    const ofCluster = new Map<number, number>();
    const held = Array<number>(folds).fill(0);
    fold.forEach((f, i) => {
      expect(ofCluster.get(c.of[i]!) ?? f).toBe(f);
      ofCluster.set(c.of[i]!, f);
      held[f]!++;
    });
    // Dealing the largest first, no two folds differ by more than the largest task.
    const sizes = [...c.of].reduce((n, k) => n.set(k, (n.get(k) ?? 0) + 1), new Map<number, number>());
    expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(Math.max(...sizes.values()));
    expect(Math.min(...held)).toBeGreaterThan(0);
  },
);

test.prop([logs, seeds])('folds do not depend on the order of the log', (t, seed) => {
  fc.pre(clusters(t).count >= 2);
  const back = takeEpisodes(t, [...t.index].reverse());
  expect([...foldsByTask(back, 2, seed)].reverse()).toEqual([...foldsByTask(t, 2, seed)]);
});

test('the seed decides', () => {
  const t = build([...'abcdefghijklmnop']);
  const drawn = new Set([1, 2, 3, 4].map((seed) => foldsByTask(t, 4, seed).join()));
  expect(drawn.size).toBe(4);
  expect(foldsByTask(t, 4, 1)).toEqual(foldsByTask(t, 4, 1));
});

test.prop([logs, fc.double({ min: 0.05, max: 0.95, noNaN: true }), seeds])(
  'train and test share no task and make the view',
  (t, share, seed) => {
    fc.pre(clusters(t).count >= 2);
    const { train, test: held } = trainTestByTask(t, share, seed);
    const key = (row: number) => t.episodes.task.values[t.episodes.task.codes[row]!] ?? row;
    const tasks = new Set(Array.from(train.index, key));
    expect(Array.from(held.index, key).filter((task) => tasks.has(task))).toEqual([]);
    expect([...train.index, ...held.index].sort((a, b) => a - b)).toEqual([...t.index]);
    expect(Math.min(train.index.length, held.index.length)).toBeGreaterThan(0);
  },
);

test('with tasks of one size the test share is met to half a task', () => {
  const t = build(Array.from({ length: 200 }, (_, i) => `t${i % 50}`));
  for (const share of [0.1, 0.25, 0.5, 0.8]) {
    const { test: held } = trainTestByTask(t, share, 7);
    expect(Math.abs(held.index.length - 200 * share)).toBeLessThanOrEqual(2);
  }
});

test('too few tasks are refused', () => {
  expect(() => foldsByTask(build(['a', 'a']), 2, 1)).toThrow(/1 tasks cannot be dealt to 2 folds/);
  expect(() => trainTestByTask(build(['a', 'a']), 0.5, 1)).toThrow(/at least two tasks/);
  expect(() => foldsByTask(build(['a', 'b']), 1, 1)).toThrow(/not a number of folds, got 1/);
});

/** From an independent MurmurHash3 in Python, over the code units as little-endian 32-bit words. */
test.each([
  ['task-0001', 721],
  ['django__django-11099', 518],
  ['文/é', 718],
])('shard of %s is the same in every run', (task, shard) => {
  expect(taskShard(task, 1000)).toBe(shard);
});

test('shards never cut a task, and are even', () => {
  const tasks = Array.from({ length: 4000 }, (_, i) => `task-${i >> 1}`);
  const shards = episodeShards(build(tasks), 4);
  const held = [0, 0, 0, 0];
  shards.forEach((shard, i) => {
    held[shard]!++;
    expect(shard).toBe(taskShard(tasks[i]!, 4));
  });
  for (const n of held) expect(Math.abs(n - 1000)).toBeLessThan(4 * Math.sqrt(2 * 2000 * 0.25 * 0.75) * 1.5);
  expect([...episodeShards(build([null]), 8)]).toEqual([taskShard('e0', 8)]);
});
