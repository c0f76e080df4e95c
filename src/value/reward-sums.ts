import type { EpisodeWeights } from '../weights/episode-weights.ts';

/** Σ_i w_it r_it by stage, divided by e^shift_t, [stages]. */
export function rewardSums({ n, stages, offsets, weights, rewards }: EpisodeWeights): Float64Array {
  const out = new Float64Array(stages);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++)
      if (rewards[s] !== 0) out[t] = out[t]! + weights[s]! * rewards[s]!;
  return out;
}
