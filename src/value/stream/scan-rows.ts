import { ENDINGS } from '../../schema/episode.ts';
import { isUsable } from '../../trajectories/return.ts';
import type { Trajectories } from '../../trajectories/trajectories.ts';
import type { TurnBlock } from '../../weights/stream/turn-blocks.ts';
import type { EpisodeRows } from './block.ts';
import type { RatioRows } from './second-pass.ts';

/** What a scan keeps of every episode of a store, [E], in memory that threads share. */
export interface ScanRows {
  readonly episode: Float64Array; // number in the store, ascending
  readonly reward: Float64Array; // paid at the end, NaN where there is none
  readonly aborted: Uint8Array;
  /** Task, or the episode itself where it has none. */
  readonly cluster: Int32Array;
  readonly episodesOf: Int32Array; // [clusters]
  readonly task: { readonly codes: Int32Array; readonly values: readonly string[] };
  readonly returns: Float64Array; // NaN where undefined
  readonly turns: Int32Array;
  readonly targets: readonly TargetRows[];
}

export interface TargetRows extends EpisodeRows, RatioRows {
  readonly view: Uint8Array; // 1: not held out
  readonly aliveMeanOverN: Float64Array;
}

const ABORTED = ENDINGS.indexOf('aborted');

/**
 * @param list its arrays are shared, not copied
 * @param views by target: which episodes count for it
 */
export function scanRows(list: Trajectories, views: readonly Uint8Array[]): ScanRows {
  const { episode, reward, ending, task } = list.episodes;
  const E = episode.length;
  const doubles = (n = E) => new Float64Array(new SharedArrayBuffer(8 * n));
  const integers = (n = E) => new Int32Array(new SharedArrayBuffer(4 * n));
  const bytes = () => new Uint8Array(new SharedArrayBuffer(E));
  const cluster = integers();
  let count = task.values.length;
  for (let e = 0; e < E; e++) cluster[e] = task.codes[e]! < 0 ? count++ : task.codes[e]!;
  const episodesOf = integers(count);
  for (let e = 0; e < E; e++) episodesOf[cluster[e]!] = episodesOf[cluster[e]!]! + 1;
  const aborted = bytes();
  for (let e = 0; e < E; e++) aborted[e] = ending[e] === ABORTED ? 1 : 0;
  const mask = (view: Uint8Array) => {
    const out = bytes();
    out.set(view);
    return out;
  };
  return {
    episode,
    reward,
    aborted,
    cluster,
    episodesOf,
    task,
    returns: doubles(),
    turns: integers(),
    targets: views.map((view) => ({
      view: mask(view),
      logWeight: doubles(),
      weighted: [doubles()],
      carried: doubles(),
      alive: doubles(),
      aliveMeanOverN: doubles(),
    })),
  };
}

/** Discounted rewards of a block, the episode's own at its last turn; writes returns and lengths. */
export function blockRewards(block: TurnBlock, rows: ScanRows, discount: number): Float64Array {
  const { row, n, offsets, columns } = block;
  const reward = columns.reward!;
  const out = new Float64Array(reward.length);
  for (let i = 0; i < n; i++) {
    const R = rows.reward[row + i]!;
    const from = offsets[i]!;
    const to = offsets[i + 1]!;
    let any = !Number.isNaN(R);
    let usable = isUsable(R);
    const last = any ? R : 0;
    let sum = last; // undiscounted: whether there is a return does not hang on γ
    let factor = 1;
    let G = 0;
    for (let k = from; k < to; k++) {
      let r = reward[k]!;
      if (Number.isNaN(r)) r = 0;
      else any = true;
      usable &&= isUsable(r);
      sum += r;
      if (k === to - 1) r += last;
      out[k] = factor * r;
      G += factor * r;
      factor *= discount;
    }
    if (from === to) G = last;
    rows.turns[row + i] = to - from;
    const defined = any && usable && isUsable(sum) && rows.aborted[row + i] === 0;
    rows.returns[row + i] = defined ? G : Number.NaN;
  }
  return out;
}

/** Which episodes of a block count for a target: in its view, with a return. */
export function blockUse({ row, n }: TurnBlock, rows: ScanRows, target: number): Uint8Array {
  const { view } = rows.targets[target]!;
  const use = new Uint8Array(n);
  for (let i = 0; i < n; i++) use[i] = view[row + i] === 1 && !Number.isNaN(rows.returns[row + i]!) ? 1 : 0;
  return use;
}
