/*
 * Mean cumulative weight by turn with its cluster-robust error, from a stream: the sums of
 * diagnostics/mean-weight.ts. A task's S_ct needs all its episodes, so a task is open, with a row of its
 * stages, from its first episode to its last; then only squares of it are kept.
 *
 * Merging adds open rows of the same task and closes those that are complete. O(turns) time; memory
 * O(stages + stages of the open tasks): next to nothing where a task's episodes lie together.
 */
import type { EpisodeBlock } from './block.ts';
import { addTo, longer } from './stage-state.ts';

interface OpenTask {
  /** Episodes still to come, of `of`. */
  seen: number;
  size: number;
  alive: Float64Array; // [longest] Σ (w − 1) by turn
  ended: Float64Array; // [longest + 1] Σ (w_T − 1) by number of turns
  follows: Uint8Array; // [longest]
  longest: number;
}

export interface MeanRows {
  readonly open: Map<number, OpenTask>;
  /** Tasks closed that hold an episode. */
  tasks: number;
  sizes: number; // Σ n_c²
  // By turn, over tasks that still have a turn there; in the second half by length, over those that ended.
  sum: Float64Array;
  cross: Float64Array;
  squares: Float64Array;
  endedSum: Float64Array;
  endedCross: Float64Array;
  endedSquares: Float64Array;
  followerTasks: Float64Array;
}

const SUMS = ['sum', 'cross', 'squares', 'endedSum', 'endedCross', 'endedSquares', 'followerTasks'] as const;

export function meanRows(): MeanRows {
  const none = () => new Float64Array(0);
  return {
    open: new Map(),
    tasks: 0,
    sizes: 0,
    sum: none(),
    cross: none(),
    squares: none(),
    endedSum: none(),
    endedCross: none(),
    endedSquares: none(),
    followerTasks: none(),
  };
}

/**
 * Adds the episodes of a block.
 * @param task [N] code by place among all episodes
 * @param episodesOf [tasks] how many of those places each has, used or not
 * @param weights [turns] true weights w_t of the block, from its first turn
 */
export function addMeanRows(
  rows: MeanRows,
  { n, row, offsets, use }: EpisodeBlock,
  task: Int32Array,
  episodesOf: Int32Array,
  weights: Float64Array,
): void {
  const base = offsets[0]!;
  for (let i = 0; i < n; i++) {
    const c = task[row + i]!;
    let open = rows.open.get(c);
    if (open === undefined) {
      open = opened();
      rows.open.set(c, open);
    }
    open.seen++;
    if (use === null || use[i] === 1) {
      const from = offsets[i]! - base;
      const length = offsets[i + 1]! - offsets[i]!;
      if (length > open.longest || open.ended.length === 0) lengthen(open, length, episodesOf[c]! === 1);
      open.size++;
      const { alive, follows, ended } = open;
      for (let t = 0; t < length; t++) {
        const w = weights[from + t]!;
        alive[t] = alive[t]! + (w - 1);
        if (w > 0) follows[t] = 1;
      }
      const last = length === 0 ? 1 : weights[from + length - 1]!;
      ended[length] = ended[length]! + (last - 1);
    }
    if (open.seen === episodesOf[c]) close(rows, c, open);
  }
}

export function mergeMeanRows(into: MeanRows, from: MeanRows, episodesOf: Int32Array): void {
  into.tasks += from.tasks;
  into.sizes += from.sizes;
  growRows(into, from.sum.length);
  for (const name of SUMS) addTo(into[name], from[name], from[name].length);
  for (const [c, b] of from.open) {
    const a = into.open.get(c);
    if (a === undefined) {
      into.open.set(c, b);
      continue;
    }
    lengthen(a, Math.max(a.longest, b.longest), true);
    a.seen += b.seen;
    a.size += b.size;
    addTo(a.alive, b.alive, b.longest);
    if (b.ended.length > 0) addTo(a.ended, b.ended, b.longest + 1);
    for (let t = 0; t < b.longest; t++) if (b.follows[t] === 1) a.follows[t] = 1;
    if (a.seen === episodesOf[c]) close(into, c, a);
  }
}

/** Mean, standard error and tasks that follow, [stages]; a whole stream has closed all tasks. */
export function meansOf(rows: MeanRows, n: number, stages: number) {
  const mean = new Float64Array(stages);
  const se = new Float64Array(stages);
  const followerTasks = new Int32Array(stages);
  const K = rows.tasks;
  let [a, b, c] = [0, 0, 0];
  growRows(rows, stages + 1);
  for (let t = 0; t < stages; t++) {
    a += rows.endedSum[t]!;
    b += rows.endedCross[t]!;
    c += rows.endedSquares[t]!;
    const d = (rows.sum[t]! + a) / n;
    const spread = rows.squares[t]! + c - 2 * d * (rows.cross[t]! + b) + d * d * rows.sizes;
    mean[t] = 1 + d;
    se[t] = K < 2 ? Number.NaN : Math.sqrt(((K / (K - 1)) * Math.max(0, spread)) / (n * n));
    followerTasks[t] = rows.followerTasks[t]!;
  }
  return { mean, se, followerTasks };
}

/** Takes a task's row into the squares. */
function close(rows: MeanRows, c: number, { size, alive, ended, follows, longest }: OpenTask): void {
  rows.open.delete(c);
  if (size === 0) return;
  growRows(rows, longest + 1);
  rows.tasks++;
  rows.sizes += size * size;
  let carry = 0;
  for (let t = 0; t < longest; t++) {
    carry += ended[t]!;
    const S = alive[t]! + carry;
    rows.sum[t] = rows.sum[t]! + S;
    rows.cross[t] = rows.cross[t]! + S * size;
    rows.squares[t] = rows.squares[t]! + S * S;
    rows.followerTasks[t] = rows.followerTasks[t]! + follows[t]!;
  }
  carry += ended[longest]!;
  rows.endedSum[longest] = rows.endedSum[longest]! + carry;
  rows.endedCross[longest] = rows.endedCross[longest]! + carry * size;
  rows.endedSquares[longest] = rows.endedSquares[longest]! + carry * carry;
}

const opened = (): OpenTask => ({
  seen: 0,
  size: 0,
  alive: new Float64Array(0),
  ended: new Float64Array(0),
  follows: new Uint8Array(0),
  longest: 0,
});

function lengthen(open: OpenTask, longest: number, exact: boolean): void {
  open.longest = longest;
  if (open.ended.length > longest) return;
  const room = exact ? longest : Math.ceil(1.25 * longest);
  open.alive = longer(open.alive, room);
  open.ended = longer(open.ended, room + 1);
  const follows = new Uint8Array(room);
  follows.set(open.follows);
  open.follows = follows;
}

function growRows(rows: MeanRows, stages: number): void {
  if (rows.sum.length >= stages) return;
  const size = Math.max(stages, 2 * rows.sum.length);
  for (const name of SUMS) rows[name] = longer(rows[name], size);
}
