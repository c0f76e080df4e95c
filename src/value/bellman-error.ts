/*
 * What a value that is read off Q̂ alone rests on: the Bellman errors of Q̂, turn by turn (compare Murphy
 * 2005; Le, Voloshin & Yue 2019).
 *
 *   δ_t  = r_t + V̂_{t+1} − Q̂_t(s_t, a_t)
 *   BE_t = Q̂_t − E[r_t + V̂_{t+1} | s_t, a_t] = −E[δ_t | s_t, a_t]
 *   V̂ − V = Σ_t E_b[w_t BE_t]                                     exact, the errors telescope
 *   |V̂ − V| ≤ Σ_t √E_b[w_t²] · √E_b[BE_t²]                        Cauchy–Schwarz at each turn
 *   E_b[δ_t²] = E_b[BE_t²] + E_b[Var(r_t + V̂_{t+1} | s_t, a_t)]   of the TD error, what no Q̂ can take away
 *
 * BE_t is read as minus the mean of δ_t in each declared cell and action. Exact on a whole law whose cells
 * are the histories; in a sample its square also holds the noise of the cell's mean, so that the mean square
 * is too large where cells are small, and it is blind to what the cells do not tell apart. Turns after the
 * end count 0. The pieces are to be read side by side: the bound is loose, and no error to print after a ±.
 */
import { failure } from '../schema/error.ts';
import type { QValues } from '../schema/q-values.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { StageStates } from './stage-states.ts';

/** One turn, means over all n episodes. */
export interface BellmanStage {
  readonly turn: number; // from 0
  readonly tdMse: number; // E_b[δ_t²]
  readonly bellmanMse: number; // E_b[BE_t²]
  readonly amplification: number; // √E_b[w_t²]
  /** E_b[w_t BE_t]: what this turn adds to V̂ − V. */
  readonly error: number;
}

export interface BellmanErrors {
  readonly stages: readonly BellmanStage[];
  /** Σ_t E_b[w_t BE_t]; V̂ − V on a whole law. */
  readonly error: number;
  /** Σ_t √E_b[w_t²] · √E_b[BE_t²]. */
  readonly bound: number;
}

/**
 * Bellman errors of Q̂ along the logs, those of actions that the target never takes among them. O(turns).
 * @param q Q̂ of every logged class, and V̂ under the target
 * @param states the declared cells
 */
export function bellmanErrors(w: EpisodeWeights, q: QValues, states: StageStates): BellmanErrors {
  const { n, offsets, weights, shift } = w;
  const delta = tdErrors(w, q);
  const { codes, values } = w.trajectories.turns.actionClass;
  const A = values.length;
  const cell = new Int32Array(delta.length); // of (state, logged action)
  const sum = new Float64Array(states.count * A);
  const count = new Float64Array(states.count * A);
  for (let i = 0; i < n; i++) {
    const row = w.trajectories.episodeOffsets[w.trajectories.index[i]!]! - offsets[i]!;
    for (let s = offsets[i]!; s < offsets[i + 1]!; s++) {
      cell[s] = states.state[s]! * A + codes[row + s]!;
      sum[cell[s]!] = sum[cell[s]!]! + delta[s]!;
      count[cell[s]!] = count[cell[s]!]! + 1;
    }
  }
  const td = new Float64Array(w.stages);
  const bellman = new Float64Array(w.stages);
  const second = new Float64Array(w.stages);
  const error = new Float64Array(w.stages);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      const be = -sum[cell[s]!]! / count[cell[s]!]!;
      const weight = weights[s]! * Math.exp(shift[t]!);
      td[t] = td[t]! + delta[s]! ** 2 / n;
      bellman[t] = bellman[t]! + be ** 2 / n;
      second[t] = second[t]! + weight ** 2 / n;
      error[t] = error[t]! + (weight * be) / n;
    }
  const stages = Array.from(td, (tdMse, turn) => ({
    turn,
    tdMse,
    bellmanMse: bellman[turn]!,
    amplification: Math.sqrt(second[turn]!),
    error: error[turn]!,
  }));
  return {
    stages,
    error: stages.reduce((total, x) => total + x.error, 0),
    bound: stages.reduce((total, x) => total + x.amplification * Math.sqrt(x.bellmanMse), 0),
  };
}

/** γ^t δ_t at every turn of the episodes, [turns]. */
function tdErrors({ n, offsets, rewards, discount, trajectories }: EpisodeWeights, q: QValues): Float64Array {
  const { index, episodeOffsets, episodes, turns } = trajectories;
  const { codes, values } = turns.actionClass;
  const place = values.map((name) => q.classes.indexOf(name));
  const out = new Float64Array(offsets[n]!);
  for (let i = 0; i < n; i++) {
    const row = episodeOffsets[index[i]!]! - offsets[i]!;
    let factor = 1;
    for (let s = offsets[i]!; s < offsets[i + 1]!; s++) {
      const logged = q.q[q.row[row + s]! * q.classes.length + place[codes[row + s]!]!]!;
      const after = s + 1 < offsets[i + 1]! ? discount * q.v[row + s + 1]! : 0;
      out[s] = rewards[s]! + factor * (after - logged);
      if (!Number.isFinite(out[s]!))
        throw failure({
          subject: `Q-values (${q.label})`,
          wrong: `are no number at episode ${episodes.id[index[i]!]} turn ${s - offsets[i]!} for the logged action "${values[codes[row + s]!]}"`,
          fix: 'Fit them for every class in the logs: the error of Q is looked at where the logs went.',
        });
      factor *= discount;
    }
  }
  return out;
}
