import { failure } from '../schema/error.ts';
import type { Trajectories } from './trajectories.ts';

/** The episodes of the view for which `keep(row)` holds; `row` is the row of the episode columns. */
export function filterEpisodes(t: Trajectories, keep: (row: number) => boolean): Trajectories {
  return { ...t, index: t.index.filter(keep) };
}

/** The episodes of the named tasks; an episode without a task is in none. */
export function withTasks(t: Trajectories, tasks: Iterable<string>): Trajectories {
  const named = taskMask(t, tasks);
  const { codes } = t.episodes.task;
  return filterEpisodes(t, (e) => codes[e]! >= 0 && named[codes[e]!] === 1);
}

/** The episodes of all other tasks, and those without a task. */
export function withoutTasks(t: Trajectories, tasks: Iterable<string>): Trajectories {
  const named = taskMask(t, tasks);
  const { codes } = t.episodes.task;
  return filterEpisodes(t, (e) => codes[e]! < 0 || named[codes[e]!] === 0);
}

/** The episodes at the given places of the view, in that order, repeats allowed (a resample). */
export function takeEpisodes(t: Trajectories, places: ArrayLike<number>): Trajectories {
  const index = new Int32Array(places.length);
  for (let i = 0; i < index.length; i++) {
    const e = t.index[places[i]!];
    if (e === undefined)
      throw failure({
        subject: 'trajectories',
        wrong: 'no such place in the view',
        got: places[i],
        expected: `0 to ${t.index.length - 1}`,
      });
    index[i] = e;
  }
  return { ...t, index };
}

/** Row of the episode columns that each turn belongs to, [S]. */
export function episodeOfTurn(t: Trajectories): Int32Array {
  const of = new Int32Array(t.turns.turn.length);
  for (let e = 0; e + 1 < t.episodeOffsets.length; e++)
    of.fill(e, t.episodeOffsets[e]!, t.episodeOffsets[e + 1]!);
  return of;
}

function taskMask(t: Trajectories, tasks: Iterable<string>): Uint8Array {
  const named = tasks instanceof Set ? tasks : new Set(tasks);
  return Uint8Array.from(t.episodes.task.values, (task) => (named.has(task) ? 1 : 0));
}
