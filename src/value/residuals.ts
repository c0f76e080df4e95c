/*
 * The doubly robust family as the importance-sampling family on other rewards.
 *
 *   Σ_t w_t r_t  becomes  V̂_1 + Σ_t w_t δ_t,   δ_t = r_t + V̂_{t+1} − Q̂_t,   V̂_{T+1} = 0
 *
 * V̂_1 is paid before any decision, with weight 1. With w_t over the sum of its stage this is WDR:
 * w_{t−1} V̂_t has the weight of the turn before, and is normalised as that turn is.
 */
import type { EpisodeWeights } from '../weights/episode-weights.ts';

/**
 * The same weights with δ_t in the place of r_t, and V̂_1 in that of what is paid without a turn.
 * After the target has left an episode δ is 0. O(turns).
 * @param logged [turns] γ^t Q̂ at the logged action
 * @param v [turns] γ^t V̂
 */
export function withResiduals(w: EpisodeWeights, logged: Float64Array, v: Float64Array): EpisodeWeights {
  const { n, offsets, logRatios, rewards } = w;
  const delta = new Float64Array(rewards.length);
  const unconditional = Float64Array.from(w.unconditional);
  for (let i = 0; i < n; i++) {
    const from = offsets[i]!;
    const to = offsets[i + 1]!;
    if (from < to) unconditional[i] = unconditional[i]! + v[from]!;
    for (let s = from; s < to; s++) {
      if (logRatios[s] === -Infinity) break;
      delta[s] = rewards[s]! + (s + 1 < to ? v[s + 1]! : 0) - logged[s]!;
    }
  }
  return { ...w, rewards: delta, unconditional };
}
