import { type CrossFitConfig, crossFit } from '../regress/cross-fit.ts';
import type { Design } from '../regress/design.ts';
import { gramsByGroup } from '../regress/gram.ts';
import type { CriticRows } from './critic-rows.ts';
import { flagSupported, type SupportRule } from './support.ts';
import { fillTurnErrors } from './turn-error.ts';
import { meanOf, type StageFit } from './values.ts';

/**
 * Q of one stage: y = r + V̂^(−m)(s′) regressed on state and action, one fit for each fold m left out,
 * its responses from that fold's own V̂.
 * @param values [S, K] V̂^(−m) of the turns
 * @param state the first columns of the design
 * @param out [S] each: the held-out prediction, whether the turn is supported, the standard error of A
 */
export function fitActions(
  design: Design,
  state: Design,
  rows: Int32Array,
  r: CriticRows,
  config: CrossFitConfig,
  values: Float64Array,
  out: {
    readonly q: Float64Array;
    readonly supported: Uint8Array;
    readonly advantageSe: Float64Array;
  },
  rule: SupportRule,
): StageFit {
  const K = r.folds;
  const centre = meanOf(r.toGo, rows);
  const grams = gramsByGroup(design, rows, r.fold, K, K, (row, into) => {
    const next = r.last[row] ? -1 : (row + 1) * K;
    for (let m = 0; m < K; m++) into[m] = r.reward[row]! + (next < 0 ? 0 : values[next + m]!) - centre;
  });
  const fit = crossFit(grams, config, (m) => Int32Array.of(m));
  const indices = new Int32Array(design.maxEntries);
  const entries = new Float64Array(design.maxEntries);
  const errors = { q: new Float64Array(r.place.length), v: new Float64Array(r.place.length) };
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const { intercept, coefficients } = fit.folds[r.fold[row]!]!;
    const beta = coefficients[0]!;
    let sum = centre + intercept[0]!;
    const n = design.gather(row, indices, entries);
    for (let k = 0; k < n; k++) sum += entries[k]! * beta[indices[k]!]!;
    out.q[row] = sum;
    const m = r.fold[row]!;
    errors.q[row] = r.reward[row]! + (r.last[row] ? 0 : values[(row + 1) * K + m]!) - sum;
    errors.v[row] = r.toGo[row]! - values[row * K + m]!;
  }
  const leverages = new Float64Array(r.place.length);
  flagSupported(design, rows, r, fit.folds, rule, out.supported, leverages);
  fillTurnErrors(state, rows, r, fit.folds, leverages, errors, out.advantageSe);
  return {
    lambda: fit.folds.map((f) => f.lambda[0]! / Math.max(f.system.gram.n, 1)),
    singular: fit.singular,
  };
}
