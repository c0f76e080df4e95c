import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { normal, random } from '../../src/math/random.ts';
import { crossFit } from '../../src/regress/cross-fit.ts';
import { sparseDesign } from '../../src/regress/design.ts';
import { gramsByGroup, squaredError, subtractGrams } from '../../src/regress/gram.ts';
import { asMember, leverage } from '../../src/regress/leverage.ts';
import { ridge, ridgeSystem } from '../../src/regress/ridge.ts';
import { sparse } from '../critic/world.ts';

const GRID = [1e-3, 1e-2, 0.1, 1, 10];
const NAMES = ['a', 'b', 'c'];

function data(seed: number, n = 60, folds = 4) {
  const rng = random(seed);
  const X = Array.from({ length: n }, () => [normal(rng), normal(rng) > 0 ? 1 : 0, 10 + normal(rng)]);
  const y = Float64Array.from(X, (x) => x[0]! + normal(rng));
  const fold = Int32Array.from(X, (_, i) => i % folds);
  return { X, y, fold, folds };
}

function grams(d: ReturnType<typeof data>) {
  const rows = Int32Array.from(d.X.keys());
  return gramsByGroup(sparseDesign(sparse(d.X, NAMES)), rows, d.fold, d.folds, 1, (row, out) => {
    out[0] = d.y[row]!;
  });
}

const only = (d: ReturnType<typeof data>, keep: (i: number) => boolean) => {
  const at = [...d.X.keys()].filter(keep);
  return { X: at.map((i) => d.X[i]!), y: Float64Array.from(at, (i) => d.y[i]!) };
};

test.prop([fc.integer({ min: 0, max: 1e6 })])('fold m is predicted by the fit on the other folds', (seed) => {
  const d = data(seed);
  const fit = crossFit(grams(d), { lambda: 3, grid: GRID, scale: 'unit-sd' }, () => Int32Array.of(0));
  for (let m = 0; m < d.folds; m++) {
    const { X, y } = only(d, (i) => d.fold[i] !== m);
    const direct = ridge(sparse(X, NAMES), y, { lambda: 3 });
    expect(fit.folds[m]!.intercept[0]).toBeCloseTo(direct.intercept, 8);
    direct.coefficients.forEach((b, j) => {
      expect(fit.folds[m]!.coefficients[0]![j]).toBeCloseTo(b, 8);
    });
  }
});

test.prop([fc.integer({ min: 0, max: 1e6 })])(
  'λ of fold m has the least leave-fold-out error of the others',
  (seed) => {
    const d = data(seed);
    const config = { lambda: 'auto', grid: GRID, scale: 'unit-sd' } as const;
    const fit = crossFit(grams(d), config, () => Int32Array.of(0));
    for (let m = 0; m < d.folds; m++) {
      const errors = GRID.map((g) => {
        let error = 0;
        for (let j = 0; j < d.folds; j++) {
          if (j === m) continue;
          const { X, y } = only(d, (i) => d.fold[i] !== m && d.fold[i] !== j);
          const { intercept, coefficients } = ridge(sparse(X, NAMES), y, { lambda: g * y.length });
          const test = only(d, (i) => d.fold[i] === j);
          test.X.forEach((x, i) => {
            const guess = intercept + x.reduce((s, v, k) => s + v * coefficients[k]!, 0);
            error += (test.y[i]! - guess) ** 2;
          });
        }
        return error;
      });
      const best = GRID[errors.indexOf(Math.min(...errors))]!;
      expect(fit.folds[m]!.lambda[0]).toBeCloseTo(best * fit.folds[m]!.system.gram.n, 9);
    }
  },
);

test.prop([fc.integer({ min: 0, max: 1e6 })])('nothing in a held-out fold moves its own fit', (seed) => {
  const d = data(seed);
  const config = { lambda: 'auto', grid: GRID, scale: 'unit-sd' } as const;
  const before = crossFit(grams(d), config, () => Int32Array.of(0)).folds[1]!;
  const y = d.y.map((v, i) => (d.fold[i] === 1 ? 50 - 3 * v : v));
  const after = crossFit(grams({ ...d, y }), config, () => Int32Array.of(0)).folds[1]!;
  expect(after.lambda).toEqual(before.lambda);
  before.coefficients[0]!.forEach((b, j) => {
    expect(after.coefficients[0]![j]).toBeCloseTo(b, 8);
  });
});

test('squaredError from sums is the sum of squared errors', () => {
  const d = data(5);
  const [gram] = grams(d);
  const beta = Float64Array.of(0.5, -1, 0.2);
  let direct = 0;
  d.X.forEach((x, i) => {
    if (d.fold[i] === 0) direct += (d.y[i]! - 2 - x.reduce((s, v, j) => s + v * beta[j]!, 0)) ** 2;
  });
  expect(squaredError(gram!, 0, 2, beta)).toBeCloseTo(direct, 8);
});

test('leverages of the training rows at λ = 0 sum to the number of coefficients', () => {
  const d = data(7, 40, 1);
  const [gram] = grams(d);
  const h = leverage(ridgeSystem(gram!, 'unit-sd'), 0);
  const design = sparseDesign(sparse(d.X, NAMES));
  const indices = new Int32Array(3);
  const values = new Float64Array(3);
  let sum = 0;
  for (let i = 0; i < 40; i++) sum += h(indices, values, design.gather(i, indices, values));
  expect(sum).toBeCloseTo(4, 9);
});

test('h/(1 + h) of a row outside is its leverage once it is inside', () => {
  const d = data(9, 40, 2);
  d.fold.fill(0);
  d.fold[39] = 1;
  const [inside, outside] = grams(d);
  const whole = ridgeSystem(grams({ ...d, fold: new Int32Array(40), folds: 1 })[0]!, 'none');
  const design = sparseDesign(sparse(d.X, NAMES));
  const indices = new Int32Array(3);
  const values = new Float64Array(3);
  const n = design.gather(39, indices, values);
  const before = leverage(ridgeSystem(inside!, 'none'), 0)(indices, values, n);
  const after = leverage(whole, 0)(indices, values, n);
  expect(asMember(before)).toBeCloseTo(after, 9);
  expect(outside!.n).toBe(1);
});

test('a row that moves a constant column has leverage ∞', () => {
  const X = [
    [1, 0, 5],
    [2, 0, 5],
    [3, 0, 5],
  ];
  const d = { X, y: Float64Array.of(1, 2, 3), fold: new Int32Array(3), folds: 1 };
  const h = leverage(ridgeSystem(grams(d)[0]!, 'unit-sd'), 1);
  const at = (x: number[]): number => {
    const design = sparseDesign(sparse([x], NAMES));
    const indices = new Int32Array(3);
    const values = new Float64Array(3);
    return h(indices, values, design.gather(0, indices, values));
  };
  expect(at([2, 0, 5])).toBeLessThan(1);
  expect(at([2, 1, 5])).toBe(Infinity);
  expect(at([2, 0, 6])).toBe(Infinity);
  expect(at([2, 0, 0])).toBe(Infinity);
});

test('a column only a held-out fold holds leaves nothing behind', () => {
  const rng = random(11);
  const X = Array.from({ length: 20 }, (_, i) => [normal(rng), i < 5 ? 0.1 * normal(rng) : 0, 1]);
  const d = {
    X,
    y: Float64Array.from(X, (x) => x[0]!),
    fold: Int32Array.from(X, (_, i) => (i < 5 ? 0 : 1)),
    folds: 2,
  };
  const [a, b] = grams(d);
  const total = grams({ ...d, fold: new Int32Array(20), folds: 1 })[0]!;
  expect([...ridgeSystem(subtractGrams(total, a!), 'unit-sd').active]).toEqual([0]);
  expect(b!.n).toBe(15);
});
