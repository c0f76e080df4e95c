/*
 * The first of two passes over episodes in memory: weights, and sums over episodes by stage.
 *
 *   log w_t = Σ_{k ≤ t} (log π_k − log b_k)
 *   by stage t:    Σ w_t, Σ w_t², Σ w_t r_t, Σ w_t δ_t      δ_t = r_t + V̂_{t+1} − Q̂_t
 *   by length L:   number, Σ w_T, Σ w_T², Σ w_T G
 *   by episode:    w_T, G, w_T G, Σ_t w_t r_t, V̂_0 + Σ_t w_t δ_t
 *
 * The same sums as stream/first-pass.ts without its scale by stage: a program whose weights do not fit a double
 * as they are takes that one (`fits`). Sums of one stage lie side by side. O(turns) time.
 */
import { type StageState, stageState } from '../stream/stage-state.ts';
import type { Columns, Rows } from './columns.ts';

/** Numbers by stage; from the fifth on by length. */
export const STRIDE = 8;
const [SUM, SQUARES, REWARDS, RESIDUALS, ENDED, ENDED_SUM, ENDED_SQUARES, ENDED_RETURNS] = [
  0, 1, 2, 3, 4, 5, 6, 7,
] as const;

/** How far above 0 a log-probability may be rounded. */
export const ROUNDING = 1e-9;

/** Adds episodes `from` to `to` to `sums` ([(stages + 1) × STRIDE]) and writes their rows. */
export function weigh(columns: Columns, rows: Rows, sums: Float64Array, from: number, to: number): void {
  const { offsets, behaviour, target, rewards, q } = columns;
  const { kept, weight, returns, is, pdis, model } = rows;
  for (let i = from; i < to; i++) {
    const end = offsets[i + 1]!;
    let log = 0;
    let w = 1;
    let G = 0;
    let total = 0;
    let p = 0;
    for (let k = offsets[i]!; k < end; k++, p += STRIDE) {
      const b = behaviour[k]!;
      const a = target[k]!;
      log += a - b;
      // No log-probability: it spoils the sums, so that it is looked for.
      w = b > ROUNDING || a > ROUNDING ? Number.NaN : Math.exp(log);
      const r = rewards[k]!;
      const x = w * r;
      kept[k] = w;
      G += r;
      total += x;
      sums[p] = sums[p]! + w;
      sums[p + SQUARES] = sums[p + SQUARES]! + w * w;
      sums[p + REWARDS] = sums[p + REWARDS]! + x;
    }
    sums[p + ENDED] = sums[p + ENDED]! + 1;
    sums[p + ENDED_SUM] = sums[p + ENDED_SUM]! + w;
    sums[p + ENDED_SQUARES] = sums[p + ENDED_SQUARES]! + w * w;
    sums[p + ENDED_RETURNS] = sums[p + ENDED_RETURNS]! + w * G;
    weight[i] = w;
    returns[i] = G;
    is[i] = w * G;
    pdis[i] = total;
    if (model !== null) model.dr[i] = weighResiduals(rewards, q!, kept, sums, offsets[i]!, end);
  }
}

/** V̂_0 + Σ_t w_t δ_t of one episode. */
function weighResiduals(
  rewards: Float64Array,
  { logged, v }: NonNullable<Columns['q']>,
  kept: Float64Array,
  sums: Float64Array,
  from: number,
  end: number,
): number {
  let total = v[from]!;
  let p = RESIDUALS;
  const last = end - 1;
  for (let k = from; k < end; k++, p += STRIDE) {
    const x = kept[k]! * (rewards[k]! + (k === last ? 0 : v[k + 1]!) - logged[k]!);
    total += x;
    sums[p] = sums[p]! + x;
  }
  return total;
}

/** Whether no weight has left the range of a double: else the sums are of no use. */
export function fits(sums: Float64Array): boolean {
  for (let p = 0; p < sums.length; p += STRIDE) {
    const [sum, squares] = [sums[p]!, sums[p + SQUARES]!];
    const [ended, endedSum] = [sums[p + ENDED]!, sums[p + ENDED_SUM]!];
    // The row after the last turn of the longest has no turn; a stage of 0 has lost its scale.
    if (p + STRIDE < sums.length && !(sum > LEAST)) return false;
    if (!(squares < MOST && sums[p + ENDED_SQUARES]! < MOST)) return false;
    if (ended > 0 && !(endedSum > LEAST)) return false;
    if (!Number.isFinite(sums[p + REWARDS]! + sums[p + RESIDUALS]!)) return false;
  }
  return true;
}
const [LEAST, MOST] = [1e-100, 1e300];

/** The sums as the scan of a store has them. */
export function toState(sums: Float64Array, episodes: number): StageState {
  const length = sums.length / STRIDE;
  const at = (field: number) => Float64Array.from({ length }, (_, t) => sums[t * STRIDE + field]!);
  const none = () => new Float64Array(length);
  return {
    ...stageState(0),
    stages: length - 1,
    episodes,
    alive: { top: none(), shift: none(), sum: at(SUM), squares: at(SQUARES), cubes: none() },
    ended: { top: none(), shift: none(), sum: at(ENDED_SUM), squares: at(ENDED_SQUARES), cubes: none() },
    endedCount: at(ENDED),
    zeros: none(),
    rewardSums: [at(REWARDS), at(RESIDUALS)],
  };
}

/** Σ w_T, Σ w_T² and Σ w_T G over all episodes. */
export function totals(sums: Float64Array): { weight: number; squares: number; product: number } {
  const out = { weight: 0, squares: 0, product: 0 };
  for (let p = 0; p < sums.length; p += STRIDE) {
    out.weight += sums[p + ENDED_SUM]!;
    out.squares += sums[p + ENDED_SQUARES]!;
    out.product += sums[p + ENDED_RETURNS]!;
  }
  return out;
}

export type Totals = ReturnType<typeof totals>;
