/**
 * Standard error of A = Q̂ − V̂ of one turn, from the ridge predictions of its fold's model.
 *
 *   se²(A) = s² (h_Q − h_V) + (σ_V² − σ_Q²)₊ h_V
 *
 *   h_Q, h_V   leverages 1/n + (φ − x̄)ᵀ (Xc′Xc + λI)⁻¹ (φ − x̄) of the turn on state and action and on the
 *              state alone, both with the λ of Q: h_Q ≥ h_V, as the columns are nested
 *   s²         mean squared held-out error of Q̂ on r + V̂(s′); actions are drawn anew in every turn, so
 *              that turns of a task are independent in what the action adds
 *   σ_Q², σ_V² held-out errors of Q̂ and of V̂ (on the return to go), summed by task and squared, over the
 *              turns: what turns of a task share is not averaged away
 *
 * Where Q and V answer to one response (nested least squares), Var(Q̂ − V̂) = s² (h_Q − h_V); the second
 * part is the luck after the next state, which only V̂ is fitted on. With λ > 0 this is the posterior
 * variance under the ridge prior, so that shrinkage is in it on average. Not in it: what the features
 * leave out, and slopes that differ between the stages of a pool. On simulated agents (20 seeds) ± 2 of
 * it held the exact A in 0.85 to 1.00 of the turns with a regression of their own, and in as few as
 * 0.44 of the last pooled ones at 5,000 episodes; among turns beyond 2 the sign of A was right in 0.65
 * at 200 episodes, 0.98 at 1,000 and 0.9997 at 5,000. Errors are taken as equal over a stage or pool.
 * Where V is constant and each turn has its own regression the errors are right (root mean square of z
 * 0.93 at one turn). In a pool of four turns they are 2.5 times too wide (0.40), as σ_V² sums over all
 * turns of a task; sums by task and turn would give 0.7 to 0.9 there, but 0.27 instead of 0.08 of the
 * pooled turns of the simulated agent beyond 2 at 800 episodes: there the width covers a pool's bias.
 */
import { Matrix } from 'ml-matrix';
import type { FoldFit } from '../regress/cross-fit.ts';
import type { Design } from '../regress/design.ts';
import { leverage } from '../regress/leverage.ts';
import type { RidgeSystem } from '../regress/ridge.ts';
import type { CriticRows } from './critic-rows.ts';

/**
 * Fills `se` [S] for the turns of one stage; NaN where a feature of the turn never varied in the training
 * part. Cost: p_V³ per fold and n · nnz².
 * @param state the first columns of the design that `fits` are of
 * @param fits [K] Q of each fold left out
 * @param h [S] h_Q of the turns
 * @param errors [S] held-out errors of Q̂ and of V̂
 */
export function fillTurnErrors(
  state: Design,
  rows: Int32Array,
  r: CriticRows,
  fits: readonly FoldFit[],
  h: Float64Array,
  errors: { readonly q: Float64Array; readonly v: Float64Array },
  se: Float64Array,
): void {
  const plain = rows.reduce((s, row) => s + errors.q[row]! ** 2, 0) / rows.length;
  const luck = Math.max(byTask(errors.v, rows, r) - byTask(errors.q, rows, r), 0);
  const indices = new Int32Array(state.maxEntries);
  const values = new Float64Array(state.maxEntries);
  for (let m = 0; m < r.folds; m++) {
    const held = rows.filter((row) => r.fold[row] === m);
    if (held.length === 0) continue;
    const { system, lambda } = fits[m]!;
    const ofState = leverage(firstColumns(system, state.columns), lambda[0]!);
    for (const row of held) {
      const hV = ofState(indices, values, state.gather(row, indices, values));
      const variance = plain * Math.max(h[row]! - hV, 0) + luck * hV;
      se[row] = Number.isFinite(variance) ? Math.sqrt(variance) : Number.NaN;
    }
  }
}

/** Σ_c (Σ_{i ∈ c} e_i)² / n. */
function byTask(e: Float64Array, rows: Int32Array, r: CriticRows): number {
  const sums = new Float64Array(r.clusters);
  for (const row of rows) {
    const c = r.cluster[r.place[row]!]!;
    sums[c] = sums[c]! + e[row]!;
  }
  return sums.reduce((s, x) => s + x * x, 0) / rows.length;
}

/** The system of the first p columns alone. */
function firstColumns(system: RidgeSystem, p: number): RidgeSystem {
  let q = 0;
  while (q < system.active.length && system.active[q]! < p) q++;
  return {
    gram: { ...system.gram, columns: p },
    active: system.active.subarray(0, q),
    mean: system.mean.subarray(0, p),
    scale: system.scale.subarray(0, q),
    matrix: q === 0 ? Matrix.zeros(0, 0) : system.matrix.subMatrix(0, q - 1, 0, q - 1),
  };
}
