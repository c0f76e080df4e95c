/*
 * All estimators of the importance-sampling and doubly robust families at once, from arrays in memory: the two
 * passes of a scan in blocks that stay in the cache, weights kept between them. What a program that has its own
 * log-ratios calls; `evaluate` adds checks, bounds, warnings and records.
 *
 *   IS, WIS, PDIS, WPDIS (carried, alive, alive-mean-over-n); with Q̂ and V̂ columns also DR, WDR (carried, alive)
 *
 * O(turns) time; memory 8 bytes a turn and about 100 an episode.
 */
import { studentQuantile } from '../../math/distributions.ts';
import { type TailIndex, tailIndex } from '../../math/pareto.ts';
import { clusterVariance, mean } from '../../math/statistics.ts';
import { sum } from '../../math/sum.ts';
import type { Clusters } from '../../trajectories/trajectories.ts';
import { effectiveSampleSize } from '../../weights/effective-sample-size.ts';
import { type EpisodeBlock, shiftOf } from './block.ts';
import { addBlock, scratch } from './first-pass.ts';
import { addInfluence, ratioTerms } from './second-pass.ts';
import { isShifted, stageState, toStageSums } from './stage-state.ts';

/** Ragged episodes: turns of episode i are offsets[i] to offsets[i + 1]; each has at least one. */
export interface EpisodeArrays {
  readonly offsets: Int32Array; // [n + 1]
  readonly logRatios: Float64Array; // [turns] log π − log b
  readonly rewards: Float64Array; // [turns] discounted
  readonly clusters: Clusters;
  /** Q̂ at the logged action and V̂ = Σ_a π Q̂, discounted, [turns]. */
  readonly q?: { readonly logged: Float64Array; readonly v: Float64Array } | undefined;
}

export interface ArrayEstimate {
  readonly estimator: string;
  readonly value: number;
  readonly se: number;
  readonly lo: number;
  readonly hi: number;
}

export interface ArrayEstimates {
  readonly estimates: readonly ArrayEstimate[];
  readonly ess: number;
  readonly tail: TailIndex;
}

/** Turns of a block: its columns fit the second-level cache. */
const BLOCK = 16_384;

export function estimateArrays(arrays: EpisodeArrays, level = 0.95): ArrayEstimates {
  const { offsets, clusters, q } = arrays;
  const n = offsets.length - 1;
  const columns = q === undefined ? 1 : 2;
  const state = stageState(columns);
  const logWeight = new Float64Array(n);
  const returns = new Float64Array(n);
  const weighted = Array.from({ length: columns }, () => new Float64Array(n));
  const kept = new Float64Array(offsets[n]!);
  const s = scratch();
  const delta = residuals(arrays);
  for (const block of blocks(arrays, delta)) {
    s.weights = kept.subarray(block.from);
    addReturns(block, returns);
    addBlock(state, block, { logWeight, weighted }, s);
  }
  const sums = toStageSums(state);
  const shifted = isShifted(state);
  const terms = Array.from({ length: columns }, (_, c) => ratioTerms(state, sums, c));
  const influence = terms.map((_, c) => ({
    carried: new Float64Array(n),
    alive: new Float64Array(n),
    aliveMeanOverN: c === 0 ? new Float64Array(n) : null,
  }));
  for (const block of blocks(arrays, delta)) {
    const weights = shifted ? null : kept.subarray(block.from);
    for (let c = 0; c < columns; c++)
      addInfluence(terms[c]!, block, block.rewards[c]!, influence[c]!, weights);
  }
  const weight = scaledWeights(logWeight);
  const total = sum(weight);
  const products = new Float64Array(n);
  for (let i = 0; i < n; i++) products[i] = weight[i]! * returns[i]!;
  const wis = sum(products) / total;
  const wisPsi = new Float64Array(n);
  for (let i = 0; i < n; i++) wisPsi[i] = (n * weight[i]! * (returns[i]! - wis)) / total;
  const isPsi = weighedReturns(logWeight, returns);
  const { carried, alive, aliveMeanOverN } = influence[0]!;
  const found: [string, number, Float64Array][] = [
    ['IS', mean(isPsi), isPsi],
    ['WIS', wis, wisPsi],
    ['PDIS', mean(weighted[0]!), weighted[0]!],
    ['WPDIS carried', sum(terms[0]!.carried), carried],
    ['WPDIS alive', sum(terms[0]!.alive), alive],
    ['WPDIS alive-mean-over-n', sum(terms[0]!.alive.map((x, t) => x * terms[0]!.share[t]!)), aliveMeanOverN!],
  ];
  if (q !== undefined) {
    const first = new Float64Array(n);
    for (let i = 0; i < n; i++) first[i] = q.v[offsets[i]!]!;
    const start = mean(first);
    const psis = [weighted[1]!, influence[1]!.carried, influence[1]!.alive];
    for (const psi of psis) for (let i = 0; i < n; i++) psi[i] = psi[i]! + first[i]!;
    found.push(
      ['DR', mean(psis[0]!), psis[0]!],
      ['WDR carried', start + sum(terms[1]!.carried), psis[1]!],
      ['WDR alive', start + sum(terms[1]!.alive), psis[2]!],
    );
  }
  const t = studentQuantile((1 + level) / 2, clusters.count - 1);
  return {
    estimates: found.map(([estimator, value, psi]) => {
      const { se } = clusterVariance(psi, clusters.of, clusters.count);
      return { estimator, value, se, lo: value - t * se, hi: value + t * se };
    }),
    ess: effectiveSampleSize(weight),
    tail: tailIndex(weight),
  };
}

/** w_T over the largest where that does not fit a double. */
function scaledWeights(logWeight: Float64Array): Float64Array {
  let most = -Infinity;
  for (let i = 0; i < logWeight.length; i++) if (logWeight[i]! > most) most = logWeight[i]!;
  const shift = shiftOf(most);
  const out = new Float64Array(logWeight.length);
  for (let i = 0; i < out.length; i++) out[i] = Math.exp(logWeight[i]! - shift);
  return out;
}

/** w G, selected: ∞ · 0 is not 0. */
function weighedReturns(logWeight: Float64Array, returns: Float64Array): Float64Array {
  const out = new Float64Array(returns.length);
  for (let i = 0; i < out.length; i++) if (returns[i] !== 0) out[i] = Math.exp(logWeight[i]!) * returns[i]!;
  return out;
}

/** A block and the place of its first turn. */
interface ArrayBlock extends EpisodeBlock {
  readonly from: number;
}

/** The same columns, some whole episodes at a time. */
function* blocks(
  { offsets, logRatios, rewards }: EpisodeArrays,
  delta: Float64Array | null,
): Generator<ArrayBlock> {
  const n = offsets.length - 1;
  for (let row = 0; row < n; ) {
    const from = offsets[row]!;
    let end = row + 1;
    while (end < n && offsets[end + 1]! - from <= BLOCK) end++;
    const own = offsets.slice(row, end + 1);
    for (let i = 0; i < own.length; i++) own[i] = own[i]! - from;
    const part = (x: Float64Array) => x.subarray(from, from + own[own.length - 1]!);
    yield {
      n: end - row,
      row,
      from,
      offsets: own,
      use: null,
      logRatios: part(logRatios),
      rewards: delta === null ? [part(rewards)] : [part(rewards), part(delta)],
    };
    row = end;
  }
}

/** δ_t = r_t + V̂_{t+1} − Q̂_t; 0 after the target has left an episode. */
function residuals({ offsets, logRatios, rewards, q }: EpisodeArrays): Float64Array | null {
  if (q === undefined) return null;
  const { logged, v } = q;
  const delta = new Float64Array(rewards.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    const last = offsets[i + 1]! - 1;
    let k = offsets[i]!;
    for (; k < last && logRatios[k] !== -Infinity; k++) delta[k] = rewards[k]! + v[k + 1]! - logged[k]!;
    if (k === last && logRatios[k] !== -Infinity) delta[k] = rewards[k]! - logged[k]!;
  }
  return delta;
}

function addReturns({ n, row, offsets, rewards: [r] }: EpisodeBlock, returns: Float64Array): void {
  for (let i = 0; i < n; i++) {
    let G = 0;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) G += r![k]!;
    returns[row + i] = G;
  }
}
