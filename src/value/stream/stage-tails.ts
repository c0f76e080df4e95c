/*
 * What a stage's table shows beside the sums: ratios of the turn alone, and the largest weights for the top
 * share and the tail index.
 *
 *   reached       Σ w_{t−1} of the alive, w_{−1} = 1
 *   stagewise     Σ ρ_t, Σ ρ_t² among the alive, relative to the turn's largest ratio
 *   largest       of log w_t among the alive, and of log w_T by number of turns: the largest carried weights
 *                 of stage t are the largest of both up to t turns
 *
 * O(turns + values that enter · log m) time, O(stages · m) memory.
 */

import type { Concentration } from '../../diagnostics/concentration.ts';
import { concentrationOf } from '../../diagnostics/concentration.ts';
import { tailLength } from '../../math/pareto.ts';
import type { StageSums } from '../../weights/carried.ts';
import type { EpisodeBlock } from './block.ts';
import { addTo, longer, type StageState } from './stage-state.ts';
import { addTop, mergeSorted, mergeTop, sortedTop, type Top, top } from './top.ts';

export interface StageTails {
  readonly most: number; // values kept a stage
  readonly alive: Top[]; // by turn
  readonly ended: Top[]; // by number of turns
  reached: Float64Array;
  rhoTop: Float64Array;
  rhoSum: Float64Array;
  rhoSquares: Float64Array;
}

/** Values that a share of the ⌈n/100⌉ largest and a tail index need of n. */
export const valuesFor = (n: number): number => Math.max(Math.ceil(n / 100), tailLength(n) + 1, 1);

/** @param n episodes at most, in all shards together */
export function stageTails(n: number): StageTails {
  const none = () => new Float64Array(0);
  return {
    most: valuesFor(n),
    alive: [],
    ended: [],
    reached: none(),
    rhoTop: none(),
    rhoSum: none(),
    rhoSquares: none(),
  };
}

/** @param logs,weights [turns] log w_t and w_t of the block, from its first turn */
export function addTails(
  tails: StageTails,
  { n, row, offsets, use, logRatios }: EpisodeBlock,
  logWeight: Float64Array,
  logs: Float64Array,
  weights: Float64Array,
): void {
  const base = offsets[0]!;
  let stages = 0;
  for (let i = 0; i < n; i++) stages = Math.max(stages, offsets[i + 1]! - offsets[i]!);
  growTails(tails, stages);
  const top = tails.rhoTop.slice();
  for (let i = 0; i < n; i++) {
    if (use !== null && use[i] === 0) continue;
    for (let k = offsets[i]!, t = 0; k < offsets[i + 1]!; k++, t++)
      if (logRatios[k]! > top[t]!) top[t] = logRatios[k]!;
  }
  rescale(tails, top);
  const { reached, rhoTop, rhoSum, rhoSquares } = tails;
  for (let i = 0; i < n; i++) {
    if (use !== null && use[i] === 0) continue;
    let t = 0;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++, t++) {
      reached[t] = reached[t]! + (t === 0 ? 1 : weights[k - base - 1]!);
      addTop(tails.alive[t]!, logs[k - base]!);
      if (rhoTop[t] === -Infinity) continue;
      const rho = Math.exp(logRatios[k]! - rhoTop[t]!);
      rhoSum[t] = rhoSum[t]! + rho;
      rhoSquares[t] = rhoSquares[t]! + rho * rho;
    }
    addTop(tails.ended[t]!, logWeight[row + i]!);
  }
}

export function mergeTails(into: StageTails, from: StageTails): void {
  const size = Math.max(into.alive.length, from.alive.length);
  growTails(into, size - 1);
  growTails(from, size - 1);
  const top = into.rhoTop.map((x, t) => Math.max(x, from.rhoTop[t]!));
  rescale(into, top);
  rescale(from, top);
  addTo(into.reached, from.reached, size);
  addTo(into.rhoSum, from.rhoSum, size);
  addTo(into.rhoSquares, from.rhoSquares, size);
  from.alive.forEach((x, t) => {
    mergeTop(into.alive[t]!, x);
  });
  from.ended.forEach((x, t) => {
    mergeTop(into.ended[t]!, x);
  });
}

/** Concentration of the carried weights at every stage, as of all n of them. O(stages · m log m). */
export function tailConcentrations(
  tails: StageTails,
  state: StageState,
  { carriedSum }: Pick<StageSums, 'carriedSum'>,
): Concentration[] {
  const n = state.episodes;
  const wanted = valuesFor(n);
  let ended: Float64Array = new Float64Array(0);
  let least = Infinity;
  return Array.from({ length: state.stages }, (_, t) => {
    ended = mergeSorted(sortedTop(tails.ended[t]!), ended, wanted);
    least = Math.min(least, tails.ended[t]!.least);
    const shift = state.alive.shift[t]!;
    const logs = mergeSorted(sortedTop(tails.alive[t]!), ended, wanted);
    const largest = logs.map((log) => Math.exp(log - shift));
    const smallest = Math.exp(Math.min(least, tails.alive[t]!.least) - shift);
    return concentrationOf(n, largest, carriedSum[t]!, largest.at(-1)! - smallest <= 1e-12 * smallest);
  });
}

/** Effective sample size of the turn's own ratios, [stages]. */
export function stagewiseEss({ rhoSum, rhoSquares }: StageTails, stages: number): Float64Array {
  return Float64Array.from({ length: stages }, (_, t) =>
    rhoSquares[t]! > 0 ? (rhoSum[t]! * rhoSum[t]!) / rhoSquares[t]! : 0,
  );
}

function rescale(tails: StageTails, top: Float64Array): void {
  for (let t = 0; t < top.length; t++) {
    if (top[t] === tails.rhoTop[t]) continue;
    const scale = Math.exp(tails.rhoTop[t]! - top[t]!); // 0 from −∞ on
    tails.rhoSum[t] = tails.rhoSum[t]! * scale;
    tails.rhoSquares[t] = tails.rhoSquares[t]! * scale * scale;
    tails.rhoTop[t] = top[t]!;
  }
}

function growTails(tails: StageTails, stages: number): void {
  while (tails.alive.length < stages + 1) tails.alive.push(top(tails.most));
  while (tails.ended.length < stages + 1) tails.ended.push(top(tails.most));
  const size = tails.alive.length;
  if (tails.rhoTop.length >= size) return;
  tails.rhoTop = longer(tails.rhoTop, size, -Infinity);
  tails.reached = longer(tails.reached, size);
  tails.rhoSum = longer(tails.rhoSum, size);
  tails.rhoSquares = longer(tails.rhoSquares, size);
}
