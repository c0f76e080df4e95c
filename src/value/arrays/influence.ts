/*
 * The second of two passes: influence values of the estimators that divide by a sum over episodes. Formulas as in
 * stream/second-pass.ts, which also makes the terms; here for rewards and residuals in turn, from kept weights.
 * O(turns) time.
 */
import type { RatioTerms } from '../stream/second-pass.ts';
import { TERMS } from '../stream/second-pass.ts';
import type { Columns, Rows } from './columns.ts';
import type { Totals } from './weigh.ts';

/** What the first pass found, by reward column: rewards, then residuals where there is a model. */
export interface Found {
  readonly terms: readonly RatioTerms[];
  readonly totals: Totals;
}

/** Writes the rows of episodes `from` to `to`. */
export function influence(columns: Columns, rows: Rows, found: Found, from: number, to: number): void {
  const n = columns.offsets.length - 1;
  const { weight, product } = found.totals;
  const value = product / weight;
  for (let i = from; i < to; i++) rows.wis[i] = ((n * rows.weight[i]!) / weight) * (rows.returns[i]! - value);
  ofRewards(columns, rows, found.terms[0]!, from, to);
  if (columns.q !== null) ofResiduals(columns, rows, found.terms[1]!, from, to);
}

function ofRewards(
  { offsets, rewards }: Columns,
  { kept, weight, carried, alive, aliveMeanOverN }: Rows,
  { packed, earlier, later }: RatioTerms,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const end = offsets[i + 1]!;
    let [a, c, m, p] = [0, 0, 0, 0];
    const start = offsets[i]!;
    for (let k = start; k < end; k++, p += TERMS) {
      const w = kept[k]!;
      const r = rewards[k]!;
      const d = w * (r - packed[p]!);
      a += d * packed[p + 1]!;
      c += w * (r - packed[p + 2]!) * packed[p + 3]!;
      m += d * packed[p + 4]!;
    }
    const length = end - start;
    alive[i] = a;
    carried[i] = c - weight[i]! * later[length]!;
    aliveMeanOverN[i] = m + earlier[length]!;
  }
}

function ofResiduals(
  { offsets, rewards, q }: Columns,
  { kept, weight, model }: Rows,
  { packed, later }: RatioTerms,
  from: number,
  to: number,
): void {
  const { logged, v } = q!;
  const { wdrCarried, wdrAlive } = model!;
  for (let i = from; i < to; i++) {
    const start = offsets[i]!;
    const last = offsets[i + 1]! - 1;
    let [a, c, p] = [0, 0, 0];
    for (let k = start; k <= last; k++, p += TERMS) {
      const w = kept[k]!;
      const d = rewards[k]! + (k === last ? 0 : v[k + 1]!) - logged[k]!;
      a += w * (d - packed[p]!) * packed[p + 1]!;
      c += w * (d - packed[p + 2]!) * packed[p + 3]!;
    }
    wdrAlive[i] = v[start]! + a;
    wdrCarried[i] = v[start]! + c - weight[i]! * later[last + 1 - start]!;
  }
}
