import { type CrossFitConfig, crossFit } from '../regress/cross-fit.ts';
import type { Design } from '../regress/design.ts';
import { gramsByGroup } from '../regress/gram.ts';
import type { CriticRows } from './critic-rows.ts';
import type { PlaceboErrors } from './held-out.ts';

export interface StageFit {
  /** λ / n of each fold's fit. */
  readonly lambda: readonly number[]; // [K]
  readonly singular: number;
}

/**
 * V of one stage: the return still to come regressed on the state, one fit for each fold left out.
 * The placebo runs share its sums and factors as further responses.
 * @param values [S, K] receives V̂^(−m) of every turn of the stage, for every m
 * @param placebo [N, B] shuffled returns by episode; their held-out errors are added to `errors`
 */
export function fitValues(
  design: Design,
  rows: Int32Array,
  r: CriticRows,
  config: CrossFitConfig,
  values: Float64Array,
  placebo: Float64Array,
  errors: PlaceboErrors,
): StageFit {
  const K = r.folds;
  const B = errors.runs;
  // An offset changes no coefficient; taken out, it costs no digits either.
  const centre = meanOf(r.toGo, rows);
  const grams = gramsByGroup(design, rows, r.fold, K, 1 + B, (row, out) => {
    out[0] = r.toGo[row]! - centre;
    const at = r.place[row]! * B;
    for (let b = 0; b < B; b++) out[1 + b] = placebo[at + b]! - centre;
  });
  const every = Int32Array.from({ length: 1 + B }, (_, c) => c);
  const fit = crossFit(grams, config, () => every);

  // Coefficients side by side, so that one pass over a row's entries serves all models.
  const p = design.columns;
  const beta = new Float64Array((p + 1) * K); // [p + 1, K], the intercept last
  const shuffled = fit.folds.map(() => new Float64Array((p + 1) * B));
  fit.folds.forEach((f, m) => {
    for (let j = 0; j <= p; j++) {
      beta[j * K + m] = j < p ? f.coefficients[0]![j]! : f.intercept[0]!;
      for (let b = 0; b < B; b++)
        shuffled[m]![j * B + b] = j < p ? f.coefficients[1 + b]![j]! : f.intercept[1 + b]!;
    }
  });
  const indices = new Int32Array(design.maxEntries + 1);
  const entries = new Float64Array(design.maxEntries + 1);
  const guess = new Float64Array(B);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const n = design.gather(row, indices, entries);
    indices[n] = p;
    entries[n] = 1;
    const at = row * K;
    for (let m = 0; m < K; m++) values[at + m] = centre;
    guess.fill(centre);
    const of = shuffled[r.fold[row]!]!;
    for (let k = 0; k <= n; k++) {
      const x = entries[k]!;
      const j = indices[k]!;
      for (let m = 0; m < K; m++) values[at + m] = values[at + m]! + x * beta[j * K + m]!;
      for (let b = 0; b < B; b++) guess[b] = guess[b]! + x * of[j * B + b]!;
    }
    const outcome = r.place[row]! * B;
    for (let b = 0; b < B; b++) {
      const e = (placebo[outcome + b]! - guess[b]!) ** 2;
      errors.all[b] = errors.all[b]! + e;
      if (r.stage[row] === 0) errors.first[b] = errors.first[b]! + e;
    }
  }
  return {
    lambda: fit.folds.map((f) => f.lambda[0]! / Math.max(f.system.gram.n, 1)),
    singular: fit.singular,
  };
}

/** The mean of some entries, from the first one. */
export function meanOf(x: Float64Array, rows: Int32Array): number {
  const first = x[rows[0]!]!;
  let sum = 0;
  for (let i = 0; i < rows.length; i++) sum += x[rows[i]!]! - first;
  return first + sum / rows.length;
}
