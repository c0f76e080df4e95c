import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { choice, integer, normal, permutation, type Random, random, uniform } from '../../src/math/random.ts';

const seeds = fc.integer({ min: -1e9, max: 1e9 });
const draw = (rng: Random, n: number): number[] => Array.from({ length: n }, () => uniform(rng));

test.prop([seeds, fc.oneof(fc.integer(), fc.string())])(
  'the same (seed, stream) gives the same numbers',
  (seed, stream) => {
    expect(draw(random(seed, stream), 5)).toEqual(draw(random(seed, stream), 5));
  },
);

test.prop([seeds, fc.nat(1e6)])('another seed or stream gives other numbers', (seed, stream) => {
  const a = draw(random(seed, stream), 3);
  expect(draw(random(seed + 1, stream), 3)).not.toEqual(a);
  expect(draw(random(seed, stream + 1), 3)).not.toEqual(a);
  expect(draw(random(seed, String(stream)), 3)).not.toEqual(a);
});

test('the first draws of neighbouring seeds and streams are uniform and uncorrelated', () => {
  const n = 20_000;
  for (const first of [
    (i: number) => random(i),
    (i: number) => random(7, i),
    (i: number) => random(7, `task ${i}`),
  ]) {
    const x = Array.from({ length: n }, (_, i) => uniform(first(i)) - 0.5);
    const mean = x.reduce((s, v) => s + v, 0) / n;
    const variance = x.reduce((s, v) => s + v * v, 0) / n;
    let lag = 0;
    for (let i = 1; i < n; i++) lag += x[i]! * x[i - 1]!;
    expect(Math.abs(mean)).toBeLessThan(5 / Math.sqrt(12 * n));
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(5 / Math.sqrt(180 * n));
    expect(Math.abs((12 * lag) / n)).toBeLessThan(5 / Math.sqrt(n));
  }
});

test.prop([seeds, fc.integer({ min: 1, max: 2 ** 40 })])('integer(n) lies on 0 … n − 1', (seed, n) => {
  const k = integer(random(seed), n);
  expect(Number.isInteger(k) && k >= 0 && k < n).toBe(true);
});

test('normal has the moments of a standard normal', () => {
  const rng = random(3);
  const n = 100_000;
  const m = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const x = normal(rng);
    for (let k = 1; k <= 4; k++) m[k]! += x ** k / n;
  }
  // Standard deviations of the raw moments: 1, √2, √15, √96, each over √n.
  expect(Math.abs(m[1]!)).toBeLessThan(5 / Math.sqrt(n));
  expect(Math.abs(m[2]! - 1)).toBeLessThan(5 * Math.sqrt(2 / n));
  expect(Math.abs(m[3]!)).toBeLessThan(5 * Math.sqrt(15 / n));
  expect(Math.abs(m[4]! - 3)).toBeLessThan(5 * Math.sqrt(96 / n));
});

test('choice draws with the given probabilities, never one of weight 0', () => {
  const rng = random(11);
  const p = [0.2, 0, 0.5, 0.3, 0];
  const counts = [0, 0, 0, 0, 0];
  const n = 100_000;
  for (let i = 0; i < n; i++) counts[choice(rng, p)]!++;
  expect(counts[1]! + counts[4]!).toBe(0);
  let chi2 = 0;
  for (const k of [0, 2, 3]) chi2 += (counts[k]! - n * p[k]!) ** 2 / (n * p[k]!);
  expect(chi2).toBeLessThan(20); // 2 degrees of freedom: beyond 20 once in 22,000 seeds
});

test.each([[[]], [[0, 0]], [[Number.NaN]], [[2, -1]]])('choice refuses %j', (p) => {
  expect(() => {
    const rng = random(1);
    for (let i = 0; i < 50; i++) choice(rng, p);
  }).toThrow(RangeError);
});

test.prop([seeds, fc.nat(200)])('permutation holds each of 0 … n − 1 once', (seed, n) => {
  expect([...permutation(random(seed), n)].sort((a, b) => a - b)).toEqual([...Array(n).keys()]);
});

test('every permutation of three comes up equally often', () => {
  const rng = random(5);
  const counts = new Map<string, number>();
  for (let i = 0; i < 60_000; i++) {
    const key = permutation(rng, 3).join('');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  expect(counts.size).toBe(6);
  let chi2 = 0;
  for (const c of counts.values()) chi2 += (c - 10_000) ** 2 / 10_000;
  expect(chi2).toBeLessThan(30); // 5 degrees of freedom
});

test('jump moves to a stretch that does not overlap', () => {
  const a = random(9);
  const b = a.clone();
  b.jump();
  expect(draw(b, 4)).not.toEqual(draw(a, 4));
});

test('the stream of a seed stays what it was: committed data sets rest on it', () => {
  expect(draw(random(7), 3)).toEqual([0.37217298729792225, 0.15969073896457986, 0.2841951085424337]);
});

test('seeds and streams that are not whole numbers are refused', () => {
  expect(() => random(0.5)).toThrow(RangeError);
  expect(() => random(Number.NaN)).toThrow(RangeError);
  expect(() => random(1, 0.5)).toThrow(RangeError);
});
