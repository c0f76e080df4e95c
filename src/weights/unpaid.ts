import { ENDINGS } from '../schema/episode.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { LogRatios, MissingWeight } from './ratios.ts';

const ABORTED = ENDINGS.indexOf('aborted');

/** Episodes of a view that were not aborted and are not among those with a return; all lists ascend. */
export function unpaidEpisodes({ index, episodes }: Trajectories, paid: Int32Array): Int32Array {
  let next = 0;
  return index.filter((e) => {
    if (paid[next] === e) {
      next++;
      return false;
    }
    return episodes.ending[e] !== ABORTED;
  });
}

/** The target's weight on them, of those in its view. O(their number). */
export function missingWeight({ unpaid, missing, trajectories }: LogRatios): MissingWeight {
  if (missing !== undefined) return missing;
  const out = { weight: 0, unknown: 0 };
  if (unpaid === undefined) return out;
  const view = new Set(trajectories.index);
  unpaid.episodes.forEach((e, i) => {
    if (!view.has(e)) return;
    const log = unpaid.logWeight[i]!;
    if (Number.isNaN(log)) out.unknown++;
    else out.weight += Math.exp(log);
  });
  return out;
}
