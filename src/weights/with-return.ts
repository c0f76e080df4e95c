import { episodeReturn } from '../trajectories/return.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

/** The episodes of the view whose return is defined: an aborted rollout says nothing of a policy's value. */
export function withReturn(t: Trajectories): Trajectories {
  const G = episodeReturn(t);
  return { ...t, index: t.index.filter((_, i) => !Number.isNaN(G[i]!)) };
}
