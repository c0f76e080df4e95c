import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { lowerMeanLimit } from '../../src/math/betting.ts';
import { random, uniform } from '../../src/math/random.ts';

/** Every outcome of K draws from a few atoms, with its probability. */
function* outcomes(atoms: readonly (readonly [number, number])[], K: number): Generator<[number[], number]> {
  if (K === 0) yield [[], 1];
  else
    for (const [rest, p] of outcomes(atoms, K - 1)) for (const [x, q] of atoms) yield [[...rest, x], p * q];
}

test.each([
  [
    'coins',
    [
      [0, 0.5],
      [1, 0.5],
    ],
  ],
  [
    'a rare large value',
    [
      [0, 0.98],
      [50, 0.02],
    ],
  ],
  [
    'three atoms',
    [
      [0, 0.3],
      [1, 0.6],
      [20, 0.1],
    ],
  ],
] as const)('P(limit ≤ mean) ≥ 1 − α by enumeration: %s', (_, atoms) => {
  const mean = atoms.reduce((sum, [x, p]) => sum + x * p, 0);
  for (const alpha of [0.5, 0.1, 0.025]) {
    let above = 0;
    for (const [values, p] of outcomes(atoms, 7)) if (lowerMeanLimit(values, alpha) > mean) above += p;
    expect(above).toBeLessThanOrEqual(alpha);
  }
});

test('the limit closes in on the mean at the rate of the square root', () => {
  const rng = random(7);
  const gap = (K: number) =>
    0.5 -
    lowerMeanLimit(
      Array.from({ length: K }, () => uniform(rng)),
      0.025,
    );
  const [small, large] = [gap(400), gap(40_000)];
  // Uniform on [0, 1]: σ = .289; with a mixture over 25 bets ln(25/.025) = 6.9, √(2·6.9) = 3.7 standard errors.
  expect(large).toBeLessThan((4.5 * 0.289) / Math.sqrt(40_000));
  expect(small / large).toBeGreaterThan(5);
});

const values = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 40 });

test.prop([values, fc.double({ min: 0.001, max: 0.5, noNaN: true })])(
  'never above the sample mean, never below 0',
  (xs, alpha) => {
    const limit = lowerMeanLimit(xs, alpha);
    expect(limit).toBeGreaterThanOrEqual(0);
    expect(limit).toBeLessThanOrEqual((xs.reduce((a, b) => a + b, 0) / xs.length) * (1 + 1e-12));
  },
);

test.prop([values, fc.double({ min: 0.1, max: 10, noNaN: true })])(
  'scales with the values and does not depend on their order',
  (xs, c) => {
    const limit = lowerMeanLimit(xs, 0.05);
    expect(lowerMeanLimit(xs.map((x) => c * x).reverse(), 0.05)).toBeCloseTo(c * limit, 8);
  },
);

test('shares of 1 are the default, and a smaller share counts less', () => {
  const xs = [1, 0, 3, 1, 2, 0.5, 1, 1, 0, 2];
  expect(
    lowerMeanLimit(
      xs,
      0.1,
      xs.map(() => 1),
    ),
  ).toBe(lowerMeanLimit(xs, 0.1));
  expect(
    lowerMeanLimit(
      xs,
      0.1,
      xs.map(() => 0.1),
    ),
  ).toBeLessThan(lowerMeanLimit(xs, 0.1));
});
