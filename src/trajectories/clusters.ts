import type { Clusters, Trajectories } from './trajectories.ts';

/**
 * Cluster of each episode of the view: its task, or the episode itself where it has none. Codes
 * are dense, in order of first appearance in the view. An episode that a view holds twice is one
 * cluster. O(N).
 */
export function clusters(t: Trajectories): Clusters {
  const tasks = t.episodes.task;
  const ofTask = new Int32Array(tasks.values.length).fill(-1);
  const ofEpisode = new Map<number, number>();
  const of = new Int32Array(t.index.length);
  let count = 0;
  for (let i = 0; i < of.length; i++) {
    const e = t.index[i]!;
    const task = tasks.codes[e]!;
    let c = task < 0 ? (ofEpisode.get(e) ?? -1) : ofTask[task]!;
    if (c < 0) {
      c = count++;
      if (task < 0) ofEpisode.set(e, c);
      else ofTask[task] = c;
    }
    of[i] = c;
  }
  return { of, count };
}
