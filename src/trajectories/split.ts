import { least } from '../math/extremes.ts';
import { permutation, random } from '../math/random.ts';
import { failure } from '../schema/error.ts';
import { clusters } from './clusters.ts';
import { hashText } from './murmur.ts';
import type { Trajectories } from './trajectories.ts';
import { takeEpisodes } from './view.ts';

/**
 * Fold of each episode of the view, [N] of 0 … folds − 1. Whole tasks go to a fold (an episode
 * without a task is its own), the largest first and each to the fold with the fewest episodes, in
 * seeded order among equals. It depends on the tasks and the seed, not on the order of the log.
 * O(N + K log K) for K tasks.
 */
export function foldsByTask(t: Trajectories, folds: number, seed: number): Int32Array {
  const { of, sizes, order } = shuffledClusters(t, seed);
  if (!Number.isInteger(folds) || folds < 2)
    throw failure({ subject: 'folds', wrong: 'not a number of folds', got: folds, expected: '2 or more' });
  if (sizes.length < folds)
    throw failure({
      subject: 'folds',
      wrong: `${sizes.length} tasks cannot be dealt to ${folds} folds`,
      fix: 'Whole tasks go to a fold: ask for fewer folds, or give it more tasks.',
    });
  order.sort((a, b) => sizes[b]! - sizes[a]!); // stable: equals stay shuffled
  const held = new Float64Array(folds);
  const foldOf = new Int32Array(sizes.length);
  for (const c of order) {
    const f = held.indexOf(least(held));
    foldOf[c] = f;
    held[f] = held[f]! + sizes[c]!;
  }
  return of.map((c) => foldOf[c]!);
}

/** Two views of the same columns that share no task. */
export interface Split {
  readonly train: Trajectories;
  readonly test: Trajectories;
}

/**
 * Whole tasks, drawn in seeded order, go to the test side as long as that brings its episodes
 * closer to `testShare` of the view; each side gets at least one task.
 */
export function trainTestByTask(t: Trajectories, testShare: number, seed: number): Split {
  if (!(testShare > 0 && testShare < 1))
    throw failure({
      subject: 'test share',
      wrong: 'not a share',
      got: testShare,
      expected: 'between 0 and 1',
    });
  const { of, sizes, order } = shuffledClusters(t, seed);
  if (sizes.length < 2)
    throw failure({
      subject: 'split',
      wrong: 'a split by task needs at least two tasks',
      got: sizes.length,
    });
  const wanted = testShare * of.length;
  const inTest = new Uint8Array(sizes.length);
  let held = 0;
  let tasks = 0;
  for (const c of order) {
    if (tasks === sizes.length - 1) break;
    if (tasks > 0 && Math.abs(held + sizes[c]! - wanted) >= Math.abs(held - wanted)) continue;
    inTest[c] = 1;
    held += sizes[c]!;
    tasks++;
  }
  const places = (side: number): number[] => {
    const out: number[] = [];
    for (let i = 0; i < of.length; i++) if (inTest[of[i]!] === side) out.push(i);
    return out;
  };
  return { train: takeEpisodes(t, places(0)), test: takeEpisodes(t, places(1)) };
}

/** Shard of a task, 0 … shards − 1: a hash of its name alone, the same in every run and on every machine. */
export function taskShard(taskId: string, shards: number): number {
  if (!Number.isInteger(shards) || shards < 1)
    throw failure({
      subject: 'shards',
      wrong: 'not a number of shards',
      got: shards,
      expected: '1 or more',
    });
  return hashText(taskId) % shards;
}

/** Shard of each episode of the view, [N]: by its task, or by its own id where it has none. */
export function episodeShards(t: Trajectories, shards: number): Int32Array {
  const { task, id } = t.episodes;
  const ofTask = Int32Array.from(task.values, (name) => taskShard(name, shards));
  return t.index.map((e) => (task.codes[e]! < 0 ? taskShard(id[e]!, shards) : ofTask[task.codes[e]!]!));
}

/** Clusters of the view, in an order that depends on their names and the seed only. */
function shuffledClusters(t: Trajectories, seed: number) {
  const { of, count } = clusters(t);
  const sizes = new Int32Array(count);
  const names = new Array<string>(count);
  for (let i = 0; i < of.length; i++) {
    const c = of[i]!;
    if (sizes[c]++ > 0) continue;
    const e = t.index[i]!;
    const task = t.episodes.task.codes[e]!;
    // A task and an episode of the same name are two clusters: the prefix keeps their order fixed.
    names[c] = task < 0 ? `e${t.episodes.id[e]}` : `t${t.episodes.task.values[task]}`;
  }
  const byName = Int32Array.from({ length: count }, (_, c) => c).sort((a, b) =>
    names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : 0,
  );
  const order = permutation(random(seed, 'split by task'), count).map((p) => byName[p]!);
  return { of, sizes, order };
}
