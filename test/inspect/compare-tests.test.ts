import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { signedRanks, signFlip, signTest, taskTests } from '../../src/inspect/compare-tests.ts';

const wholes = fc.array(
  fc.integer({ min: -4, max: 4 }).filter((x) => x !== 0),
  { minLength: 1, maxLength: 10 },
);

/** Share of the 2^K sign patterns of |d| whose statistic is at least as far from its centre as the observed one. */
function enumerated(d: readonly number[], statistic: (signed: readonly number[]) => number): number {
  const sizes = d.map(Math.abs);
  const observed = Math.abs(statistic(d));
  let extreme = 0;
  for (let bits = 0; bits < 2 ** d.length; bits++)
    if (Math.abs(statistic(sizes.map((x, i) => ((bits >> i) & 1 ? x : -x)))) >= observed - 1e-9) extreme++;
  return extreme / 2 ** d.length;
}

test.prop([wholes])('sign test: the enumeration of all sign patterns', (d) => {
  const wins = d.filter((x) => x > 0).length;
  expect(signTest(wins, d.length - wins)).toBeCloseTo(
    enumerated(d, (s) => s.reduce((n, x) => n + Math.sign(x), 0)),
    12,
  );
});

test.prop([wholes])('Wilcoxon: the enumeration, with equal sizes at their mean rank', (d) => {
  const rank = (x: number): number => {
    const below = d.filter((y) => Math.abs(y) < Math.abs(x)).length;
    const equal = d.filter((y) => Math.abs(y) === Math.abs(x)).length;
    return below + (equal + 1) / 2;
  };
  // W⁺ − W⁻ is centred at 0.
  const signed = (s: readonly number[]): number => s.reduce((n, x) => n + Math.sign(x) * rank(x), 0);
  expect(signedRanks(Float64Array.from(d)).p).toBeCloseTo(enumerated(d, signed), 12);
});

test.prop([wholes])('sign-flip: the enumeration of the sums', (d) => {
  expect(signFlip(Float64Array.from(d), 0).p).toBeCloseTo(
    enumerated(d, (s) => s.reduce((n, x) => n + x, 0)),
    12,
  );
});

test('tables: 9 of 10 wins; ranks 1 … 10 with W⁻ = 8', () => {
  // 2 (1 + 10) / 1024
  expect(signTest(9, 1)).toBeCloseTo(22 / 1024, 14);
  expect(signTest(0, 0)).toBeNull();
  expect(signTest(5, 5)).toBe(1);
  // The table of Wilcoxon: n = 10, W = 8 is the largest with p ≤ .05 two-sided; P(W ≤ 8) = 25/1024.
  const d = [1, 2, 3, 4, 5, 6, 7, -8, 9, 10];
  expect(signedRanks(Float64Array.from(d)).p).toBeCloseTo(50 / 1024, 14);
});

test('beyond exact counting the methods change by name and the p hardly', () => {
  const d = Float64Array.from({ length: 200 }, (_, i) => (i % 9 < 5 ? 1 : -1) * (1 + (i % 17)));
  const exact = signedRanks(d);
  const longer = signedRanks(Float64Array.from([...d, 1e-9])); // one more, of the smallest rank
  expect(exact.method).toContain('exact');
  expect(longer.method).toContain('normal');
  expect(Math.abs(exact.p! - longer.p!)).toBeLessThan(0.01);
  const flips = signFlip(d, 7);
  expect(flips).toEqual(signFlip(d, 7));
  expect(flips.method).toContain('seed 7');
  // Beyond 10,000 the sum is normal; 9,800 differences too small to matter do not change it.
  const many = signFlip(
    Float64Array.from({ length: 10_001 }, (_, i) => d[i] ?? 1e-9),
    7,
  );
  expect(many.method).toBe('normal');
  expect(Math.abs(flips.p! - many.p!)).toBeLessThan(0.02);
});

test('ties count on neither side, and the direction only names the winner', () => {
  const d = Float64Array.from([0, 2, 2, -1]);
  expect(taskTests(d, 1, 0)).toMatchObject({ wins: 2, ties: 1, losses: 1 });
  expect(taskTests(d, -1, 0)).toMatchObject({ wins: 1, ties: 1, losses: 2 });
  expect(taskTests(d, -1, 0).wilcoxon).toEqual(taskTests(d, 1, 0).wilcoxon);
  expect(taskTests(new Float64Array(3), 1, 0)).toMatchObject({
    sign: null,
    wilcoxon: { p: null },
    signFlip: { p: null },
  });
});
