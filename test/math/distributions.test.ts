import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import {
  binomialCdf,
  chiSquareCdf,
  normalCdf,
  normalQuantile,
  studentCdf,
  studentQuantile,
} from '../../src/math/distributions.ts';
import { logGamma } from '../../src/math/special.ts';

const near = (got: number, want: number, relative = 1e-12) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(relative * Math.abs(want));

test('ln Γ: factorials and Γ(½) = √π', () => {
  let factorial = 1;
  for (let n = 1; n <= 20; n++) {
    factorial *= n;
    near(Math.exp(logGamma(n + 1)), factorial, 1e-13);
  }
  near(logGamma(0.5), Math.log(Math.PI) / 2, 1e-14);
  near(logGamma(1e-8), -Math.log(1e-8) - 0.5772156649015329e-8, 1e-14);
});

// Published tables, to the digits they print.
test('normal: known quantiles and tails', () => {
  near(normalQuantile(0.975), 1.959963984540054, 1e-14);
  near(normalQuantile(0.995), 2.5758293035489004, 1e-14);
  near(normalCdf(-6), 9.865876450376946e-10, 1e-12);
  expect(normalCdf(0)).toBe(0.5);
  expect(normalQuantile(0)).toBe(-Infinity);
  expect(normalQuantile(1)).toBe(Infinity);
  expect(normalQuantile(1.5)).toBeNaN();
});

test('Student t: closed forms at 1, 2 and 4 degrees of freedom', () => {
  for (const p of [1e-6, 0.01, 0.2, 0.4, 0.7, 0.975]) {
    near(studentQuantile(p, 1), Math.tan(Math.PI * (p - 0.5)), 1e-9);
    const a = 4 * p * (1 - p);
    near(studentQuantile(p, 2), (2 * p - 1) * Math.sqrt(2 / a), 1e-10);
    const q = Math.cos(Math.acos(Math.sqrt(a)) / 3) / Math.sqrt(a);
    near(studentQuantile(p, 4), Math.sign(p - 0.5) * 2 * Math.sqrt(q - 1), 1e-10);
  }
});

test('Student t: the finite sum at even degrees of freedom, and the normal in the limit', () => {
  // Abramowitz & Stegun 26.7.4, θ = arctan(t/√ν).
  const cdf = (t: number, df: number) => {
    const angle = Math.atan(t / Math.sqrt(df));
    let term = 1;
    let total = 1;
    for (let k = 1; k < df / 2; k++) {
      term *= ((2 * k - 1) / (2 * k)) * Math.cos(angle) ** 2;
      total += term;
    }
    return 0.5 + (Math.sin(angle) * total) / 2;
  };
  for (const df of [6, 10, 30, 200])
    for (const p of [0.9, 0.975, 0.995]) near(cdf(studentQuantile(p, df), df), p);
  near(studentQuantile(0.975, 5), 2.570581835636314, 1e-9);
  expect(studentQuantile(0.975, Infinity)).toBe(normalQuantile(0.975));
  near(studentQuantile(0.975, 1e7), normalQuantile(0.975), 1e-6);
});

test('Student t: a real number of degrees of freedom, by Simpson', () => {
  const df = 2.5;
  const c = Math.exp(logGamma((df + 1) / 2) - logGamma(df / 2)) / Math.sqrt(df * Math.PI);
  const f = (t: number) => c * (1 + (t * t) / df) ** (-(df + 1) / 2);
  const steps = 2000;
  const h = 1.7 / steps;
  let area = f(0) + f(1.7);
  for (let i = 1; i < steps; i++) area += (i % 2 === 1 ? 4 : 2) * f(i * h);
  near(studentCdf(1.7, df), 0.5 + (area * h) / 3, 1e-11);
});

test.prop([
  fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true }),
  fc.double({ min: 0.5, max: 500, noNaN: true }),
])('quantile and distribution function are inverse', (p, df) => {
  near(studentCdf(studentQuantile(p, df), df), p, 1e-9);
  near(normalCdf(normalQuantile(p)), p, 1e-12);
});

test('chi-square: exp(−x/2) at 2 degrees, z² at 1', () => {
  for (const x of [0.1, 1, 5, 30]) near(1 - chiSquareCdf(x, 2), Math.exp(-x / 2), 1e-9);
  near(chiSquareCdf(normalQuantile(0.975) ** 2, 1), 0.95, 1e-13);
});

test('binomial: the sum of its terms', () => {
  for (const [n, p] of [
    [10, 0.3],
    [25, 0.95],
  ] as const) {
    let term = (1 - p) ** n;
    let total = term;
    for (let k = 0; k < n; k++) {
      near(binomialCdf(k, n, p), total, 1e-10);
      term *= ((n - k) / (k + 1)) * (p / (1 - p));
      total += term;
    }
  }
  expect(binomialCdf(-1, 4, 0.5)).toBe(0);
  expect(binomialCdf(4, 4, 0.5)).toBe(1);
});
