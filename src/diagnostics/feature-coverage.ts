/*
 * Coverage of the features that a linear critic rests on, at the turns the target would visit.
 *
 *   Λ = Σ φφᵀ + λI over the logged turns
 *   coverage(φ) = φᵀ Λ⁻¹ φ                                    (the bonus of Jin, Yang & Wang 2021, squared)
 *   amplification = largest eigenvalue of (Λ/N)^−½ Σ_π (Λ/N)^−½,   Σ_π = Σ w φφᵀ / Σ w
 *
 * The second is the restricted χ² of Duan, Jia & Wang (2020): by how much a squared error that is
 * small on average over the logs can be large on average under the target, for some linear function.
 * Second moments are uncentred; a column of ones, if wanted, is a feature like any other.
 * w_t is the cumulative weight at the turn: of the pair (h_t, a_t) under the target.
 */

import { CholeskyDecomposition, EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { greatest } from '../math/extremes.ts';
import type { FeatureCoverage } from '../schema/diagnostics.ts';
import { failure } from '../schema/error.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';

const LIMIT = 1024;

/**
 * @param x [S rows] φ of the logged turns
 * @param lambda of the equation above; 1 as in the paper
 * O(turns · nnz² + p³); p at most 1,024.
 */
export function featureCoverage(x: SparseRows, w: EpisodeWeights, lambda = 1): FeatureCoverage {
  const p = x.columns;
  if (p > LIMIT)
    throw failure({
      subject: 'features',
      wrong: 'are too many for a dense system',
      got: p,
      expected: `at most ${LIMIT}`,
    });
  const logged = Matrix.zeros(p, p);
  const wanted = Matrix.zeros(p, p);
  const { rows, weight } = weightedRows(w);
  let total = 0;
  rows.forEach((s, i) => {
    total += weight[i]!;
    for (let a = x.offsets[s]!; a < x.offsets[s + 1]!; a++)
      for (let b = x.offsets[s]!; b <= a; b++) {
        const [j, k] = [x.indices[a]!, x.indices[b]!];
        const product = x.values[a]! * x.values[b]!;
        logged.set(j, k, logged.get(j, k) + product);
        wanted.set(j, k, wanted.get(j, k) + weight[i]! * product);
      }
  });
  for (let j = 0; j < p; j++)
    for (let k = 0; k < j; k++) {
      logged.set(k, j, logged.get(j, k));
      wanted.set(k, j, wanted.get(j, k));
    }
  for (let j = 0; j < p; j++) logged.set(j, j, logged.get(j, j) + lambda);
  const N = rows.length;
  const factor = new CholeskyDecomposition(logged);
  const empty = {
    columns: p,
    lambda,
    underTarget: null,
    underBehaviour: null,
    largest: null,
    amplification: null,
  };
  if (p === 0 || !(total > 0) || !factor.isPositiveDefinite()) return empty;
  const inverse = factor.solve(Matrix.eye(p));
  const bonus = new Float64Array(N);
  let mean = 0;
  let target = 0;
  let largest = 0;
  for (let i = 0; i < N; i++) {
    const s = rows[i]!;
    for (let a = x.offsets[s]!; a < x.offsets[s + 1]!; a++)
      for (let b = x.offsets[s]!; b < x.offsets[s + 1]!; b++)
        bonus[i] = bonus[i]! + x.values[a]! * x.values[b]! * inverse.get(x.indices[a]!, x.indices[b]!);
    mean += bonus[i]! / N;
    target += (weight[i]! * bonus[i]!) / total;
    if (weight[i]! > 0 && bonus[i]! > largest) largest = bonus[i]!;
  }
  return {
    ...empty,
    underTarget: target,
    underBehaviour: mean,
    largest,
    amplification: amplification(factor.lowerTriangularMatrix, wanted.mul(N / total)),
  };
}

/** Largest λ of B v = λ L Lᵀ v: that of L⁻¹ B L⁻ᵀ. */
function amplification(L: Matrix, B: Matrix): number {
  const half = forward(L, B);
  const symmetric = forward(L, half.transpose());
  const even = withoutDust(symmetric.add(symmetric.transpose()).mul(0.5));
  const { realEigenvalues } = new EigenvalueDecomposition(even, { assumeSymmetric: true });
  return greatest(realEigenvalues);
}

/** Entries next to nothing beside the largest are 0: on numbers near the smallest double the solver fails. */
function withoutDust(m: Matrix): Matrix {
  const least = 1e-100 * greatest(m.to1DArray().map(Math.abs));
  for (let j = 0; j < m.rows; j++)
    for (let k = 0; k < m.columns; k++) if (Math.abs(m.get(j, k)) < least) m.set(j, k, 0);
  return m;
}

/** L⁻¹ M. */
function forward(L: Matrix, M: Matrix): Matrix {
  const X = M.clone();
  for (let c = 0; c < X.columns; c++)
    for (let i = 0; i < X.rows; i++) {
      let sum = X.get(i, c);
      for (let k = 0; k < i; k++) sum -= L.get(i, k) * X.get(k, c);
      X.set(i, c, sum / L.get(i, i));
    }
  return X;
}

/** Turn rows of the weighted episodes, with w_t. */
function weightedRows(w: EpisodeWeights): { rows: Int32Array; weight: Float64Array } {
  const rows = new Int32Array(w.offsets[w.n]!);
  const weight = new Float64Array(rows.length);
  const { index, episodeOffsets } = w.trajectories;
  for (let i = 0; i < w.n; i++)
    for (let k = w.offsets[i]!, t = 0; k < w.offsets[i + 1]!; k++, t++) {
      rows[k] = episodeOffsets[index[i]!]! + t;
      weight[k] = w.weights[k]! * Math.exp(w.shift[t]!);
    }
  return { rows, weight };
}
