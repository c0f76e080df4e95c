/**
 * Ridge regression with an unpenalised intercept, from sums (Hoerl & Kennard 1970).
 *
 *   β = argmin Σ (y − β₀ − φᵀβ)² + λ Σ_j β_j²        (X′X + λP)β = X′y, P = diag(0, 1, …, 1)
 *
 * Solved centred: β = (Xc′Xc + λI)⁻¹ Xc′yc, β₀ = ȳ − x̄ᵀβ, which is the same system with the intercept
 * eliminated. With scale 'unit-sd' the penalty is on σ_j β_j (features divided by their standard
 * deviation in the training part, denominator n); with 'none' on β_j. glmnet's λ is λ/n and it scales.
 *
 * Columns that are constant in the training part get the coefficient 0. Where the system is singular
 * (λ = 0) the solution of least norm is taken through the eigenvalues and `singular` says so.
 */

import { CholeskyDecomposition, EigenvalueDecomposition, inverse, Matrix } from 'ml-matrix';
import { greatest } from '../math/extremes.ts';
import type { Warning } from '../schema/warning.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import { type Design, sparseDesign } from './design.ts';
import { type Gram, gramsByGroup } from './gram.ts';

/** 'unit-sd': the penalty is on the coefficients of features divided by their standard deviation. */
export type Scale = 'unit-sd' | 'none';

/** A centred and scaled system; one serves every λ and every response. */
export interface RidgeSystem {
  readonly gram: Gram;
  /** Columns that vary in these rows; the others have coefficient 0. */
  readonly active: Int32Array; // [q]
  readonly mean: Float64Array; // [p] x̄
  readonly scale: Float64Array; // [q] what a column is divided by
  readonly matrix: Matrix; // [q, q] of the active columns, centred and scaled
}

export interface LinearFit {
  readonly intercept: Float64Array; // [C]
  readonly coefficients: readonly Float64Array[]; // [C][p], on the features as given
  readonly singular: boolean;
}

export interface RidgeFit {
  readonly intercept: number;
  readonly coefficients: Float64Array; // [p]
  readonly lambda: number;
  readonly scale: Scale;
  readonly warnings: readonly Warning[];
}

/** Ridge of one response on all rows. λ is the λ of the equation above, not λ/n. Cost: n · nnz² + p³. */
export function ridge(
  x: SparseRows,
  y: Float64Array, // [rows]
  config: { readonly lambda: number; readonly scale?: Scale },
): RidgeFit {
  const scale = config.scale ?? 'unit-sd';
  const rows = Int32Array.from({ length: x.rows }, (_, i) => i);
  const [gram] = gramsByGroup(sparseDesign(x), rows, new Int32Array(x.rows), 1, 1, (row, out) => {
    out[0] = y[row]!;
  });
  const fit = solveRidge(ridgeSystem(gram!, scale), config.lambda, [0]);
  const warnings = fit.singular ? [singularWarning(1)] : [];
  return {
    intercept: fit.intercept[0]!,
    coefficients: fit.coefficients[0]!,
    lambda: config.lambda,
    scale,
    warnings,
  };
}

/** β₀ + φᵀβ of every row. */
export function predictRows(
  design: Design,
  intercept: number,
  coefficients: Float64Array,
  rows: number,
): Float64Array {
  const indices = new Int32Array(design.maxEntries);
  const values = new Float64Array(design.maxEntries);
  const out = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = intercept;
    const entries = design.gather(row, indices, values);
    for (let k = 0; k < entries; k++) sum += values[k]! * coefficients[indices[k]!]!;
    out[row] = sum;
  }
  return out;
}

/** A column varies where its variance is more than rounding of its second moment. */
const CONSTANT = 1e-12;
/** A pivot below this share of the largest diagonal is rounding. */
const SINGULAR = 1e-11;

/** Centres and scales the sums of a training part. */
export function ridgeSystem(gram: Gram, scale: Scale): RidgeSystem {
  const { n, columns: p, x, xx } = gram;
  const mean = x.map((s) => s / n);
  const active: number[] = [];
  const scales: number[] = [];
  for (let j = 0; j < p && n > 0; j++) {
    const second = xx[j * p + j]! / n;
    const variance = second - mean[j]! ** 2;
    if (!(variance > CONSTANT * second)) continue;
    active.push(j);
    scales.push(scale === 'unit-sd' ? Math.sqrt(variance) : 1);
  }
  const q = active.length;
  const matrix = Matrix.zeros(q, q);
  for (let a = 0; a < q; a++) {
    const j = active[a]!;
    for (let b = 0; b <= a; b++) {
      const k = active[b]!;
      const value = (xx[j * p + k]! - n * mean[j]! * mean[k]!) / (scales[a]! * scales[b]!);
      matrix.set(a, b, value);
      matrix.set(b, a, value);
    }
  }
  return { gram, active: Int32Array.from(active), mean, scale: Float64Array.from(scales), matrix };
}

/** Solves for some of the responses: `coefficients[i]` belongs to `responses[i]`. */
export function solveRidge(system: RidgeSystem, lambda: number, responses: ArrayLike<number>): LinearFit {
  const { gram, active, mean, scale } = system;
  const { n, columns: p, responses: C, xy, y } = gram;
  const q = active.length;
  const m = responses.length;
  const right = Matrix.zeros(q, m);
  for (let a = 0; a < q; a++)
    for (let i = 0; i < m; i++) {
      const c = responses[i]!;
      const j = active[a]!;
      right.set(a, i, (xy[j * C + c]! - mean[j]! * y[c]!) / scale[a]!);
    }
  const { solution, singular } = solvePositive(penalised(system, lambda), right);
  const intercept = new Float64Array(m);
  const coefficients = Array.from({ length: m }, (_, i) => {
    const beta = new Float64Array(p);
    intercept[i] = y[responses[i]!]! / n;
    for (let a = 0; a < q; a++) {
      const j = active[a]!;
      beta[j] = solution.get(a, i) / scale[a]!;
      intercept[i] = intercept[i]! - beta[j]! * mean[j]!;
    }
    return beta;
  });
  return { intercept, coefficients, singular };
}

/** (Xc′Xc + λI)⁻¹ of the active, scaled columns; the pseudo-inverse where it is singular. */
export function ridgeInverse(system: RidgeSystem, lambda: number): Matrix {
  const A = penalised(system, lambda);
  if (A.rows === 0) return A;
  return positive(A) ? inverse(A) : pseudoInverse(A);
}

export function singularWarning(count: number): Warning {
  return {
    code: 'singular',
    message:
      'features are linearly dependent and λ = 0: the solution of least norm is used; predictions on such rows are not unique',
    count,
  };
}

function penalised(system: RidgeSystem, lambda: number): Matrix {
  const A = system.matrix.clone();
  for (let a = 0; a < A.rows; a++) A.set(a, a, A.get(a, a) + lambda);
  return A;
}

function solvePositive(A: Matrix, right: Matrix): { solution: Matrix; singular: boolean } {
  if (A.rows === 0) return { solution: right, singular: false };
  const factor = positive(A);
  if (factor) return { solution: factor.solve(right), singular: false };
  return { solution: pseudoInverse(A).mmul(right), singular: true };
}

/** The Cholesky factor, or null where a pivot is no more than rounding. */
export function positive(A: Matrix): CholeskyDecomposition | null {
  const factor = new CholeskyDecomposition(A);
  if (!factor.isPositiveDefinite()) return null;
  const L = factor.lowerTriangularMatrix;
  let largest = 0;
  for (let a = 0; a < A.rows; a++) largest = Math.max(largest, A.get(a, a));
  for (let a = 0; a < A.rows; a++) if (!(L.get(a, a) ** 2 > SINGULAR * largest)) return null;
  return factor;
}

/** Through the eigenvalues, those of rounding left out. */
export function pseudoInverse(A: Matrix): Matrix {
  const { realEigenvalues: values, eigenvectorMatrix: E } = new EigenvalueDecomposition(A, {
    assumeSymmetric: true,
  });
  const least = SINGULAR * greatest(values);
  const scaled = E.clone();
  for (let k = 0; k < values.length; k++) scaled.mulColumn(k, values[k]! > least ? 1 / values[k]! : 0);
  return scaled.mmul(E.transpose());
}
