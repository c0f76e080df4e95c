/*
 * What the logs do not show of how episodes went. Three kinds, each with its own denominator:
 *
 *   aborted     infrastructure failed: out of all statistics         of all episodes of the view
 *   missing     not aborted, and no reward anywhere                  of those not aborted
 *   cut short   truncated or unfinished, with what was paid so far   of those with a return, and Σ_cut w / Σ w
 *
 * Failures that nobody scored, and rollouts cut off before they are paid, are not missing at random: no
 * standard error shows what they hide.
 */
import { sum, sumOf } from '../math/sum.ts';
import { ENDINGS } from '../schema/episode.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import { countWords, shareWords } from '../weights/words.ts';

/** Episodes of a view whose outcome is not known whole. */
export interface Unknown {
  readonly aborted: number;
  readonly missing: number;
  readonly cutShort: number;
  /** Σ w of those cut short over Σ w; null where no weight is above 0. */
  readonly cutShortWeight: number | null;
  /** [n] of those with a return, 1: cut short. */
  readonly cut: Uint8Array;
  /** Episodes that are not aborted by task, those with a return or not; tasks without any return last. */
  readonly sizes: Float64Array;
}

const ABORTED = ENDINGS.indexOf('aborted');
const CUT = [ENDINGS.indexOf('truncated'), ENDINGS.indexOf('unfinished')];

/**
 * @param view the episodes that a target may be evaluated on, of which `w` weighs those with a return
 */
export function unknownOutcomes(view: Trajectories, w: EpisodeWeights): Unknown {
  const { ending, task } = view.episodes;
  const used = w.trajectories.index;
  const cut = Uint8Array.from(used, (e) => (CUT.includes(ending[e]!) ? 1 : 0));
  const total = sum(w.weight);
  const place = new Map<number, number>(); // of a task among `sizes`
  const sizes = Array.from({ length: w.clusters.count }, () => 0);
  for (let i = 0; i < w.n; i++) {
    const c = w.clusters.of[i]!;
    sizes[c] = sizes[c]! + 1;
    if (task.codes[used[i]!]! >= 0) place.set(task.codes[used[i]!]!, c);
  }
  let aborted = 0;
  let missing = 0;
  let next = 0; // both lists are in the order of the view
  for (const e of view.index) {
    if (used[next] === e) {
      next++;
      continue;
    }
    if (ending[e] === ABORTED) {
      aborted++;
      continue;
    }
    missing++;
    const code = task.codes[e]!;
    const at = (code < 0 ? undefined : place.get(code)) ?? sizes.push(0) - 1;
    if (code >= 0) place.set(code, at);
    sizes[at] = sizes[at]! + 1;
  }
  return {
    aborted,
    missing,
    cutShort: cut.reduce((count, x) => count + x, 0),
    cutShortWeight: total > 0 ? sumOf(w.n, (i) => (cut[i] === 1 ? w.weight[i]! : 0)) / total : null,
    cut,
    sizes: Float64Array.from(sizes),
  };
}

type Episodes = Evaluation['episodes'];

/** Not aborted and without a return, and of how many. */
export function missingReturns({ used, withoutReturn, aborted }: Episodes) {
  const missing = withoutReturn - aborted;
  return { missing, of: used + missing, share: missing === 0 ? 0 : missing / (used + missing) };
}

/** Episodes without a return, with both denominators. */
export function missingWords(episodes: Episodes): string {
  const { missing, of, share } = missingReturns(episodes);
  const { used, withoutReturn, aborted, missingWeight } = episodes;
  const all = used + withoutReturn;
  const lost = `${countWords(aborted)} of all ${countWords(all)} were aborted`;
  return missing === 0
    ? `${lost} (${shareWords(aborted / all)}) and are left out`
    : `${countWords(missing)} of ${countWords(of)} episodes that were not aborted have no return (${shareWords(share)}${missingWeight === null || missingWeight === undefined ? '' : `, with ${shareWords(missingWeight)} of the target’s weight`}) and are left out${aborted > 0 ? `; ${lost}` : ''}: if they are missing for how they went, the value and its error are wrong`;
}

/** Episodes that were cut short, by count and by the target's weight. */
export function cutShortWords({ used, cutShort, cutShortWeight }: Episodes): string {
  const weight = cutShortWeight === null ? '' : `, with ${shareWords(cutShortWeight)} of the target’s weight`;
  return `${countWords(cutShort)} of ${countWords(used)} episodes were cut short, truncated or unfinished (${shareWords(cutShort / used)}${weight}): what they would still have earned is missing from the value`;
}
