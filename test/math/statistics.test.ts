import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import {
  clusterVariance,
  mean,
  quantile,
  skewness,
  standardDeviation,
  variance,
} from '../../src/math/statistics.ts';
import { logSumExp, sum } from '../../src/math/sum.ts';

const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 40 });

test('a sum keeps what a naive one loses', () => {
  expect(sum([1, 1e100, 1, -1e100])).toBe(2);
  expect(sum(new Float64Array(10).fill(0.1))).toBe(1);
  expect(sum([])).toBe(0);
  expect(sum([Infinity, 1])).toBe(Infinity);
  expect(sum([Infinity, -Infinity])).toBeNaN();
});

test('log-sum-exp takes the maximum out first', () => {
  expect(logSumExp([1000, 1000])).toBeCloseTo(1000 + Math.LN2, 12);
  expect(logSumExp([-Infinity, 0])).toBe(0);
  expect(logSumExp([-Infinity])).toBe(-Infinity);
  expect(logSumExp([])).toBe(-Infinity);
});

test('100 copies of 0.751 have variance 0', () => {
  expect(variance(new Float64Array(100).fill(0.751))).toBe(0);
  expect(variance([1, 2, 3, 4])).toBeCloseTo(5 / 3, 15);
  expect(variance([1, 2, 3, 4], 0)).toBe(1.25);
  expect(variance([1])).toBeNaN();
});

test.each([2 ** -600, 2 ** -1000, 2 ** 550, 2 ** 1000])(
  'values × %s: error and spread × the same',
  (scale) => {
    // Their squares do not fit a double; a power of two changes no digit.
    const x = [1, 2, 3, 6];
    const of = [0, 0, 1, 2];
    const scaled = x.map((v) => v * scale);
    expect(clusterVariance(scaled, of, 3).se).toBe(scale * Math.sqrt(27 / 16));
    expect(standardDeviation(scaled, 0)).toBe(scale * Math.sqrt(14 / 4));
    expect(skewness(scaled)).toBe(skewness(x));
  },
);

test('g₁ = m₃/m₂^{3/2} with moments divided by n: of 0, 0, 1 it is 1/√2', () => {
  // m₂ = 2/9, m₃ = 2/27; Fisher's G₁ would be √6 · g₁.
  expect(skewness([0, 0, 1])).toBeCloseTo(Math.SQRT1_2, 14);
});

test('quantiles are of type 7', () => {
  const x = [4, 1, 3, 2];
  expect([0, 0.25, 0.5, 0.75, 1].map((q) => quantile(x, q))).toEqual([1, 1.75, 2.5, 3.25, 4]);
  expect(quantile([7], 0.3)).toBe(7);
  expect(quantile([], 0.5)).toBeNaN();
  expect(quantile([0, Infinity, Infinity], 0.75)).toBe(Infinity);
});

test('CR1 by hand: clusters {1, 2}, {3}, {6}', () => {
  // mean 3; cluster sums −3, 0, 3; 3/2 · 18 / 16
  const { variance: v, clusters } = clusterVariance([1, 2, 3, 6], [0, 0, 1, 2], 3);
  expect(clusters).toBe(3);
  expect(v).toBeCloseTo(27 / 16, 15);
});

test('a cluster without rows does not count, and one cluster gives nothing', () => {
  expect(clusterVariance([1, 2, 3, 6], [0, 0, 4, 2], 9).variance).toBeCloseTo(27 / 16, 15);
  expect(clusterVariance([1, 2], [0, 0], 1).se).toBeNaN();
});

test.prop([numbers])('with every row its own cluster CR1 is the usual variance of a mean', (x) => {
  const { variance: v } = clusterVariance(x, [...x.keys()], x.length);
  const usual = variance(x) / x.length;
  expect(Math.abs(v - usual)).toBeLessThanOrEqual(1e-9 * Math.max(1, usual));
});

test.prop([numbers, fc.double({ min: -100, max: 100, noNaN: true })])(
  'a shift moves the mean and nothing else',
  (x, by) => {
    const of = x.map((_, i) => i % 3);
    const moved = x.map((v) => v + by);
    expect(mean(moved)).toBeCloseTo(mean(x) + by, 6);
    const before = clusterVariance(x, of, 3).se;
    const after = clusterVariance(moved, of, 3).se;
    if (Number.isNaN(before)) expect(after).toBeNaN();
    else expect(Math.abs(after - before)).toBeLessThanOrEqual(1e-8 * Math.max(1, before));
  },
);
