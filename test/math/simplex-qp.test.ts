import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { simplexQp } from '../../src/math/simplex-qp.ts';

const quadratic = (A: Float64Array, x: ArrayLike<number>): number => {
  const m = x.length;
  let total = 0;
  for (let j = 0; j < m; j++) for (let k = 0; k < m; k++) total += x[j]! * A[j * m + k]! * x[k]!;
  return total;
};

/** Gauss-Jordan, for the check alone. */
function solveOnes(A: number[][]): number[] {
  const n = A.length;
  const M = A.map((row) => [...row, 1]);
  for (let c = 0; c < n; c++) {
    let pivot = c;
    for (let r = c + 1; r < n; r++) if (Math.abs(M[r]![c]!) > Math.abs(M[pivot]![c]!)) pivot = r;
    [M[c], M[pivot]] = [M[pivot]!, M[c]!];
    for (let r = 0; r < n; r++) {
      if (r === c) continue;
      const f = M[r]![c]! / M[c]![c]!;
      for (let k = c; k <= n; k++) M[r]![k] = M[r]![k]! - f * M[c]![k]!;
    }
  }
  return M.map((row, i) => row[n]! / row[i]!);
}

/** The best of all supports whose own minimiser lies within the simplex. */
function bruteForce(A: Float64Array, m: number): number {
  let best = Infinity;
  for (let mask = 1; mask < 1 << m; mask++) {
    const S = Array.from({ length: m }, (_, j) => j).filter((j) => mask & (1 << j));
    const y = solveOnes(S.map((j) => S.map((k) => A[j * m + k]!)));
    const total = y.reduce((a, b) => a + b, 0);
    const x = new Float64Array(m);
    S.forEach((j, k) => {
      x[j] = y[k]! / total;
    });
    if (x.every((v) => v >= -1e-12)) best = Math.min(best, quadratic(A, x));
  }
  return best;
}

/** GGᵀ + εI of a random m × r matrix. */
function random(m: number, r: number, ridge: number, entries: readonly number[]): Float64Array {
  const A = new Float64Array(m * m);
  for (let j = 0; j < m; j++)
    for (let k = 0; k < m; k++) {
      for (let c = 0; c < r; c++) A[j * m + k] = A[j * m + k]! + entries[j * r + c]! * entries[k * r + c]!;
      if (j === k) A[j * m + k] = A[j * m + k]! + ridge;
    }
  return A;
}

test.prop(
  [
    fc.integer({ min: 1, max: 7 }),
    fc.integer({ min: 1, max: 7 }),
    fc.constantFrom(1, 1e-2, 1e-5),
    fc.array(fc.double({ min: -2, max: 3, noNaN: true }), { minLength: 49, maxLength: 49 }),
  ],
  { numRuns: 300 },
)('the minimum over all supports, within 1e-10', (m, r, ridge, entries) => {
  const A = random(m, r, ridge, entries);
  const x = simplexQp(A, m);
  expect(Math.abs(x.reduce((a, b) => a + b, 0) - 1)).toBeLessThanOrEqual(1e-12);
  expect(Math.min(...x)).toBeGreaterThanOrEqual(0);
  const best = bruteForce(A, m);
  expect(quadratic(A, x) - best).toBeLessThanOrEqual(1e-10 * Math.max(1, best));
});

test('independent errors are mixed by inverse variance, a worse copy gets nothing', () => {
  expect([...simplexQp(Float64Array.of(1, 0, 0, 4), 2)].map((v) => v.toFixed(12))).toEqual([
    '0.800000000000',
    '0.200000000000',
  ]);
  // The second is the first plus noise: (1, 1; 1, 2).
  expect([...simplexQp(Float64Array.of(1, 1, 1, 2), 2)]).toEqual([1, 0]);
  expect([...simplexQp(Float64Array.of(3), 1)]).toEqual([1]);
});

test('a matrix that is not positive definite is refused', () => {
  expect(() => simplexQp(Float64Array.of(1, 2, 2, 1), 2)).toThrow(/positive definite/);
});
