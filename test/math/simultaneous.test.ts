import { expect, test } from 'vitest';
import { normalCdf, normalQuantile, studentQuantile } from '../../src/math/distributions.ts';
import { normal, random } from '../../src/math/random.ts';
import { simultaneous } from '../../src/math/simultaneous.ts';

const options = { level: 0.95, replicates: 20_000, seed: 1 };
const each = (K: number) => Int32Array.from({ length: K }, (_, c) => c);
const noise = (K: number, seed: number) => {
  const rng = random(seed, 'noise');
  return Float64Array.from({ length: K }, () => normal(rng));
};
/** Orthogonal to the ones before and to the constant, so that the sample correlation is exactly 0. */
function orthogonal(K: number, m: number): Float64Array[] {
  const out: Float64Array[] = [new Float64Array(K).fill(1)];
  for (let j = 0; j < m; j++) {
    const x = noise(K, j);
    for (let pass = 0; pass < 2; pass++)
      for (const y of out) {
        const [xy, yy] = [0, 0].map((_, k) => x.reduce((s, xi, i) => s + (k ? y[i]! : xi) * y[i]!, 0)) as [
          number,
          number,
        ];
        for (let i = 0; i < K; i++) x[i] = x[i]! - (xy / yy) * y[i]!;
      }
    out.push(x);
  }
  return out.slice(1);
}
/** P(max of m independent |t| with a common χ² ≤ c), by numerical integration over √(χ²/ν). */
function studentisedMaximum(c: number, m: number, df: number): number {
  const steps = 20_000;
  let [total, mass] = [0, 0];
  for (let k = 1; k < steps; k++) {
    const s = (4 * k) / steps;
    const density = Math.exp((df - 1) * Math.log(s) - (df * (s * s - 1)) / 2);
    total += density * (2 * normalCdf(c * s) - 1) ** m;
    mass += density;
  }
  return total / mass;
}

test('one mean: the t quantile of a single interval', () => {
  for (const K of [5, 20]) {
    const { critical, single, bonferroni } = simultaneous([noise(K, 3)], each(K), K, options)!;
    expect(single).toBeCloseTo(studentQuantile(0.975, K - 1), 12);
    expect(bonferroni).toBeCloseTo(single, 10);
    expect(critical).toBeCloseTo(single, 10); // held between the two
  }
});

test('uncorrelated means: the studentised maximum modulus; equal means: one t', () => {
  for (const [K, m] of [
    [8, 3],
    [30, 5],
  ] as const) {
    const psi = orthogonal(K, m);
    const { critical, bonferroni } = simultaneous(psi, each(K), K, options)!;
    // Three standard errors of the level of a quantile from so many replicates.
    expect(Math.abs(studentisedMaximum(critical, m, K - 1) - 0.95)).toBeLessThan(
      3 * Math.sqrt((0.95 * 0.05) / options.replicates),
    );
    expect(critical).toBeLessThanOrEqual(bonferroni);
    const same = simultaneous([psi[0]!, psi[0]!.map((x) => 5 - 2 * x)], each(K), K, options)!;
    expect(Math.abs(same.critical / same.single - 1)).toBeLessThan(0.03);
  }
  const large = simultaneous(orthogonal(400, 5), each(400), 400, { ...options, replicates: 4000 })!;
  expect(Math.abs(large.critical - normalQuantile((1 + 0.95 ** (1 / 5)) / 2))).toBeLessThan(0.1);
});

test('all hold together at the level; single intervals do not', () => {
  const [sets, K, m] = [300, 12, 4];
  let [together, alone] = [0, 0];
  for (let s = 0; s < sets; s++) {
    const shared = noise(K, 1000 + s);
    const psi = Array.from({ length: m }, (_, j) =>
      noise(K, 10_000 + s * m + j).map((x, c) => x + shared[c]!),
    );
    const { critical, single, se } = simultaneous(psi, each(K), K, { ...options, replicates: 500 })!;
    const worst = Math.max(...psi.map((x, j) => Math.abs(x.reduce((a, b) => a + b, 0) / K) / se[j]!));
    if (worst <= critical) together++;
    if (worst <= single) alone++;
  }
  expect(together / sets).toBeGreaterThan(0.95 - 3 * Math.sqrt((0.95 * 0.05) / sets));
  expect(alone / sets).toBeLessThan(0.93);
});

test('a mean without spread takes no part; a larger level is wider; the seed decides', () => {
  const psi = [noise(40, 1), noise(40, 2), new Float64Array(40).fill(2)];
  const band = (more: Partial<typeof options>) =>
    simultaneous(psi, each(40), 40, { ...options, replicates: 1000, ...more })!;
  expect(band({}).se[2]).toBe(0);
  expect(band({}).critical).toBe(band({}).critical);
  expect(band({ seed: 2 }).critical).not.toBe(band({}).critical);
  expect(band({ level: 0.99 }).critical).toBeGreaterThan(band({}).critical);
  expect(simultaneous(psi, new Int32Array(40), 1, options)).toBeNull();
  expect(simultaneous([], each(40), 40, options)).toBeNull();
  const flat = simultaneous([new Float64Array(9).fill(1)], each(9), 9, options)!;
  expect(flat.critical).toBe(flat.single);
});
