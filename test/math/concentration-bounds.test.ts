import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { empiricalBernstein, hoeffding, type Side } from '../../src/math/concentration-bounds.ts';

const unit = { lo: 0, hi: 1 };
const wide = { lo: -1e9, hi: 1e9 };
const halves = (K: number) => Float64Array.from({ length: K }, (_, k) => k % 2);

test('a Hoeffding half-width is R √(ln(2/α)/2n): .1358, .01358, .001358 for n = 10², 10⁴, 10⁶', () => {
  for (const [n, half] of [
    [1e2, 0.135810151574062],
    [1e4, 0.0135810151574062],
    [1e6, 0.00135810151574062],
  ] as const) {
    const { lo, hi } = hoeffding(halves(n), unit, 0.95);
    expect((hi - lo) / 2).toBeCloseTo(half, 12);
  }
});

test('empirical Bernstein by hand: 0, 1 in equal parts, K = 100', () => {
  const V = 100 / 4 / 99; // sample variance
  const log = Math.log(2 / 0.025);
  const half = Math.sqrt((2 * V * log) / 100) + (7 * log) / (3 * 99);
  const { lo, hi } = empiricalBernstein(halves(100), unit, 0.95);
  expect(lo).toBeCloseTo(0.5 - half, 12);
  expect(hi).toBeCloseTo(0.5 + half, 12);
});

test('the variance part shrinks as √K; without variance only 1/K is left', () => {
  const half = (K: number) => empiricalBernstein(halves(K), unit, 0.95);
  const [a, b] = [half(1e4), half(1e6)];
  expect((a.hi - a.lo) / (b.hi - b.lo)).toBeGreaterThan(9.9);
  expect((a.hi - a.lo) / (b.hi - b.lo)).toBeLessThan(11);
  const flat = (K: number) => empiricalBernstein(new Float64Array(K).fill(0.751), unit, 0.95);
  const log = Math.log(80);
  expect((flat(100).hi - flat(100).lo) / 2).toBeCloseTo((7 * log) / (3 * 99), 12);
});

/** C(K, k) p^k (1 − p)^(K − k). */
function binomial(K: number, k: number, p: number): number {
  let out = p ** k * (1 - p) ** (K - k);
  for (let j = 0; j < k; j++) out *= (K - j) / (j + 1);
  return out;
}

test.each([
  ['Hoeffding', hoeffding],
  ['empirical Bernstein', empiricalBernstein],
] as const)('%s holds at its level on each side, by enumeration of coins', (_, bound) => {
  for (const side of ['both', 'lower', 'upper'] as Side[])
    for (const level of [0.5, 0.9, 0.95])
      for (const p of [0.02, 0.3, 0.5, 0.9])
        for (const K of [5, 40]) {
          let covered = 0;
          for (let k = 0; k <= K; k++) {
            const x = Float64Array.from({ length: K }, (_, i) => (i < k ? 1 : 0));
            const { lo, hi } = bound(x, unit, level, undefined, side);
            if (lo <= p && p <= hi) covered += binomial(K, k, p);
          }
          expect(covered).toBeGreaterThanOrEqual(level);
        }
});

test('one-sided limits are nearer than two-sided ones', () => {
  for (const bound of [hoeffding, empiricalBernstein]) {
    const both = bound(halves(200), unit, 0.95);
    const lower = bound(halves(200), unit, 0.95, undefined, 'lower');
    expect(lower.lo).toBeGreaterThan(both.lo);
    expect(lower.hi).toBe(1);
    expect(bound(halves(200), unit, 0.95, undefined, 'upper').hi).toBeLessThan(both.hi);
  }
});

const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 50 });
test.prop([values, fc.double({ min: 0.1, max: 9, noNaN: true })])(
  'scale with the range, nest in the level, ignore the order, and equal shares are the default',
  (xs, c) => {
    for (const bound of [hoeffding, empiricalBernstein]) {
      const one = bound(xs, wide, 0.9);
      const scaled = bound(xs.map((x) => c * x).reverse(), { lo: c * wide.lo, hi: c * wide.hi }, 0.9);
      expect(Math.abs(scaled.hi - scaled.lo - c * (one.hi - one.lo)) / (one.hi - one.lo)).toBeLessThan(
        1e-9 * (1 + c),
      );
      const wider = bound(xs, wide, 0.99);
      expect(wider.lo).toBeLessThanOrEqual(one.lo);
      expect(wider.hi).toBeGreaterThanOrEqual(one.hi);
      const shares = xs.map(() => 1 / xs.length);
      expect(bound(xs, wide, 0.9, shares)).toEqual(one);
    }
  },
);
