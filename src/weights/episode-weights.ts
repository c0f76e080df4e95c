/*
 * Importance weights of every turn and episode, from log-ratios.
 *
 *   log w_t = Σ_{k ≤ t} log ρ_k     scanned per episode in Float64 (a running sum over all the logs
 *                                   would lose what a difference of large numbers loses)
 *   w_T     = weight of the whole episode; 1 for an episode without turns
 *   G       = Σ_t γ^t r_t, the episode's own reward paid at its last turn
 *
 * exp comes last. Where the largest or smallest weight of a stage would not fit a double, the weights
 * of that stage are stored divided by e^shift; self-normalised estimators need no more.
 */
import { clusters } from '../trajectories/clusters.ts';
import { episodeReturn } from '../trajectories/return.ts';
import type { Clusters, Trajectories } from '../trajectories/trajectories.ts';
import type { LogRatios } from './ratios.ts';

/** Episodes with a return, one after the other; turns of episode i: offsets[i] to offsets[i + 1]. */
export interface EpisodeWeights {
  readonly trajectories: Trajectories; // the view of these n episodes
  readonly n: number;
  /** Episodes of the view before those without a return were left out. */
  readonly total: number;
  readonly offsets: Int32Array; // [n + 1]
  readonly logRatios: Float64Array; // [turns] log ρ_t
  readonly weights: Float64Array; // [turns] w_t e^−shift_t
  readonly rewards: Float64Array; // [turns] γ^t r_t
  readonly shift: Float64Array; // [stages] nearly always 0
  readonly stages: number;
  readonly logWeight: Float64Array; // [n] log w_T
  readonly weight: Float64Array; // [n] w_T e^−finalShift
  readonly finalShift: number;
  /** [n] paid without any turn, so weighted 1: the reward of an episode of no turns. */
  readonly unconditional: Float64Array;
  readonly returns: Float64Array; // [n]
  readonly clusters: Clusters;
  readonly discount: number;
}

/** exp(±600) squared still fits a double after a sum of 10¹⁰ of them is taken of the roots. */
const FITS = 300;

/** Weights of one target on the episodes that have a return. O(turns). */
export function episodeWeights(ratios: LogRatios, discount = 1): EpisodeWeights {
  const all = ratios.trajectories;
  const defined = episodeReturn(all);
  const trajectories: Trajectories = {
    ...all,
    index: all.index.filter((_, i) => !Number.isNaN(defined[i]!)),
  };
  const { index, episodeOffsets, episodes, turns } = trajectories;
  const n = index.length;
  const offsets = new Int32Array(n + 1);
  let stages = 0;
  for (let i = 0; i < n; i++) {
    const length = episodeOffsets[index[i]! + 1]! - episodeOffsets[index[i]!]!;
    offsets[i + 1] = offsets[i]! + length;
    if (length > stages) stages = length;
  }
  const size = offsets[n]!;
  const logRatios = new Float64Array(size);
  const weights = new Float64Array(size); // log w_t until the stage's shift is known
  const rewards = new Float64Array(size);
  const logWeight = new Float64Array(n);
  const unconditional = new Float64Array(n);
  const returns = new Float64Array(n);
  const top = new Float64Array(stages).fill(-Infinity);
  for (let i = 0; i < n; i++) {
    const e = index[i]!;
    const from = episodeOffsets[e]!;
    const to = offsets[i]!;
    const length = offsets[i + 1]! - to;
    const last = Number.isNaN(episodes.reward[e]!) ? 0 : episodes.reward[e]!;
    let log = 0;
    let factor = 1;
    let G = 0;
    for (let t = 0; t < length; t++) {
      const ratio = ratios.values[from + t]!;
      logRatios[to + t] = ratio;
      log += ratio;
      weights[to + t] = log;
      if (log > top[t]!) top[t] = log;
      let r = turns.reward[from + t]!;
      if (Number.isNaN(r)) r = 0;
      if (t === length - 1) r += last;
      rewards[to + t] = factor * r;
      G += factor * r;
      factor *= discount;
    }
    if (length === 0) {
      unconditional[i] = last;
      G = last;
    }
    logWeight[i] = log;
    returns[i] = G;
  }
  const shift = top.map(shiftOf);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++)
      weights[s] = Math.exp(weights[s]! - shift[t]!);
  let most = -Infinity;
  for (let i = 0; i < n; i++) if (logWeight[i]! > most) most = logWeight[i]!;
  const finalShift = shiftOf(most);
  return {
    trajectories,
    n,
    total: all.index.length,
    offsets,
    logRatios,
    weights,
    rewards,
    shift,
    stages,
    logWeight,
    weight: logWeight.map((log) => Math.exp(log - finalShift)),
    finalShift,
    unconditional,
    returns,
    clusters: clusters(trajectories),
    discount,
  };
}

const shiftOf = (top: number): number => (Number.isFinite(top) && Math.abs(top) > FITS ? top : 0);
