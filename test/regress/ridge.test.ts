import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { normal, random } from '../../src/math/random.ts';
import { type RidgeFit, ridge } from '../../src/regress/ridge.ts';
import { sparse } from '../critic/world.ts';

/** From cases/three-stage-linear: R's lm, and (X'X + 10 diag(0, 1, …, 1))⁻¹X'y; see its `origin`. */
const at = (name: string): string => readFileSync(resolve(import.meta.dirname, '../fixtures', name), 'utf8');
const expected = JSON.parse(at('three-stage-linear.json')) as Record<
  string,
  Record<string, Record<string, number>>
>;
const data = at('three-stage-linear.csv')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(',').map(Number));

type Row = { readonly x: readonly number[]; readonly a: readonly number[]; readonly y: number };
const rows: Row[] = data.map(([, x1, a1, x2, a2, x3, a3, y]) => ({
  x: [x1!, x2!, x3!],
  a: [a1!, a2!, a3!],
  y: y!,
}));

/** Columns of Q_t: X_k, A_k, X_k A_k for k ≤ t. */
function design(t: number, of: (row: Row) => readonly number[]) {
  const names = Array.from({ length: t }, (_, k) => [`X${k + 1}`, `A${k + 1}`, `X${k + 1}:A${k + 1}`]).flat();
  return {
    names,
    x: sparse(
      rows.map((row) => {
        const a = of(row);
        return Array.from({ length: t }, (_, k) => [row.x[k]!, a[k]!, row.x[k]! * a[k]!]).flat();
      }),
      names,
    ),
  };
}

const predict = (fit: RidgeFit, row: Row, t: number, last: number): number => {
  let sum = fit.intercept;
  for (let k = 0; k < t; k++) {
    const a = k === t - 1 ? last : row.a[k]!;
    const [bx, ba, bxa] = fit.coefficients.subarray(3 * k, 3 * k + 3);
    sum += bx! * row.x[k]! + ba! * a + bxa! * row.x[k]! * a;
  }
  return sum;
};

function induction(lambda: number, follow: 'max' | 'logged'): RidgeFit[] {
  let y = Float64Array.from(rows, (row) => row.y);
  const fits: RidgeFit[] = [];
  for (let t = 3; t >= 1; t--) {
    const fit = ridge(design(t, (row) => row.a).x, y, { lambda, scale: 'none' });
    fits[t] = fit;
    y = Float64Array.from(rows, (row) =>
      follow === 'max'
        ? Math.max(predict(fit, row, t, 0), predict(fit, row, t, 1))
        : predict(fit, row, t, row.a[t - 1]!),
    );
  }
  return fits;
}

function check(fit: RidgeFit, t: number, want: Record<string, number>): void {
  expect(Math.abs(fit.intercept - want['(Intercept)']!)).toBeLessThan(1e-8);
  design(t, (row) => row.a).names.forEach((name, j) => {
    expect(Math.abs(fit.coefficients[j]! - want[name]!)).toBeLessThan(1e-8);
  });
}

describe('three-stage-linear', () => {
  for (const [name, lambda, follow] of [
    ['ols_max', 0, 'max'],
    ['ridge10_max', 10, 'max'],
  ] as const)
    for (const t of [3, 2, 1])
      test(`${name}: Q${t}`, () => check(induction(lambda, follow)[t]!, t, expected[name]![`Q${t}`]!));

  test('on_policy: SARSA and the return itself agree for nested designs', () => {
    const sarsa = induction(0, 'logged');
    const y = Float64Array.from(rows, (row) => row.y);
    for (const t of [2, 1]) {
      check(sarsa[t]!, t, expected.on_policy![`sarsa_Q${t}`]!);
      check(
        ridge(design(t, (row) => row.a).x, y, { lambda: 0 }),
        t,
        expected.on_policy![`monte_carlo_Q${t}`]!,
      );
    }
  });
});

describe('laws', () => {
  const problem = (seed: number, n: number, p: number) => {
    const rng = random(seed);
    const X = Array.from({ length: n }, () =>
      Array.from({ length: p }, (_, j) => (j % 2 === 0 ? normal(rng) * (j + 1) : Math.round(normal(rng)))),
    );
    return { X, y: Float64Array.from({ length: n }, () => normal(rng) + 3) };
  };
  const names = (p: number) => Array.from({ length: p }, (_, j) => `x${j}`);

  test.prop([
    fc.integer({ min: 0, max: 1e6 }),
    fc.integer({ min: 1, max: 6 }),
    fc.double({ min: 0.01, max: 50, noNaN: true }),
  ])("(X'X + λP)β = X'y", (seed, p, lambda) => {
    const { X, y } = problem(seed, 25, p);
    const { intercept, coefficients } = ridge(sparse(X, names(p)), y, { lambda, scale: 'none' });
    const residual = X.map((x, i) => y[i]! - intercept - x.reduce((s, v, j) => s + v * coefficients[j]!, 0));
    expect(Math.abs(residual.reduce((a, b) => a + b, 0))).toBeLessThan(1e-9);
    for (let j = 0; j < p; j++)
      expect(
        Math.abs(X.reduce((s, x, i) => s + x[j]! * residual[i]!, 0) - lambda * coefficients[j]!),
      ).toBeLessThan(1e-8);
  });

  test.prop([fc.integer({ min: 0, max: 1e6 })])(
    "scale 'unit-sd' is 'none' on features divided by their standard deviation",
    (seed) => {
      const { X, y } = problem(seed, 30, 3);
      const sd = [0, 1, 2].map((j) => {
        const mean = X.reduce((s, x) => s + x[j]!, 0) / X.length;
        return Math.sqrt(X.reduce((s, x) => s + (x[j]! - mean) ** 2, 0) / X.length);
      });
      const scaled = ridge(sparse(X, names(3)), y, { lambda: 7, scale: 'unit-sd' });
      const divided = ridge(
        sparse(
          X.map((x) => x.map((v, j) => v / sd[j]!)),
          names(3),
        ),
        y,
        {
          lambda: 7,
          scale: 'none',
        },
      );
      expect(scaled.intercept).toBeCloseTo(divided.intercept, 9);
      for (let j = 0; j < 3; j++)
        expect(scaled.coefficients[j]! * sd[j]!).toBeCloseTo(divided.coefficients[j]!, 9);
    },
  );

  test('a column that is there twice at λ = 0: the solution of least norm, and a warning', () => {
    const x = [1, 2, 4, 7];
    const y = Float64Array.of(3, 5, 9, 15); // 1 + 2x
    const fit = ridge(
      sparse(
        x.map((v) => [v, v]),
        ['a', 'b'],
      ),
      y,
      { lambda: 0 },
    );
    expect(fit.coefficients[0]).toBeCloseTo(1, 9);
    expect(fit.coefficients[1]).toBeCloseTo(1, 9);
    expect(fit.intercept).toBeCloseTo(1, 9);
    expect(fit.warnings.map((w) => w.code)).toEqual(['singular']);
  });

  test('a constant column gets the coefficient 0', () => {
    const fit = ridge(
      sparse(
        [
          [5, 1],
          [5, 2],
          [5, 3],
        ],
        ['c', 'x'],
      ),
      Float64Array.of(1, 2, 3),
      { lambda: 0 },
    );
    expect([...fit.coefficients].map((b) => Math.round(b * 1e9) / 1e9)).toEqual([0, 1]);
    expect(fit.warnings).toEqual([]);
  });

  test('a feature that is not finite is named', () => {
    expect(() => ridge(sparse([[1], [Infinity]], ['speed']), Float64Array.of(1, 2), { lambda: 1 })).toThrow(
      'feature "speed": holds a value that is not finite',
    );
  });
});
