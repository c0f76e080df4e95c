import type { TrainedOn } from '../schema/trained-on.ts';
import type { Warning } from '../schema/warning.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { filterEpisodes } from '../trajectories/view.ts';

/** How a store knows its files; `trained_on.sources` may name either. */
export interface SourceName {
  readonly source: number;
  readonly path: string;
  readonly sha256: string;
}

export interface HeldOut {
  /** The episodes that the target was not trained on, as far as it says. */
  readonly trajectories: Trajectories;
  /** Left out: episodes, and distinct tasks among them. */
  readonly episodes: number;
  readonly tasks: number;
  /** Whether overlap is excluded. False: unknown, or named in terms that these logs cannot resolve. */
  readonly known: boolean;
  readonly warnings: readonly Warning[];
}

/**
 * Moves out what a target was trained on: evaluated on its own training logs, a policy gets a wrong
 * value with a mean weight of exactly 1 and a fine effective sample size. A task of a training
 * source is a training task in every source.
 */
export function heldOut(t: Trajectories, trainedOn: TrainedOn, sources: readonly SourceName[] = []): HeldOut {
  if (trainedOn === 'none') return { trajectories: t, episodes: 0, tasks: 0, known: true, warnings: [] };
  const unknown = (message: string): Warning => ({ code: 'trained-on-unknown', message });
  if (trainedOn === 'unknown' || (trainedOn.sources.length === 0 && trainedOn.tasks.length === 0))
    return {
      trajectories: t,
      episodes: 0,
      tasks: 0,
      known: false,
      warnings: [
        unknown(
          'what the target was trained on is unknown: on its own training logs its value would be wrong and nothing here would show it',
        ),
      ],
    };

  const warnings: Warning[] = [];
  const training = new Set<number>();
  for (const name of trainedOn.sources) {
    const found = sources.filter((s) => s.path === name || s.sha256 === name);
    for (const { source } of found) training.add(source);
    if (found.length === 0)
      warnings.push(
        unknown(`trained_on names source "${name}", which these logs do not know by path or sha256`),
      );
  }
  const { codes, values } = t.episodes.task;
  const tasks = new Set(trainedOn.tasks);
  const known = new Set(values);
  const strange = [...tasks].filter((task) => !known.has(task));
  // Where not one id is known, it may be the way they are written.
  if (strange.length > 0)
    warnings.push({
      code:
        strange.length === tasks.size && training.size === 0
          ? 'trained-on-unknown'
          : 'trained-on-task-unknown',
      message: `trained_on names ${strange.length} of ${tasks.size} tasks that these logs do not have, "${strange[0]}" for instance`,
      count: strange.length,
    });
  const moved = Uint8Array.from(values, (task) => (tasks.has(task) ? 1 : 0));
  for (const e of t.index) if (training.has(t.episodes.source[e]!) && codes[e]! >= 0) moved[codes[e]!] = 1;
  const view = filterEpisodes(
    t,
    (e) => !training.has(t.episodes.source[e]!) && !(codes[e]! >= 0 && moved[codes[e]!] === 1),
  );
  const episodes = t.index.length - view.index.length;
  const kept = new Set(view.index);
  const count = new Set([...t.index].filter((e) => !kept.has(e) && codes[e]! >= 0).map((e) => codes[e]!))
    .size;
  if (episodes > 0)
    warnings.push({
      code: 'held-out',
      message: `the target was trained on ${count} of these tasks: ${episodes} of ${t.index.length} episodes are left out`,
      count: episodes,
    });
  const nameless = view.index.filter((e) => codes[e]! < 0).length;
  if (trainedOn.tasks.length > 0 && nameless > 0)
    warnings.push(unknown(`${nameless} episodes have no task id, so trained_on cannot be checked for them`));
  return {
    trajectories: view,
    episodes,
    tasks: count,
    known: !warnings.some((w) => w.code === 'trained-on-unknown'),
    warnings,
  };
}
