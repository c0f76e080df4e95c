/*
 * The return of an episode, and what of it is still to come at each turn.
 *
 *   G_i = Σ_k r_ik + R_i        r_ik: reward of turn k (null counts as 0), R_i: reward of the episode
 *
 * Rules:
 * - `aborted`: infrastructure failed. NaN whatever the log holds; out of the statistics, counted.
 * - No reward anywhere in the episode: NaN, counted as "without reward", never as 0.
 * - `unfinished` and `truncated` with a reward: the logged return. What was still to come is missing
 *   from it, so callers show the counts by ending.
 * - A reward, or a return, that is NaN, infinite or beyond 1e100 in size: NaN, counted and named by a warning
 *   and by `check`. Squares and products of what is left, and their sums over any number of episodes, are
 *   finite, so that one such number ends nothing and no other episode is blamed.
 * - `limit` is an ending like `terminated`: the turn limit is part of the task.
 * - The episode's reward is paid at the last turn, so that the rewards of the turns sum to G.
 */
import { ENDINGS, type Ending } from '../schema/episode.ts';
import type { Trajectories } from './trajectories.ts';

const ABORTED = ENDINGS.indexOf('aborted');

/** No reward and no return is larger in size. */
export const LARGEST_REWARD = 1e100;

/** Whether a reward can be summed; NaN stands for none and can. */
export const isUsable = (reward: number): boolean => !(Math.abs(reward) > LARGEST_REWARD);

/**
 * Rewards are logged as float32 or as a mean of parts: what is off 1 or 0 by 1e-6 or less is 1 or 0. As a double
 * 0.999999 is off 1 by 1e-6 and some 1e-17, and sums of such are off by a little more: hence the 1e-12.
 */
const SUCCESS_TOLERANCE = 1e-6 + 1e-12;

/** Whether a return is a success: 1, within 1e-6. The one place that says so. */
export const isSuccess = (G: number): boolean => Math.abs(G - 1) <= SUCCESS_TOLERANCE;

/** Whether a return is a success or a failure, 1 or 0 within 1e-6: an outcome that counts can be made of. */
export const isBinary = (G: number): boolean => isSuccess(G) || Math.abs(G) <= SUCCESS_TOLERANCE;

/** G of each episode of the view, [N]; NaN where it is undefined. O(turns). */
export function episodeReturn(t: Trajectories): Float64Array {
  const G = new Float64Array(t.index.length);
  for (let i = 0; i < G.length; i++) G[i] = returnOf(t, t.index[i]!);
  return G;
}

/**
 * Reward of each turn with the episode's reward paid at the last turn, [S]: sums to G over an
 * episode. NaN in every turn of an episode whose return is undefined. All rows of the columns,
 * whatever the view. An episode without turns has no row to pay its reward at.
 */
export function turnRewards(t: Trajectories): Float64Array {
  const { episodeOffsets: at, episodes, turns } = t;
  const r = new Float64Array(turns.reward.length);
  for (let e = 0; e + 1 < at.length; e++) {
    const first = at[e]!;
    const end = at[e + 1]!;
    if (first === end) continue;
    if (Number.isNaN(returnOf(t, e))) {
      r.fill(Number.NaN, first, end);
      continue;
    }
    for (let s = first; s < end; s++) r[s] = orZero(turns.reward[s]!);
    r[end - 1] = r[end - 1]! + orZero(episodes.reward[e]!);
  }
  return r;
}

/** Σ_{j≥k} r_j with the episode's reward at the last turn, [S]; the first turn of an episode has G. */
export function rewardToGo(t: Trajectories): Float64Array {
  const G = turnRewards(t);
  const at = t.episodeOffsets;
  for (let e = 0; e + 1 < at.length; e++)
    for (let s = at[e + 1]! - 2; s >= at[e]!; s--) G[s] = G[s]! + G[s + 1]!;
  return G;
}

/** How many episodes of a view ended how, and how many of them have a return. */
export interface ReturnCounts {
  readonly episodes: number;
  /** With a return. */
  readonly defined: number;
  /** Out of the statistics whatever they hold. */
  readonly aborted: number;
  /** Not aborted, and no reward anywhere, or none that can be summed. */
  readonly withoutReward: number;
  readonly byEnding: Readonly<Record<Ending, { readonly episodes: number; readonly defined: number }>>;
}

export function returnCounts(t: Trajectories): ReturnCounts {
  const n = new Int32Array(ENDINGS.length);
  const d = new Int32Array(ENDINGS.length);
  for (const e of t.index) {
    const ending = t.episodes.ending[e]!;
    n[ending] = n[ending]! + 1;
    if (!Number.isNaN(returnOf(t, e))) d[ending] = d[ending]! + 1;
  }
  const episodes = t.index.length;
  const defined = d.reduce((a, b) => a + b, 0);
  const aborted = n[ABORTED]!;
  const byEnding = Object.fromEntries(ENDINGS.map((e, i) => [e, { episodes: n[i]!, defined: d[i]! }]));
  return {
    episodes,
    defined,
    aborted,
    withoutReward: episodes - defined - aborted,
    byEnding: byEnding as ReturnCounts['byEnding'],
  };
}

/** Backwards, as the reward to go is summed, so that the two agree to the last bit. */
function returnOf(t: Trajectories, e: number): number {
  if (t.episodes.ending[e] === ABORTED) return Number.NaN;
  const R = t.episodes.reward[e]!;
  let any = !Number.isNaN(R);
  let usable = isUsable(R);
  let G = orZero(R);
  for (let s = t.episodeOffsets[e + 1]! - 1; s >= t.episodeOffsets[e]!; s--) {
    const r = t.turns.reward[s]!;
    if (Number.isNaN(r)) continue;
    any = true;
    usable &&= isUsable(r);
    G = r + G;
  }
  return any && usable && isUsable(G) ? G : Number.NaN;
}

const orZero = (r: number): number => (Number.isNaN(r) ? 0 : r);
