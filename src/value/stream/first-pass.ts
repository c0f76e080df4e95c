/*
 * The first of two passes over the episodes of a store: weights and sums by stage.
 *
 *   log w_t = Σ_{k ≤ t} log ρ_k      scanned per episode; exp once a turn, after the shift of the stage
 *   by stage:    Σ w_t, Σ w_t², Σ w_t r_t (alive), Σ w_T, Σ w_T² (ended)      stage-state.ts
 *   by episode:  log w_T, Σ_t w_t r_t
 *
 * The second pass (second-pass.ts) forms what needs these sums: influence values of ratios.
 * O(turns) time, O(stages) memory beside what is kept by episode.
 */
import type { EpisodeBlock, EpisodeRows } from './block.ts';
import { growStages, isShifted, type StageState, settle } from './stage-state.ts';

/** Room for the turns of one block, used again for the next. */
export interface Scratch {
  logs: Float64Array; // [turns] log w_t
  weights: Float64Array; // [turns] w_t e^−shift_t
}

export const scratch = (): Scratch => ({ logs: new Float64Array(0), weights: new Float64Array(0) });

/** Adds a block; leaves its weights in `s`, turn k of the block at k. */
export function addBlock(state: StageState, block: EpisodeBlock, out: EpisodeRows, s: Scratch): void {
  prefixLogs(state, block, out.logWeight, s);
  settle(state.alive, state.stages, state.rewardSums);
  settle(state.ended, state.stages + 1);
  addWeights(state, block, out.logWeight, s);
  const shifted = isShifted(state);
  block.rewards.forEach((rewards, c) => {
    addRewards(state.rewardSums[c]!, block, rewards, out.weighted[c]!, shifted ? s.logs : null, s.weights);
  });
}

/** log w_t of every turn; the largest by stage and by number of turns. */
function prefixLogs(
  state: StageState,
  { n, row, offsets, use, logRatios }: EpisodeBlock,
  logWeight: Float64Array,
  s: Scratch,
): void {
  const base = offsets[0]!;
  const turns = offsets[n]! - base;
  if (s.logs.length < turns) s.logs = new Float64Array(turns);
  if (s.weights.length < turns) s.weights = new Float64Array(turns);
  const { logs } = s;
  let stages = 0;
  for (let i = 0; i < n; i++)
    if (use === null || use[i] === 1) stages = Math.max(stages, offsets[i + 1]! - offsets[i]!);
  growStages(state, stages);
  const { alive, ended, endedCount } = state;
  const { top } = alive;
  for (let i = 0; i < n; i++) {
    if (use !== null && use[i] === 0) continue;
    const end = offsets[i + 1]!;
    let log = 0;
    let t = 0;
    for (let k = offsets[i]!; k < end; k++, t++) {
      log += logRatios[k]!;
      logs[k - base] = log;
      if (log > top[t]!) top[t] = log;
    }
    logWeight[row + i] = log;
    endedCount[t] = endedCount[t]! + 1;
    if (log > ended.top[t]!) ended.top[t] = log;
    state.episodes++;
  }
}

function addWeights(
  { alive, ended, zeros }: StageState,
  { n, row, offsets, use }: EpisodeBlock,
  logWeight: Float64Array,
  { logs, weights }: Scratch,
): void {
  const { shift, sum, squares, cubes } = alive;
  const base = offsets[0]!;
  for (let i = 0; i < n; i++) {
    if (use !== null && use[i] === 0) continue;
    const end = offsets[i + 1]! - base;
    let t = 0;
    for (let k = offsets[i]! - base; k < end; k++, t++) {
      const x = Math.exp(logs[k]! - shift[t]!);
      weights[k] = x;
      if (x === 0 && logs[k] === -Infinity) zeros[t] = zeros[t]! + 1;
      sum[t] = sum[t]! + x;
      squares[t] = squares[t]! + x * x;
      cubes[t] = cubes[t]! + x * x * x;
    }
    const x = Math.exp(logWeight[row + i]! - ended.shift[t]!);
    ended.sum[t] = ended.sum[t]! + x;
    ended.squares[t] = ended.squares[t]! + x * x;
    ended.cubes[t] = ended.cubes[t]! + x * x * x;
  }
}

/** Σ w_t r_t by stage, on the scale of the stage, and by episode. */
function addRewards(
  byStage: Float64Array,
  { n, row, offsets, use }: EpisodeBlock,
  rewards: Float64Array,
  byEpisode: Float64Array,
  logs: Float64Array | null,
  weights: Float64Array,
): void {
  const base = offsets[0]!;
  for (let i = 0; i < n; i++) {
    if (use !== null && use[i] === 0) continue;
    const end = offsets[i + 1]!;
    let total = 0;
    let t = 0;
    for (let k = offsets[i]!; k < end; k++, t++) {
      const r = rewards[k]!;
      // Selected, not multiplied: ∞ · 0 is not 0.
      if (r === 0) continue;
      const x = weights[k - base]! * r;
      byStage[t] = byStage[t]! + x;
      // A shift may have taken a small weight to 0.
      total += logs === null ? x : Math.exp(logs[k - base]!) * r;
    }
    byEpisode[row + i] = total;
  }
}
