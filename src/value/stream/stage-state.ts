/*
 * Sums over episodes by stage that merge: those of two sets of episodes are the sums of theirs.
 *
 *   alive at t      Σ w_t, Σ w_t², Σ w_t³, Σ w_t r_t   stored times e^−shift_t (squares e^−2 shift_t, cubes e^−3 shift_t)
 *   ended after L   Σ w_T, Σ w_T², Σ w_T³, number       by number of turns L
 *   carried at t  = alive at t + Σ_{L ≤ t} ended after L
 *
 * A shift is 0 unless the largest weight of the stage does not fit a double; when it moves, the sums are
 * scaled. O(stages) memory, O(stages) a merge.
 */
import type { StageSums } from '../../weights/carried.ts';
import { shiftOf } from './block.ts';

/** Sums of one kind of row (alive at a stage, or ended after so many turns), [capacity] each. */
export interface ShiftedSums {
  top: Float64Array; // largest log-weight
  shift: Float64Array;
  sum: Float64Array;
  squares: Float64Array;
  cubes: Float64Array;
}

export interface StageState {
  /** Stages in use; arrays may be longer. */
  stages: number;
  episodes: number;
  readonly alive: ShiftedSums;
  readonly ended: ShiftedSums; // by number of turns
  endedCount: Float64Array; // by number of turns
  zeros: Float64Array; // alive with a weight of 0
  rewardSums: Float64Array[]; // by reward column, times e^−shift of the alive
}

export function stageState(columns: number): StageState {
  return {
    stages: 0,
    episodes: 0,
    alive: shiftedSums(0),
    ended: shiftedSums(0),
    endedCount: new Float64Array(0),
    zeros: new Float64Array(0),
    rewardSums: Array.from({ length: columns }, () => new Float64Array(0)),
  };
}

/** Makes room for episodes of `stages` turns. */
export function growStages(s: StageState, stages: number): void {
  if (stages > s.stages) s.stages = stages;
  if (s.alive.sum.length > stages) return;
  const size = Math.max(16, 2 * stages);
  for (const sums of [s.alive, s.ended]) {
    sums.top = longer(sums.top, size, -Infinity);
    sums.shift = longer(sums.shift, size);
    sums.sum = longer(sums.sum, size);
    sums.squares = longer(sums.squares, size);
    sums.cubes = longer(sums.cubes, size);
  }
  s.endedCount = longer(s.endedCount, size);
  s.zeros = longer(s.zeros, size);
  s.rewardSums = s.rewardSums.map((x) => longer(x, size));
}

/** Moves the shifts to where the largest weights are now; `more` are sums on the scale of the weights. */
export function settle(sums: ShiftedSums, used: number, more: readonly Float64Array[] = []): void {
  for (let t = 0; t < used; t++) {
    const shift = shiftOf(sums.top[t]!);
    if (shift === sums.shift[t]) continue;
    const scale = Math.exp(sums.shift[t]! - shift);
    sums.shift[t] = shift;
    // Nothing summed so far stays nothing, whatever the scale.
    if (sums.squares[t] !== 0) sums.squares[t] = sums.squares[t]! * scale * scale;
    if (sums.cubes[t] !== 0) sums.cubes[t] = sums.cubes[t]! * scale * scale * scale;
    if (sums.sum[t] !== 0) sums.sum[t] = sums.sum[t]! * scale;
    for (const x of more) if (x[t] !== 0) x[t] = x[t]! * scale;
  }
}

/** Adds the sums of other episodes. */
export function mergeStages(into: StageState, from: StageState): void {
  growStages(into, from.stages);
  into.episodes += from.episodes;
  const T = into.stages + 1;
  growStages(from, into.stages);
  for (const kind of ['alive', 'ended'] as const) {
    for (let t = 0; t < T; t++) {
      const top = Math.max(into[kind].top[t]!, from[kind].top[t]!);
      into[kind].top[t] = from[kind].top[t] = top;
    }
    for (const s of [into, from]) settle(s[kind], T, kind === 'alive' ? s.rewardSums : []);
    addTo(into[kind].sum, from[kind].sum, T);
    addTo(into[kind].squares, from[kind].squares, T);
    addTo(into[kind].cubes, from[kind].cubes, T);
  }
  addTo(into.endedCount, from.endedCount, T);
  addTo(into.zeros, from.zeros, T);
  into.rewardSums.forEach((x, c) => {
    addTo(x, from.rewardSums[c]!, T);
  });
}

/** Whether a stage had to be shifted. */
export function isShifted({ alive, ended, stages }: StageState): boolean {
  for (let t = 0; t <= stages; t++)
    if ((alive.shift[t] ?? 0) !== 0 || (ended.shift[t] ?? 0) !== 0) return true;
  return false;
}

/** The sums as the estimators take them, carried ones included, [stages]. */
export function toStageSums(s: StageState): Omit<StageSums, 'reached'> {
  const T = s.stages;
  const alive = new Int32Array(T);
  let left = s.episodes;
  for (let t = 0; t < T; t++) {
    left -= s.endedCount[t]!;
    alive[t] = left;
  }
  const carried = (power: 1 | 2 | 3): Float64Array => {
    const kind = (['sum', 'squares', 'cubes'] as const)[power - 1]!;
    const ended = s.ended[kind];
    const own = s.alive[kind];
    const out = new Float64Array(T);
    const shifted = isShifted(s);
    let total = 0;
    let log = -Infinity;
    for (let t = 0; t < T; t++) {
      if (!shifted) {
        total += ended[t]!;
        out[t] = own[t]! + total;
        continue;
      }
      const added = ended[t]! > 0 ? power * s.ended.shift[t]! + Math.log(ended[t]!) : -Infinity;
      const larger = Math.max(log, added);
      if (larger > -Infinity) log = larger + Math.log1p(Math.exp(-Math.abs(log - added)));
      out[t] = own[t]! + Math.exp(log - power * s.alive.shift[t]!);
    }
    return out;
  };
  return {
    alive,
    followers: alive.map((n, t) => n - s.zeros[t]!),
    aliveSum: s.alive.sum.slice(0, T),
    aliveSquares: s.alive.squares.slice(0, T),
    carriedSum: carried(1),
    carriedSquares: carried(2),
    carriedCubes: carried(3),
  };
}

function shiftedSums(size: number): ShiftedSums {
  return {
    top: new Float64Array(size).fill(-Infinity),
    shift: new Float64Array(size),
    sum: new Float64Array(size),
    squares: new Float64Array(size),
    cubes: new Float64Array(size),
  };
}

/** The same values with room for more. */
export function longer(values: Float64Array, size: number, empty = 0): Float64Array {
  const out = new Float64Array(size);
  if (empty !== 0) out.fill(empty, values.length);
  out.set(values);
  return out;
}

export function addTo(into: Float64Array, from: Float64Array, count: number): void {
  for (let t = 0; t < count; t++) into[t] = into[t]! + from[t]!;
}
