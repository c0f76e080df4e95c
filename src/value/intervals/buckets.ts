/*
 * Tasks in at most 1,000 buckets, so that a resample costs the same whatever the size of the logs.
 *
 * With no more tasks than that each has its own. Beyond, a task goes where the hash of its id says,
 * whatever shard or order it comes in, so that sums of shards merge; buckets that stay empty do not count.
 *
 * What it costs: tasks are independent, so the variance of the sum of a bucket is the sum over its tasks and
 * resampling whole buckets keeps the variance of every sum; what is within a bucket is kept as what is
 * within a cluster. The estimate of that variance has the noise of about 1,000 squares in place of K
 * (relative standard deviation √(2/1000) = 4.5 %), and skewness per bucket is that of a sum of tasks.
 */
import { hashText } from '../../trajectories/murmur.ts';
import type { EpisodeWeights } from '../../weights/episode-weights.ts';

export const MOST_BUCKETS = 1000;

export interface Buckets {
  readonly of: Int32Array; // [n]
  readonly count: number;
}

/** Bucket of each episode. O(n + K log K) */
export function taskBuckets(
  { trajectories, clusters }: Pick<EpisodeWeights, 'trajectories' | 'clusters'>,
  most = MOST_BUCKETS,
): Buckets {
  const { index, episodes } = trajectories;
  const names = new Array<string>(clusters.count);
  for (let i = 0; i < index.length; i++) {
    const c = clusters.of[i]!;
    if (names[c] !== undefined) continue;
    const task = episodes.task.codes[index[i]!]!;
    // An episode without a task is its own cluster; no task may share its bucket's name by chance.
    names[c] = task < 0 ? `\0episode ${episodes.id[index[i]!]}` : episodes.task.values[task]!;
  }
  const hash = Float64Array.from(names, (name) => hashText(name));
  const bucket = names.length <= most ? ranks(names, hash) : dense(hash.map((h) => h % most));
  return { of: clusters.of.map((c) => bucket[c]!), count: bucket.reduce((a, b) => Math.max(a, b + 1), 0) };
}

/** Place of each task by (hash, id): the order of the logs does not matter. */
function ranks(names: readonly string[], hash: Float64Array): Int32Array {
  const order = [...names.keys()].sort(
    (a, b) => hash[a]! - hash[b]! || (names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : 0),
  );
  const out = new Int32Array(names.length);
  order.forEach((c, rank) => {
    out[c] = rank;
  });
  return out;
}

/** The same codes without gaps, in their order. */
function dense(codes: Float64Array): Int32Array {
  const place = new Map([...new Set(codes)].sort((a, b) => a - b).map((code, i) => [code, i]));
  return Int32Array.from(codes, (code) => place.get(code)!);
}
