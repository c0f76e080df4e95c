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
  /**
   * The turns in the order of their stages, so that a pass by stage reads memory in order: stage t holds
   * places aliveOffsets[t] to aliveOffsets[t + 1].
   */
  readonly aliveOffsets: Int32Array; // [stages + 1]
  readonly episode: Int32Array; // [turns] episode of the turn at a place
  readonly turn: Int32Array; // [turns] its row among the turns of the weights
  readonly here: Int32Array; // [turns] its state
  readonly next: Int32Array; // [turns] state of the episode's next turn; −1 after the last
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
  const episode = new Int32Array(turns);
  const turn = new Int32Array(turns);
  const fill = aliveOffsets.slice();
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      episode[fill[t]!] = i;
      turn[fill[t]++] = s;
    }

  const state = new Int32Array(turns);
  const here = new Int32Array(turns);
  const cell: number[] = [];
  const stageOffsets = new Int32Array(T + 1);
  const known = new Int32Array(cells); // 1 + state of the cell, valid where it is of this stage
  for (let t = 0; t < T; t++) {
    const first = cell.length;
    for (let k = aliveOffsets[t]!; k < aliveOffsets[t + 1]!; k++) {
      const c = cellOf[episodeOffsets[index[episode[k]!]!]! + t]!;
      if (known[c]! <= first) known[c] = cell.push(c);
      here[k] = known[c]! - 1;
      state[turn[k]!] = here[k]!;
    }
    stageOffsets[t + 1] = cell.length;
  }
  const next = new Int32Array(turns);
  for (let k = 0; k < turns; k++)
    next[k] = turn[k]! + 1 < offsets[episode[k]! + 1]! ? state[turn[k]! + 1]! : -1;
  return {
    count: cell.length,
    state,
    cell: Int32Array.from(cell),
    stageOffsets,
    aliveOffsets,
    episode,
    turn,
    here,
    next,
  };
}
