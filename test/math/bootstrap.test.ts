import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { type BucketSums, bootstrap, leaveOneOut, resampleCounts } from '../../src/math/bootstrap.ts';
import { bcaLimits, percentileLimits, studentisedLimits } from '../../src/math/bootstrap-interval.ts';
import { normalCdf, normalQuantile } from '../../src/math/distributions.ts';
import { clusterVariance } from '../../src/math/statistics.ts';
import { sumOfRatios } from '../../src/value/intervals/sum-of-ratios.ts';

/** Numerators and denominators of a few tasks, skewed as importance weights are. */
const A = [0.3, 0.1, 4.2, 0.9, 0.2];
const B = [0.5, 1.1, 3.9, 0.7, 0.4];
const table = (a: readonly number[], b: readonly number[]): BucketSums => ({
  buckets: a.length,
  columns: 2,
  sums: Float64Array.from(a.flatMap((x, i) => [x, b[i]!])),
  f: sumOfRatios(Float64Array.of(0), 'undefined'),
});

/** Every one of the K^K resamples of K tasks: θ*, t* as written on paper. */
function enumerate(a: readonly number[], b: readonly number[]): { theta: number; t: number }[] {
  const K = a.length;
  const ratio = (of: readonly number[]) => {
    const [x, y] = [a, b].map((v) => of.reduce((sum, k) => sum + v[k]!, 0)) as [number, number];
    const theta = x / y;
    const se = Math.sqrt((K / (K - 1)) * of.reduce((sum, k) => sum + ((a[k]! - theta * b[k]!) / y) ** 2, 0));
    return { theta, se };
  };
  const { theta } = ratio(a.map((_, k) => k));
  return Array.from({ length: K ** K }, (_, code) => {
    const of = Array.from({ length: K }, (_, j) => Math.floor(code / K ** j) % K);
    const r = ratio(of);
    // One task over and over has no spread.
    const se = new Set(of).size === 1 ? 0 : r.se;
    return { theta: r.theta, t: Math.abs(r.theta - theta) < 1e-12 ? 0 : (r.theta - theta) / se };
  });
}

/** P(X ≤ x) over equally likely values, up to rounding of x. */
const cdf = (values: readonly number[], x: number) =>
  values.filter((v) => v <= x + 1e-9).length / values.length;
const below = (values: readonly number[], x: number) =>
  values.filter((v) => v < x - 1e-9).length / values.length;

const REPLICATES = 40_000;

test.each([4, 5])('the resamples of %i tasks have the exact distribution of all K^K', (K) => {
  const [a, b] = [A.slice(0, K), B.slice(0, K)];
  const all = enumerate(a, b);
  const [drawn] = bootstrap([table(a, b)], REPLICATES, 3, 'studentised');
  for (const [values, exact] of [
    [drawn!.values, all.map((x) => x.theta)],
    [drawn!.t, all.map((x) => x.t).filter(Number.isFinite)],
  ] as const) {
    const sorted = Float64Array.from(exact).sort();
    const finite = values.filter(Number.isFinite);
    for (const q of [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98]) {
      const x = sorted[Math.floor(q * sorted.length)]!;
      const p = cdf(exact, x);
      const share = finite.filter((v) => v <= x + 1e-9).length / finite.length;
      // Four standard errors of a share of so many replicates.
      expect(Math.abs(share - p), `${q}`).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / REPLICATES) + 1e-12);
    }
  }
});

test('percentile, BCa and studentised limits are quantiles of the enumeration', () => {
  const t = table(A, B);
  const all = enumerate(A, B);
  const theta = all.map((x) => x.theta);
  const [drawn] = bootstrap([t], REPLICATES, 5, 'studentised');
  const slack = 4 * Math.sqrt(0.1 / REPLICATES);
  // A limit at p lies on the atom where the exact distribution passes p.
  const at = (values: readonly number[], x: number, p: number) => {
    expect(cdf(values, x)).toBeGreaterThanOrEqual(p - slack);
    expect(below(values, x)).toBeLessThanOrEqual(p + slack);
  };
  const level = 0.8;
  const percentile = percentileLimits(drawn!.values, level);
  at(theta, percentile.lo, 0.1);
  at(theta, percentile.hi, 0.9);

  const sum = (v: readonly number[]) => v.reduce((x, y) => x + y, 0);
  const value = sum(A) / sum(B);
  const out = A.map((x, k) => (sum(A) - x) / (sum(B) - B[k]!));
  leaveOneOut(t).forEach((x, k) => {
    expect(x).toBeCloseTo(out[k]!, 12);
  });
  const d = out.map((x) => sum(out) / out.length - x);
  const a = sum(d.map((x) => x ** 3)) / (6 * sum(d.map((x) => x ** 2)) ** 1.5);
  const ties = theta.filter((x) => Math.abs(x - value) < 1e-12).length / theta.length;
  const z0 = normalQuantile(below(theta, value) + ties / 2);
  expect(Math.abs(a)).toBeGreaterThan(0.05); // skewed enough to matter
  const bca = bcaLimits(drawn!.values, drawn!.value, leaveOneOut(t), level)!;
  const corrected = (p: number) => {
    const z = z0 + normalQuantile(p);
    return normalCdf(z0 + z / (1 - a * z));
  };
  at(theta, bca.lo, corrected(0.1));
  at(theta, bca.hi, corrected(0.9));
  expect(Math.abs(corrected(0.1) - 0.1)).toBeGreaterThan(0.01);

  const ts = all.map((x) => x.t);
  const finite = ts.map((x) => (Number.isFinite(x) ? x : Math.sign(x) * 1e300));
  const studentised = studentisedLimits(drawn!.t, drawn!.value, drawn!.se, level)!;
  at(finite, (value - studentised.hi) / drawn!.se, 0.1);
  at(finite, (value - studentised.lo) / drawn!.se, 0.9);
});

test('the standard error is CR1 of the linearised ratio', () => {
  const [drawn] = bootstrap([table(A, B)], 1, 0);
  const sum = (v: readonly number[]) => v.reduce((x, y) => x + y, 0);
  const theta = sum(A) / sum(B);
  const psi = A.map((x, k) => ((x - theta * B[k]!) * A.length) / sum(B));
  expect(drawn!.value).toBeCloseTo(theta, 14);
  expect(drawn!.se).toBeCloseTo(clusterVariance(psi, [...A.keys()], A.length).se, 14);
});

test('the same seed gives the same bytes, more replicates keep the first, another seed does not', () => {
  const of = (replicates: number, seed: number) =>
    bootstrap([table(A, B)], replicates, seed, 'studentised')[0]!;
  expect(of(500, 7)).toEqual(of(500, 7));
  expect(of(900, 7).values.subarray(0, 500)).toEqual(of(500, 7).values);
  expect(of(500, 8).values).not.toEqual(of(500, 7).values);
});

test.prop([fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 1000 })])(
  'a resample of k holds k',
  (k, seed) => {
    const counts = new Int32Array(k);
    resampleCounts(seed, 0, counts);
    expect(counts.reduce((a, b) => a + b, 0)).toBe(k);
  },
);

test('equal values give no spread and no width, whatever the interval', () => {
  const same = table(new Array(100).fill(0.751), new Array(100).fill(1));
  const [drawn] = bootstrap([same], 400, 1, 'studentised');
  const about = bootstrap(
    [
      {
        ...same,
        sums: new Float64Array(200).map((_, i) => i % 2),
        f: sumOfRatios(Float64Array.of(0.751), 'undefined'),
      },
    ],
    400,
    1,
    'studentised',
  )[0]!;
  for (const { values, value, t, se } of [about]) {
    expect(se).toBe(0);
    expect(value).toBe(0.751);
    const limits = [
      percentileLimits(values, 0.95),
      bcaLimits(values, value, new Float64Array(100).fill(0.751), 0.95)!,
      studentisedLimits(t, value, se, 0.95)!,
    ];
    for (const { lo, hi } of limits) expect([lo, hi]).toEqual([0.751, 0.751]);
  }
  expect(drawn!.se).toBeGreaterThanOrEqual(0);
  expect(drawn!.se).toBeLessThan(1e-15);
});

test('BCa is refused where every replicate lies on one side', () => {
  expect(bcaLimits(Float64Array.of(2, 3, 4), 1, Float64Array.of(1, 2, 3), 0.9)).toBeNull();
});
