/*
 * The carried-forward convention: an episode that has ended keeps its final weight at every later
 * stage, so that a stage's weights are those of all n episodes.
 *
 *   S_t = Σ_{alive at t} w_t + Σ_{ended before t} w_T      and the same with squares and cubes
 *
 * Ended episodes are taken in once, at the stage after their last turn: O(turns + stages).
 */
import type { EpisodeWeights } from './episode-weights.ts';

/** Sums over episodes by stage, each divided by e^shift_t (squares by e^2shift_t, cubes by e^3shift_t). */
export interface StageSums {
  readonly alive: Int32Array; // [stages] episodes with a turn there
  readonly followers: Int32Array; // [stages] of these, weight above 0
  /** Σ_{alive at t} w_{t−1}, [stages], w_{−1} = 1: over n, the share of the target's episodes that reach t. */
  readonly reached: Float64Array;
  readonly aliveSum: Float64Array;
  readonly aliveSquares: Float64Array;
  readonly carriedSum: Float64Array;
  readonly carriedSquares: Float64Array;
  readonly carriedCubes: Float64Array;
}

/** Of the weights that are summed. */
type Power = 1 | 2 | 3;

export function stageSums(w: EpisodeWeights): StageSums {
  const { stages: T, n, offsets, weights, shift } = w;
  const alive = new Int32Array(T);
  const followers = new Int32Array(T);
  const reached = new Float64Array(T);
  const aliveSum = new Float64Array(T);
  const aliveSquares = new Float64Array(T);
  const aliveCubes = new Float64Array(T);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      const x = weights[s]!;
      reached[t] = reached[t]! + (t === 0 ? 1 : weights[s - 1]! * Math.exp(shift[t - 1]!));
      alive[t] = alive[t]! + 1;
      if (x > 0) followers[t] = followers[t]! + 1;
      aliveSum[t] = aliveSum[t]! + x;
      aliveSquares[t] = aliveSquares[t]! + x * x;
      aliveCubes[t] = aliveCubes[t]! + x * x * x;
    }
  const carried = (sum: Float64Array, power: Power): Float64Array => {
    const ended = shift.some((x) => x !== 0) ? endedInLogs(w, power) : endedByStage(w, power);
    return sum.map((x, t) => x + ended[t]!);
  };
  return {
    alive,
    followers,
    reached,
    aliveSum,
    aliveSquares,
    carriedSum: carried(aliveSum, 1),
    carriedSquares: carried(aliveSquares, 2),
    carriedCubes: carried(aliveCubes, 3),
  };
}

/** Σ_{ended before t} w_T^power, [stages], where no stage needs a shift. */
function endedByStage(w: EpisodeWeights, power: Power): Float64Array {
  const { stages: T, n, offsets, logWeight } = w;
  const out = new Float64Array(T + 1); // by number of turns
  for (let i = 0; i < n; i++) {
    const x = Math.exp(logWeight[i]!);
    const length = offsets[i + 1]! - offsets[i]!;
    out[length] = out[length]! + x ** power;
  }
  for (let t = 1; t < T; t++) out[t] = out[t]! + out[t - 1]!;
  return out.subarray(0, T);
}

/** The same times e^(−power · shift_t), summed as logarithms, each length relative to its largest weight. */
function endedInLogs(w: EpisodeWeights, power: Power): Float64Array {
  const { stages: T, n, offsets, logWeight, shift } = w;
  const top = new Float64Array(T + 1).fill(-Infinity); // by number of turns
  const sum = new Float64Array(T + 1);
  for (let i = 0; i < n; i++) {
    const length = offsets[i + 1]! - offsets[i]!;
    if (logWeight[i]! > top[length]!) top[length] = logWeight[i]!;
  }
  for (let i = 0; i < n; i++) {
    const length = offsets[i + 1]! - offsets[i]!;
    if (logWeight[i]! > -Infinity)
      sum[length] = sum[length]! + Math.exp(power * (logWeight[i]! - top[length]!));
  }
  const out = new Float64Array(T);
  let log = -Infinity;
  for (let t = 0; t < T; t++) {
    const added = sum[t]! > 0 ? power * top[t]! + Math.log(sum[t]!) : -Infinity;
    const larger = Math.max(log, added);
    if (larger > -Infinity) log = larger + Math.log1p(Math.exp(-Math.abs(log - added)));
    out[t] = Math.exp(log - power * shift[t]!);
  }
  return out;
}
