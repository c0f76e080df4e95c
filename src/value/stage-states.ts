import type { EpisodeWeights } from '../weights/episode-weights.ts';

/**
 * A declared finite abstraction along the episodes: state = (stage, cell), numbered densely in the
 * order of the stages. Only what the logs show has a number.
 */
export interface StageStates {
  readonly count: number; // R
  readonly state: Int32Array; // [turns] state of each turn of the weights
  readonly cell: Int32Array; // [R] declared cell of each state
  readonly stageOffsets: Int32Array; // [stages + 1] states of stage t
  /** [turns] episodes alive at stage t: alive[aliveOffsets[t]] to alive[aliveOffsets[t + 1]] */
  readonly alive: Int32Array;
  readonly aliveOffsets: Int32Array; // [stages + 1]
}

/**
 * States of the episodes from a cell per turn row, as `LogRatios.table` has. O(turns + cells).
 * @param cellOf [S] cell of each turn row
 */
export function stageStates(w: EpisodeWeights, cellOf: Int32Array, cells: number): StageStates {
  const { n, offsets, stages: T, trajectories } = w;
  const { index, episodeOffsets } = trajectories;
  const turns = offsets[n]!;
  const aliveOffsets = new Int32Array(T + 1);
  for (let i = 0; i < n; i++) {
    const length = offsets[i + 1]! - offsets[i]!;
    if (length > 0) aliveOffsets[length] = aliveOffsets[length]! + 1;
  }
  // Episodes by length, then at each stage those that are at least as long.
  for (let t = T - 1; t >= 1; t--) aliveOffsets[t] = aliveOffsets[t]! + aliveOffsets[t + 1]!;
  for (let t = 1; t <= T; t++) aliveOffsets[t] = aliveOffsets[t]! + aliveOffsets[t - 1]!;
  const alive = new Int32Array(turns);
  const fill = aliveOffsets.slice();
  for (let i = 0; i < n; i++) for (let t = 0; t < offsets[i + 1]! - offsets[i]!; t++) alive[fill[t]++] = i;

  const state = new Int32Array(turns);
  const cell: number[] = [];
  const stageOffsets = new Int32Array(T + 1);
  const known = new Int32Array(cells); // 1 + state of the cell, valid where it is of this stage
  for (let t = 0; t < T; t++) {
    const first = cell.length;
    for (let k = aliveOffsets[t]!; k < aliveOffsets[t + 1]!; k++) {
      const i = alive[k]!;
      const c = cellOf[episodeOffsets[index[i]!]! + t]!;
      if (known[c]! <= first) known[c] = cell.push(c);
      state[offsets[i]! + t] = known[c]! - 1;
    }
    stageOffsets[t + 1] = cell.length;
  }
  return { count: cell.length, state, cell: Int32Array.from(cell), stageOffsets, alive, aliveOffsets };
}
