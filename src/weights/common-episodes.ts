import { failure } from '../schema/error.ts';
import { filterEpisodes } from '../trajectories/view.ts';
import type { LogRatios } from './ratios.ts';

/**
 * The same episodes for every target: those that no target was trained on, so that differences are within
 * episodes. The targets' log-ratios must be of the same loaded logs. O(targets × episodes)
 */
export function onCommonEpisodes(targets: readonly LogRatios[]): LogRatios[] {
  const [first] = targets;
  if (first === undefined) return [];
  const seen = new Int32Array(first.trajectories.episodes.id.length);
  for (const { target, trajectories } of targets) {
    if (trajectories.episodes !== first.trajectories.episodes)
      throw failure({ subject: `target "${target}"`, wrong: 'is of other logs than the first target' });
    for (const e of trajectories.index) seen[e] = seen[e]! + 1;
  }
  return targets.map((ratios) => ({
    ...ratios,
    trajectories: filterEpisodes(ratios.trajectories, (e) => seen[e] === targets.length),
  }));
}
