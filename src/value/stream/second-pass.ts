/*
 * The second pass: influence values of the estimators that divide by a stage's sum (weighted PDIS; weighted
 * DR on δ in the place of r). a_t, b_t, c_t as in wpdis-*.ts; terms without a turn are added by the caller.
 *
 *   carried               Σ_t n w_it (r_it − a_t/b_t)/B_t − w_iT Σ_{t ≥ T_i} n (a_t/b_t)/B_t,   B_t = n b_t carried
 *   alive                 Σ_t n w_it (r_it − a_t/b_t)/B_t,                                        B_t = n b_t alive
 *   alive-mean-over-n     Σ_t a_t/b_t + n_t w_it (r_it − a_t/b_t)/B_t
 *
 * O(turns) time, O(stages) memory beside the values.
 */
import type { StageSums } from '../../weights/carried.ts';
import type { EpisodeBlock } from './block.ts';
import { isShifted, type StageState } from './stage-state.ts';

/** Numbers a turn reads. */
export const TERMS = 5;

/** Value of each convention without its constant, and what the pass needs by stage. */
export interface RatioTerms {
  readonly carried: Float64Array; // a/b, [stages]
  readonly alive: Float64Array;
  readonly share: Float64Array; // c_t
  readonly taken: Float64Array; // n (a/b) / B_t
  readonly later: Float64Array; // [stages + 1] Σ of `taken` from a stage on
  /** [stages + 1] Σ of a/b of the alive up to a stage. */
  readonly earlier: Float64Array;
  readonly shift: Float64Array;
  readonly shifted: boolean;
  readonly stages: number;
  /** What a turn reads, side by side: a/b alive, n/B alive, a/b carried, n/B carried, n_t/B alive. */
  readonly packed: Float64Array; // [stages × TERMS]
}

export function ratioTerms(state: StageState, sums: Omit<StageSums, 'reached'>, column: number): RatioTerms {
  const { stages: T, episodes: n } = state;
  const a = state.rewardSums[column]!.subarray(0, T);
  const over = (b: Float64Array) => a.map((x, t) => (x === 0 ? 0 : x / b[t]!));
  const per = (b: Float64Array) => b.map((x) => (x === 0 ? 0 : n / x));
  const carried = over(sums.carriedSum);
  const perCarried = per(sums.carriedSum);
  const taken = carried.map((x, t) => (x === 0 ? 0 : x * perCarried[t]!));
  const later = new Float64Array(T + 1);
  for (let t = T - 1; t >= 0; t--) later[t] = later[t + 1]! + taken[t]!;
  const alive = over(sums.aliveSum);
  const perAlive = per(sums.aliveSum);
  const share = Float64Array.from(sums.alive, (m) => m / n);
  const earlier = new Float64Array(T + 1);
  const packed = new Float64Array(TERMS * T);
  for (let t = 0; t < T; t++) {
    earlier[t + 1] = earlier[t]! + alive[t]!;
    packed.set([alive[t]!, perAlive[t]!, carried[t]!, perCarried[t]!, perAlive[t]! * share[t]!], TERMS * t);
  }
  return {
    carried,
    alive,
    share,
    earlier,
    packed,
    taken,
    later,
    shift: state.alive.shift.subarray(0, T),
    shifted: isShifted(state),
    stages: T,
  };
}

/** Influence values by convention, [N] each; null: not asked for. */
export interface RatioRows {
  readonly carried: Float64Array;
  readonly alive: Float64Array;
  readonly aliveMeanOverN: Float64Array | null;
}

/** Writes the values of a block. `weights` of its turns are those of the first pass, where they were kept. */
export function addInfluence(
  terms: RatioTerms,
  block: EpisodeBlock,
  rewards: Float64Array,
  out: RatioRows,
  weights: Float64Array | null,
): void {
  const { n, row, offsets, use, logRatios } = block;
  const { packed, earlier, shift, shifted, later, taken } = terms;
  const T = terms.stages;
  for (let i = 0; i < n; i++) {
    if (use !== null && use[i] === 0) continue;
    const end = offsets[i + 1]!;
    let log = 0;
    let x = 1;
    let c = 0;
    let a = 0;
    let m = 0;
    let t = 0;
    for (let k = offsets[i]!, p = 0; k < end; k++, p += TERMS, t++) {
      if (weights === null) {
        log += logRatios[k]!;
        x = Math.exp(log - shift[t]!);
      } else x = weights[k]!;
      if (x === 0) continue;
      const r = rewards[k]!;
      const d = x * (r - packed[p]!);
      a += d * packed[p + 1]!;
      c += x * (r - packed[p + 2]!) * packed[p + 3]!;
      m += d * packed[p + 4]!;
    }
    m += earlier[t]!;
    if (!shifted) c -= (t === 0 ? 1 : x) * later[t]!;
    else {
      if (weights !== null) for (let k = offsets[i]!; k < end; k++) log += logRatios[k]!;
      for (; t < T; t++) c -= Math.exp(log - shift[t]!) * taken[t]!;
    }
    out.carried[row + i] = c;
    out.alive[row + i] = a;
    if (out.aliveMeanOverN !== null) out.aliveMeanOverN[row + i] = m;
  }
}
