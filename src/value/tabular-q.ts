/*
 * Q̂ on a declared finite abstraction, one table per stage, by backward induction.
 *
 *   target      Q̂_t(s, a) = mean_{i: s_t = s, a_t = a} (r_t + γ V̂_{t+1}(s_{t+1})),   V̂ = Σ_a π Q̂
 *   behaviour   Q̂_t(s, a) = mean_{i: s_t = s, a_t = a} (r_t + γ r_{t+1} + …)          Monte Carlo
 *
 * The first is fitted Q evaluation with saturated tables; its only model is that the cells are Markov,
 * which a DR estimate does not need. A state and action that the training episodes do not show is
 * flagged, and has 0 or the mean of its stage for a value.
 */
import type { QColumns } from '../schema/q-values.ts';
import { turnRewards } from '../trajectories/return.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { TargetTable } from '../weights/ratios.ts';
import type { StageStates } from './stage-states.ts';

export interface TabularQOptions {
  /** Who acts after this action. */
  readonly continues?: 'target' | 'behaviour';
  /** What stands where nothing was seen. */
  readonly unseen?: 'zero' | 'stage mean';
}

/** Fits Q̂ on some of the episodes of a target's weights. */
export type TabularFit = (train: ArrayLike<number>) => QColumns;

/**
 * A fit for these episodes: `fit(train)` takes places among them, repeats allowed. Each fit is
 * O(turns of the training episodes + states · classes).
 */
export function tabularQ(
  w: EpisodeWeights,
  table: TargetTable,
  states: StageStates,
  { continues = 'target', unseen: fill = 'zero' }: TabularQOptions = {},
): TabularFit {
  const row = rowOfTurn(w, states);
  const y = ownRewards(w, continues);
  const label = `tabular Q by turn and cell, ${fill === 'zero' ? '0' : 'the mean of the turn'} where unseen`;
  return (train) => {
    const times = new Int32Array(w.n);
    for (let k = 0; k < train.length; k++) times[train[k]!] = times[train[k]!]! + 1;
    return { ...fit(w, table, states, times, y, continues, fill), row, continues, label };
  };
}

function fit(
  { stages: T, offsets, trajectories, discount }: EpisodeWeights,
  { classes, probabilities }: TargetTable,
  { count: R, state, cell, stageOffsets, alive, aliveOffsets }: StageStates,
  times: Int32Array,
  y: Float64Array,
  continues: 'target' | 'behaviour',
  fill: 'zero' | 'stage mean',
): Pick<QColumns, 'classes' | 'q' | 'unseen'> {
  const { index, episodeOffsets, turns } = trajectories;
  const { codes } = turns.actionClass;
  const A = classes.length;
  const q = new Float64Array(R * A);
  const seen = new Float64Array(R * A);
  const V = new Float64Array(R);
  for (let t = T - 1; t >= 0; t--) {
    let total = 0;
    let rows = 0;
    for (let k = aliveOffsets[t]!; k < aliveOffsets[t + 1]!; k++) {
      const i = alive[k]!;
      const m = times[i]!;
      if (m === 0) continue;
      const s = offsets[i]! + t;
      const next = continues === 'target' && s + 1 < offsets[i + 1]! ? discount * V[state[s + 1]!]! : 0;
      const at = state[s]! * A + codes[episodeOffsets[index[i]!]! + t]!;
      q[at] = q[at]! + m * (y[s]! + next);
      seen[at] = seen[at]! + m;
      total += m * (y[s]! + next);
      rows += m;
    }
    const standIn = fill === 'stage mean' && rows > 0 ? total / rows : 0;
    for (let x = stageOffsets[t]!; x < stageOffsets[t + 1]!; x++)
      for (let a = 0; a < A; a++) {
        const at = x * A + a;
        q[at] = seen[at]! > 0 ? q[at]! / seen[at]! : standIn;
        const pi = probabilities[cell[x]! * A + a]!;
        if (pi > 0) V[x] = V[x]! + pi * q[at]!;
      }
  }
  return { classes, q, unseen: Uint8Array.from(seen, (m) => (m === 0 ? 1 : 0)) };
}

/** State of each turn row, [S]; −1 outside the episodes. */
function rowOfTurn({ n, offsets, trajectories }: EpisodeWeights, { state }: StageStates): Int32Array {
  const { index, episodeOffsets, turns } = trajectories;
  const row = new Int32Array(turns.turn.length).fill(-1);
  for (let i = 0; i < n; i++)
    row.set(state.subarray(offsets[i]!, offsets[i + 1]!), episodeOffsets[index[i]!]!);
  return row;
}

/** r_t, or r_t + γ r_{t+1} + … for the behaviour, [turns]. */
function ownRewards(w: EpisodeWeights, continues: 'target' | 'behaviour'): Float64Array {
  const { n, offsets, trajectories, discount } = w;
  const { index, episodeOffsets } = trajectories;
  const r = turnRewards(trajectories);
  const out = new Float64Array(offsets[n]!);
  for (let i = 0; i < n; i++) {
    const from = episodeOffsets[index[i]!]!;
    let G = 0;
    for (let s = offsets[i + 1]! - 1; s >= offsets[i]!; s--) {
      const reward = r[from + s - offsets[i]!]!;
      G = reward + discount * G;
      out[s] = continues === 'target' ? reward : G;
    }
  }
  return out;
}
