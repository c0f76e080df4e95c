import { ENDINGS } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import { clusters } from '../trajectories/clusters.ts';
import { episodeReturn, rewardToGo, turnRewards } from '../trajectories/return.ts';
import { foldsByTask } from '../trajectories/split.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { isPaid } from '../trajectories/unusable-returns.ts';
import { filterEpisodes } from '../trajectories/view.ts';

/** Episodes of the view that the critic does not see, by reason. */
export interface Excluded {
  readonly truncated: number;
  readonly unfinished: number;
  readonly aborted: number;
  /** Ended, but with no reward anywhere. */
  readonly withoutReward: number;
  /** Ended with rewards that cannot be summed; see `unusableReturns`. */
  readonly returnNotFinite: number;
  readonly withoutTurns: number;
}

/**
 * The episodes and turns a critic is fitted on, in an order that depends on names only (task, then
 * episode id), so that the order of the log changes no digit.
 */
export interface CriticRows {
  readonly episodes: Int32Array; // [N] rows of the episode columns
  readonly cluster: Int32Array; // [N] ascending: the episodes of a task lie together
  readonly clusters: number;
  readonly foldOfEpisode: Int32Array; // [N]
  readonly folds: number; // K
  readonly returns: Float64Array; // [N] G
  readonly rows: Int32Array; // [R] turn rows
  readonly place: Int32Array; // [S] place of the turn's episode in `episodes`; −1: not fitted
  readonly stage: Int32Array; // [S] position in the episode
  readonly fold: Int32Array; // [S] −1: not fitted
  readonly reward: Float64Array; // [S] the episode's reward paid at its last turn
  readonly toGo: Float64Array; // [S]
  readonly last: Uint8Array; // [S]
  readonly excluded: Excluded;
}

/**
 * `limit` is an ending like `terminated`: nothing is paid after it. `truncated` and `unfinished`
 * episodes lack what was still to come, `aborted` ones were stopped by the infrastructure: left out.
 */
export function criticRows(t: Trajectories, folds: number, seed: number): CriticRows {
  const excluded = {
    truncated: 0,
    unfinished: 0,
    aborted: 0,
    withoutReward: 0,
    returnNotFinite: 0,
    withoutTurns: 0,
  };
  const G = episodeReturn(t);
  const returnOf = new Map<number, number>();
  t.index.forEach((e, i) => {
    const ending = ENDINGS[t.episodes.ending[e]!]!;
    if (ending !== 'terminated' && ending !== 'limit') excluded[ending]++;
    else if (Number.isNaN(G[i]!)) excluded[isPaid(t, e) ? 'returnNotFinite' : 'withoutReward']++;
    else if (t.episodeOffsets[e] === t.episodeOffsets[e + 1]) excluded.withoutTurns++;
    else returnOf.set(e, G[i]!);
  });
  const view = filterEpisodes(t, (e) => returnOf.has(e));
  const tasks = clusters(view);
  if (tasks.count < 2)
    throw failure({
      subject: 'critic',
      wrong: 'too few tasks with a finished, rewarded episode to hold any out',
      got: tasks.count,
      expected: '2 or more',
      fix: 'Every turn is valued by a model that saw nothing of its task.',
    });
  const K = Math.min(folds, tasks.count);
  const dealt = foldsByTask(view, K, seed);
  const order = canonicalOrder(view);
  const N = order.length;
  const S = t.turns.turn.length;
  const out = {
    episodes: order.map((i) => view.index[i]!),
    cluster: new Int32Array(N),
    clusters: tasks.count,
    foldOfEpisode: order.map((i) => dealt[i]!),
    folds: K,
    returns: new Float64Array(N),
    place: new Int32Array(S).fill(-1),
    stage: new Int32Array(S),
    fold: new Int32Array(S).fill(-1),
    reward: turnRewards(t),
    toGo: rewardToGo(t),
    last: new Uint8Array(S),
    excluded,
  };
  let code = -1;
  let turns = 0;
  for (let i = 0; i < N; i++) {
    if (i === 0 || tasks.of[order[i]!] !== tasks.of[order[i - 1]!]) code++;
    out.cluster[i] = code;
    out.returns[i] = returnOf.get(out.episodes[i]!)!;
    turns += t.episodeOffsets[out.episodes[i]! + 1]! - t.episodeOffsets[out.episodes[i]!]!;
  }
  const rows = new Int32Array(turns);
  let at = 0;
  for (let i = 0; i < N; i++) {
    const e = out.episodes[i]!;
    const first = t.episodeOffsets[e]!;
    const end = t.episodeOffsets[e + 1]!;
    for (let s = first; s < end; s++) {
      rows[at++] = s;
      out.place[s] = i;
      out.stage[s] = s - first;
      out.fold[s] = out.foldOfEpisode[i]!;
    }
    out.last[end - 1] = 1;
  }
  return { ...out, rows };
}

/** Places of the view by (task, episode id); an episode without a task is its own. */
function canonicalOrder(view: Trajectories): Int32Array {
  const { task, id } = view.episodes;
  const names = Array.from(view.index, (e) =>
    task.codes[e]! < 0 ? `e${id[e]}` : `t${task.values[task.codes[e]!]}`,
  );
  const by = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return Int32Array.from(names.keys()).sort(
    (a, b) => by(names[a]!, names[b]!) || by(id[view.index[a]!]!, id[view.index[b]!]!),
  );
}
