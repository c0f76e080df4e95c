/*
 * The best among the declared actions with propensity ≥ α, by tabular backward induction on declared
 * cells of the history.
 *
 *   Q̂_t(x, a) = mean { r_s + V̂_{t+1}(x_{s+1}) : turn s lies at t in cell x and took a },   V̂ = 0 after the end
 *   V̂_t(x) = max { Q̂_t(x, a) : a logged in x, b(a | x) ≥ α }
 *
 * V̂ is fitted and maximised on the same rows: optimistic in small samples. Exact on a whole law.
 */
import { turnRewards } from '../trajectories/return.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { isRealistic } from './realistic-set.ts';

export interface RealisticOptimum {
  readonly alpha: number;
  /** Mean of V̂ over the first turns. */
  readonly value: number;
  /** [S] class to take at each turn of the view; −1 outside, and where no logged class is realistic. */
  readonly choice: Int32Array;
}

/**
 * @param cells [S] cell of each turn; turns of a cell share their history
 * @param propensity b(a | h_s) of class a at turn s
 * O(turns × classes).
 */
export function realisticOptimum(
  t: Trajectories,
  cells: Int32Array,
  propensity: (s: number, a: number) => number,
  alpha: number,
): RealisticOptimum {
  const { codes, values: classes } = t.turns.actionClass;
  const C = classes.length;
  const rewards = turnRewards(t);
  const stages = t.index.reduce(
    (most, e) => Math.max(most, t.episodeOffsets[e + 1]! - t.episodeOffsets[e]!),
    0,
  );
  const places = cells.reduce((most, x) => Math.max(most, x + 1), 0);
  const choice = new Int32Array(codes.length).fill(-1);
  let after = new Float64Array(places);
  for (let k = stages - 1; k >= 0; k--) {
    const sum = new Float64Array(places * C);
    const count = new Float64Array(places * C);
    const rows: number[] = [];
    for (const e of t.index) {
      const s = t.episodeOffsets[e]! + k;
      const end = t.episodeOffsets[e + 1]!;
      if (s >= end) continue;
      rows.push(s);
      const at = cells[s]! * C + codes[s]!;
      sum[at] = sum[at]! + rewards[s]! + (s + 1 < end ? after[cells[s + 1]!]! : 0);
      count[at] = count[at]! + 1;
    }
    const V = new Float64Array(places).fill(Number.NaN);
    for (const s of rows) {
      const x = cells[s]!;
      let best = -1;
      for (let a = 0; a < C; a++)
        if (
          count[x * C + a]! > 0 &&
          isRealistic(propensity(s, a), alpha) &&
          (best < 0 || sum[x * C + a]! / count[x * C + a]! > sum[x * C + best]! / count[x * C + best]!)
        )
          best = a;
      choice[s] = best;
      V[x] = best < 0 ? Number.NaN : sum[x * C + best]! / count[x * C + best]!;
    }
    after = V;
  }
  let value = 0;
  let n = 0;
  for (const e of t.index) {
    const s = t.episodeOffsets[e]!;
    if (s === t.episodeOffsets[e + 1]!) continue;
    value += after[cells[s]!]!;
    n++;
  }
  return { alpha, value: value / n, choice };
}
