/*
 * min xᵀAx over the simplex {x ≥ 0, Σx = 1}, A positive definite, by an active-set method in the manner
 * of Wolfe (1976) and Lawson & Hanson (1974):
 *
 *   on a support S the minimiser is A_SS⁻¹1 / (1ᵀA_SS⁻¹1)
 *   optimal where it is positive on S and (Ax)_j ≥ xᵀAx for every j outside S
 *
 * xᵀAx falls with every support, so none comes twice and the method ends. O(m³) a step.
 */
import { CholeskyDecomposition, Matrix } from 'ml-matrix';

/** By how much (Ax)_j may fall short of xᵀAx, relative to it. */
const SLACK = 1e-12;

/** The minimiser, [m]. @param A [m × m] symmetric, positive definite @throws RangeError where it is not */
export function simplexQp(A: Float64Array, m: number): Float64Array {
  requirePositiveDefinite(A, m);
  let first = 0;
  for (let j = 1; j < m; j++) if (A[j * m + j]! < A[first * m + first]!) first = j;
  const x = new Float64Array(m);
  x[first] = 1;
  let support = [first];
  for (let step = 0; step < 50 * m; step++) {
    const entering = mostViolated(A, m, x, support);
    if (entering < 0) return x;
    support = [...support, entering];
    for (;;) {
      const y = onSupport(A, m, support);
      // As far towards y as x stays in the simplex; what reaches 0 leaves.
      let reach = 1;
      support.forEach((j, k) => {
        if (y[k]! <= 0) reach = Math.min(reach, x[j]! / (x[j]! - y[k]!));
      });
      support.forEach((j, k) => {
        x[j] = x[j]! + reach * (y[k]! - x[j]!);
      });
      if (reach === 1) break;
      const kept = support.filter((j, k) => y[k]! > 0 || x[j]! > 1e-15);
      for (const j of support) if (!kept.includes(j)) x[j] = 0;
      if (kept.length === support.length) break; // nothing left to take out
      support = kept;
    }
    const total = x.reduce((a, b) => a + b, 0);
    for (let j = 0; j < m; j++) x[j] = x[j]! / total;
  }
  return x;
}

/** The j outside the support with the smallest (Ax)_j, where that is below xᵀAx; else −1. */
function mostViolated(A: Float64Array, m: number, x: Float64Array, support: readonly number[]): number {
  const gradient = new Float64Array(m);
  for (const k of support) for (let j = 0; j < m; j++) gradient[j] = gradient[j]! + A[j * m + k]! * x[k]!;
  let value = 0;
  for (const k of support) value += x[k]! * gradient[k]!;
  let found = -1;
  let least = value - SLACK * Math.abs(value);
  for (let j = 0; j < m; j++)
    if (gradient[j]! < least && !support.includes(j)) {
      least = gradient[j]!;
      found = j;
    }
  return found;
}

/** A_SS⁻¹1 / (1ᵀA_SS⁻¹1), in the order of S. */
function onSupport(A: Float64Array, m: number, support: readonly number[]): number[] {
  const scale = support.reduce((a, j) => Math.max(a, A[j * m + j]!), 0);
  const part = new Matrix(support.map((j) => support.map((k) => A[j * m + k]! / scale)));
  const y = new CholeskyDecomposition(part).solve(Matrix.ones(support.length, 1)).to1DArray();
  const total = y.reduce((a, b) => a + b, 0);
  return y.map((v) => v / total);
}

function requirePositiveDefinite(A: Float64Array, m: number): void {
  const scale = A.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const rows = Array.from({ length: m }, (_, j) =>
    Array.from(A.subarray(j * m, (j + 1) * m), (v) => v / scale),
  );
  if (!(scale > 0 && scale < Infinity) || !new CholeskyDecomposition(new Matrix(rows)).isPositiveDefinite())
    throw new RangeError('the matrix of a simplex problem must be positive definite');
}
