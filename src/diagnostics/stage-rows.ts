import type { EpisodeWeights } from '../weights/episode-weights.ts';

/** Rows of the turn columns that lie at each stage, those of episodes with a return, [stages][alive]. O(turns). */
export function stageRows(w: EpisodeWeights): Int32Array[] {
  const counts = new Int32Array(w.stages);
  for (let i = 0; i < w.n; i++)
    for (let t = 0; t < w.offsets[i + 1]! - w.offsets[i]!; t++) counts[t] = counts[t]! + 1;
  const rows = Array.from(counts, (n) => new Int32Array(n));
  counts.fill(0);
  const { index, episodeOffsets } = w.trajectories;
  for (let i = 0; i < w.n; i++) {
    const from = episodeOffsets[index[i]!]!;
    for (let t = 0; t < w.offsets[i + 1]! - w.offsets[i]!; t++) {
      rows[t]![counts[t]!] = from + t;
      counts[t] = counts[t]! + 1;
    }
  }
  return rows;
}
