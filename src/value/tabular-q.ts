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
import { failure } from '../schema/error.ts';
import type { QColumns } from '../schema/q-values.ts';
import { turnRewards } from '../trajectories/return.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { TargetTable } from '../weights/ratios.ts';
import type { StageStates } from './stage-states.ts';

/** Entries are numbered in 32 bits. */
const MOST = 2 ** 31 - 1;

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
  const own = ownRewards(w, continues);
  const { codes } = w.trajectories.turns.actionClass;
  const { index, episodeOffsets } = w.trajectories;
  const A = table.classes.length;
  if (states.count * A > MOST)
    throw failure({
      subject: 'tabular Q',
      wrong: 'has too many entries to be held',
      got: `${states.count} states (cell and turn) times ${A} action classes`,
      expected: `at most ${MOST} in all`,
      fix: 'Let the policy file look at fewer values, or declare fewer action classes.',
      exitCode: 3,
    });
  // By stage, as the states are: what every fit reads, in order.
  const y = new Float64Array(own.length);
  const cell = new Int32Array(own.length); // of (state, action)
  states.turn.forEach((s, k) => {
    const i = states.episode[k]!;
    y[k] = own[s]!;
    cell[k] = states.here[k]! * A + codes[episodeOffsets[index[i]!]! + s - w.offsets[i]!]!;
  });
  const next = continues === 'target' ? states.next : null;
  const label = `tabular Q (${fill === 'zero' ? '0' : 'mean of the turn'} where unseen)`;
  return (train) => {
    const times = new Int32Array(w.n);
    for (let k = 0; k < train.length; k++) times[train[k]!] = times[train[k]!]! + 1;
    const found = fit({ table, states, times, y, cell, next, discount: w.discount, fill });
    return { ...found, classes: table.classes, row, continues, label };
  };
}

interface Fit {
  readonly table: TargetTable;
  readonly states: StageStates;
  readonly times: Int32Array; // [n] how often each episode counts
  readonly y: Float64Array;
  readonly cell: Int32Array;
  readonly next: Int32Array | null;
  readonly discount: number;
  readonly fill: 'zero' | 'stage mean';
}

function fit({ table, states, times, y, cell, next, discount, fill }: Fit): Pick<QColumns, 'q' | 'unseen'> {
  const { count: R, stageOffsets, aliveOffsets, episode } = states;
  const A = table.classes.length;
  const q = new Float64Array(R * A);
  const seen = new Float64Array(R * A);
  const V = new Float64Array(R);
  for (let t = stageOffsets.length - 2; t >= 0; t--) {
    let total = 0;
    let rows = 0;
    for (let k = aliveOffsets[t]!; k < aliveOffsets[t + 1]!; k++) {
      const m = times[episode[k]!]!;
      if (m === 0) continue;
      const x = next === null ? -1 : next[k]!;
      const target = m * (x < 0 ? y[k]! : y[k]! + discount * V[x]!);
      q[cell[k]!] = q[cell[k]!]! + target;
      seen[cell[k]!] = seen[cell[k]!]! + m;
      total += target;
      rows += m;
    }
    const standIn = fill === 'stage mean' && rows > 0 ? total / rows : 0;
    for (let x = stageOffsets[t]!; x < stageOffsets[t + 1]!; x++)
      for (let a = 0; a < A; a++) {
        const at = x * A + a;
        q[at] = seen[at]! > 0 ? q[at]! / seen[at]! : standIn;
        const pi = table.probabilities[states.cell[x]! * A + a]!;
        if (pi > 0) V[x] = V[x]! + pi * q[at]!;
      }
  }
  return { q, unseen: Uint8Array.from(seen, (m) => (m === 0 ? 1 : 0)) };
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
