import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { studentQuantile } from '../../src/math/distributions.ts';
import { is } from '../../src/value/is.ts';
import { slope } from '../../src/value/slope.ts';
import { truncated } from '../../src/value/truncated.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const n = 100;
const clusters = { of: Int32Array.from({ length: n }, (_, i) => i), count: n };
/** Half of the influence values at value ± spread: se = spread/√(n − 1). */
const candidate = (value: number, spread: number) => ({
  value,
  psi: Float64Array.from({ length: n }, (_, i) => value + (i % 2 === 0 ? spread : -spread)),
});
const width = (spread: number, m: number) =>
  (studentQuantile(1 - 0.05 / (2 * m), n - 1) * spread) / Math.sqrt(n - 1);

test('by hand: the farthest candidate that no less biased one contradicts', () => {
  const c = (values: readonly [number, number][]) =>
    slope(
      values.map(([v, s]) => candidate(v, s)),
      clusters,
    );
  expect(c([[0, 10]]).chosen).toBe(0);
  expect(
    c([
      [0, 10],
      [0.1, 5],
      [0.2, 1],
    ]).chosen,
  ).toBe(2);
  const gap = 2 * (width(10, 2) + width(1, 2));
  expect(
    c([
      [0, 10],
      [gap * 0.999, 1],
    ]).chosen,
  ).toBe(1);
  expect(
    c([
      [0, 10],
      [gap * 1.001, 1],
    ]).chosen,
  ).toBe(0);
  // Once contradicted, a later agreement does not count.
  expect(
    c([
      [0, 10],
      [50, 1],
      [0, 0.5],
    ]).chosen,
  ).toBe(0);
  expect(
    c([
      [0, 10],
      [1, 5],
    ]).widths[1],
  ).toBeCloseTo(width(5, 2), 10);
  expect(
    c([
      [0, 1],
      [0, 5],
    ]).widths[1],
  ).toBeCloseTo(width(1, 2), 10); // widths may not rise
  expect(() => slope([], clusters)).toThrow(/a candidate/);
});

test.prop([fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 8 })])(
  'moving all candidates moves nothing else',
  (values) => {
    const at = (by: number) =>
      slope(
        values.map((v, i) => candidate(v + by, 10 / (i + 1))),
        clusters,
      ).chosen;
    expect(at(2)).toBe(at(0));
  },
);

test('on wild weights it takes a cap, on tame ones any is as good', () => {
  const w = episodeWeights(
    logRatiosFromPolicyFile(trajectoriesOf(simulated(200, 3, 5)), policyFile('patient')),
  );
  const caps = [Infinity, 100, 30, 10];
  const candidates = caps.map((cap) => truncated(is, cap).estimate(w, stageSums(w)));
  const { chosen, widths } = slope(candidates, w.clusters);
  expect(chosen).toBeGreaterThan(0);
  expect([...widths]).toEqual([...widths].sort((a, b) => b - a));
});
