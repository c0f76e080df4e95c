import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { tailIndex, tailThreshold } from '../../src/math/pareto.ts';
import known from '../fixtures/ope-known-answers.json' with { type: 'json' };

const pareto = (S: number, k: number) =>
  Float64Array.from({ length: S }, (_, i) => ((1 - (i + 0.5) / S) ** -k - 1) / k);

test.each(known.psis.rows)(
  'k̂ of exact generalised-Pareto weights: S = $S, k = $k',
  ({ S, k, khat_floor, khat_ceil }) => {
    const w = pareto(S, k);
    expect(tailIndex(w, 'floor').k).toBeCloseTo(khat_floor, 5);
    expect(tailIndex(w, 'ceil').k).toBeCloseTo(khat_ceil, 5);
  },
);

test.prop([fc.double({ min: 1e-12, max: 1e12, noNaN: true })])('scale does not matter', (scale) => {
  const w = pareto(400, 0.5);
  expect(tailIndex(w.map((x) => x * scale)).k).toBeCloseTo(tailIndex(w).k!, 8);
});

test('order does not matter', () => {
  const w = pareto(400, 0.5);
  expect(tailIndex(Float64Array.from(w).reverse()).k).toBe(tailIndex(w).k);
});

test('no tail index, with the reason', () => {
  const reason = (w: ArrayLike<number>) => {
    const { k, reason } = tailIndex(w);
    expect(k).toBeNull();
    return reason;
  };
  expect(reason(new Float64Array(100).fill(1))).toMatch(/all weights are equal/);
  expect(reason(pareto(20, 0.5))).toMatch(/fewer than 5/);
  expect(reason([])).toMatch(/fewer than 5/);
  expect(reason(Float64Array.from({ length: 1000 }, (_, i) => (i >= 800 ? 9 : i / 800)))).toMatch(
    /tail are equal/,
  );
  expect(reason(Float64Array.from({ length: 1000 }, (_, i) => (i < 935 ? 1 : 2 + i / 1000)))).toMatch(
    /quarter of the tail/,
  );
  // 13 atoms, spread so that no quarter of the tail sits on the threshold.
  expect(reason(Float64Array.from({ length: 1000 }, (_, i) => (i < 900 ? i / 1e6 : 2 ** (i % 13))))).toMatch(
    /13 distinct/,
  );
  // 30 atoms in a tail of 95: a third of it.
  expect(
    reason(Float64Array.from({ length: 1000 }, (_, i) => (i < 900 ? i / 1e6 : 1 + ((i * 7) % 31)))),
  ).toMatch(/30 distinct/);
  expect(reason([...pareto(100, 0.5), Infinity])).toMatch(/not finite/);
});

test('the threshold grows with the sample, to .7', () => {
  expect(tailThreshold(1000)).toBeCloseTo(2 / 3, 12);
  expect(tailThreshold(4000)).toBe(0.7);
});

test('the same product in another order is the same atom', () => {
  // Products of 40 ratios of three kinds: 40 log-sums round differently, the atoms are few.
  const ratios = [0.3, 1.7, 2.9].map(Math.log);
  const weights = Float64Array.from({ length: 900 }, (_, i) => {
    const counts = [i % 4, (i >> 2) % 4];
    const steps = Array.from({ length: 40 }, (_, k) =>
      k < counts[0]! ? 0 : k < counts[0]! + counts[1]! ? 1 : 2,
    );
    const turned = [...steps.slice(i % 40), ...steps.slice(0, i % 40)];
    return Math.exp(turned.reduce((sum, k) => sum + ratios[k]!, 0 as number));
  });
  expect(new Set(weights).size).toBeGreaterThan(16);
  const { k, reason } = tailIndex(weights);
  expect(k).toBeNull();
  expect(Number(/(\d+) distinct/.exec(reason!)?.[1] ?? 1)).toBeLessThanOrEqual(16);
});

test('ten atoms, each with the last bits of five ways to multiply, are ten', () => {
  const ulp = 2 ** -52;
  const bulk = Array.from({ length: 260 }, (_, i) => 1 + i / 1000);
  const top = Array.from({ length: 55 }, (_, i) => (2 + (i % 10)) * (1 + Math.floor(i / 10) * ulp));
  expect(new Set(top).size).toBeGreaterThan(40);
  expect(tailIndex([...bulk, ...top])).toMatchObject({
    k: null,
    reason: expect.stringMatching(/10 distinct/),
  });
});
