/*
 * Sharp bounds for V(π) where the target leaves the logs (Manski 1990), before sampling error.
 *
 *   u_t = E_b[w_{t−1} Σ_a π(a | h_t) 1{b(a | h_t) = 0}],   u = Σ_t u_t
 *   remaining value in [lo, hi] after leaving:   V ∈ [E_b Σ w_t r_t + u lo, E_b Σ w_t r_t + u hi]
 *   whole return in [lo, hi]:                    V ∈ [E_b w_T G + u lo, E_b w_T G + u hi]
 *
 * Paths that leave keep the reward they had in the first form and not in the second, since IS drops
 * it. The expectations are of the logs at hand: the bounds carry no sampling error.
 */
import { sumOf } from '../math/sum.ts';
import type { UnsupportedBounds } from '../schema/diagnostics.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import { type BothPolicies, behaviourAt, targetAt } from './both-policies.ts';

/** What a range is of. */
export type RangeOf = 'remaining value' | 'return';

export function unsupportedBounds(
  both: BothPolicies,
  w: EpisodeWeights,
  [lo, hi]: readonly [number, number],
  rangeOf: RangeOf,
): UnsupportedBounds {
  const byTurn = leavingByTurn(both, w);
  const mass = byTurn.reduce((a, b) => a + b, 0);
  const supported =
    rangeOf === 'return'
      ? sumOf(w.n, (i) => (w.logWeight[i] === -Infinity ? 0 : Math.exp(w.logWeight[i]!) * w.returns[i]!)) /
        w.n
      : rewardsWhileSupported(w);
  return {
    mass,
    byTurn: [...byTurn],
    supported,
    lo: supported + mass * lo,
    hi: supported + mass * hi,
    rangeOf,
  };
}

/** u_t, [stages]. */
function leavingByTurn(both: BothPolicies, w: EpisodeWeights): Float64Array {
  const u = new Float64Array(w.stages);
  const { index, episodeOffsets } = w.trajectories;
  for (let i = 0; i < w.n; i++) {
    let before = 1; // w_{t−1}
    for (let k = w.offsets[i]!, t = 0; k < w.offsets[i + 1]! && before > 0; k++, t++) {
      const s = episodeOffsets[index[i]!]! + t;
      for (let a = 0; a < both.classes.length; a++)
        if (behaviourAt(both, s, a) === 0) u[t] = u[t]! + (before * targetAt(both, s, a)) / w.n;
      before = w.weights[k]! * Math.exp(w.shift[t]!);
    }
  }
  return u;
}

/** E_b Σ w_t r_t; the reward of an episode without turns is its own. */
function rewardsWhileSupported(w: EpisodeWeights): number {
  return (
    sumOf(w.n, (i) => {
      let sum = w.unconditional[i]!;
      for (let k = w.offsets[i]!, t = 0; k < w.offsets[i + 1]!; k++, t++)
        if (w.weights[k]! > 0) sum += w.weights[k]! * Math.exp(w.shift[t]!) * w.rewards[k]!;
      return sum;
    }) / w.n
  );
}
