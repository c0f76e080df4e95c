import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { normalCdf, studentCdf } from '../../src/math/distributions.ts';
import { detectableEffect, noncentralTails, tTestPower } from '../../src/math/noncentral-t.ts';
import { betaI, logGamma } from '../../src/math/special.ts';

/** P(T′ ≤ t), t ≥ 0, by the series of incomplete betas (Lenth 1989, algorithm AS 243): another road to the same number. */
function lenth(t: number, df: number, delta: number): number {
  const x = (t * t) / (t * t + df);
  let total = normalCdf(-delta);
  const half = (delta * delta) / 2;
  for (let j = 0; j < 400; j++) {
    const log = -half + j * Math.log(half);
    const p = 0.5 * Math.exp(log - logGamma(j + 1));
    const q = ((Math.sign(delta) * Math.sqrt(half)) / 2) * Math.exp(log - logGamma(j + 1.5));
    total += p * betaI(x, j + 0.5, df / 2) + q * betaI(x, j + 1, df / 2);
  }
  return total;
}
/** P(|T′| > t): T′ ≤ −t is the lower tail of the mirror image. */
const tails = (t: number, df: number, delta: number): number =>
  1 - lenth(t, df, delta) + (1 - lenth(t, df, -delta));

test.prop([
  fc.integer({ min: 1, max: 300 }),
  fc.double({ min: 0.05, max: 8, noNaN: true }),
  fc.double({ min: 0.1, max: 6, noNaN: true }),
])('integral and series of the noncentral t agree', (df, delta, t) => {
  expect(Math.abs(noncentralTails(t, df, delta) - tails(t, df, delta))).toBeLessThan(1e-8);
});

test.prop([fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 8, noNaN: true })])(
  'without an effect it is Student’s t, and the power is the level',
  (df, t) => {
    expect(noncentralTails(t, df, 0)).toBeCloseTo(2 * studentCdf(-t, df), 8);
    expect(tTestPower(0, df, 0.05)).toBeCloseTo(0.05, 8);
  },
);

test('the examples of R’s power.t.test', () => {
  // power.t.test(n = 20, delta = 1): power = 0.8689528, two groups, 38 degrees of freedom.
  expect(tTestPower(Math.sqrt(10), 38, 0.05)).toBeCloseTo(0.8689528, 6);
  // power.t.test(power = .90, delta = 1): n = 22.02110.
  const n = 22.0211;
  expect(tTestPower(Math.sqrt(n / 2), 2 * n - 2, 0.05)).toBeCloseTo(0.9, 5);
});

test('the detectable effect has the power asked for, and tends to z + z', () => {
  for (const df of [1, 4, 49, 1000])
    for (const power of [0.2, 0.8, 0.95])
      expect(tTestPower(detectableEffect(power, df, 0.05), df, 0.05)).toBeCloseTo(power, 9);
  // 1.959963984540054 + 0.8416212335729143
  expect(detectableEffect(0.8, Infinity, 0.05)).toBeCloseTo(2.8015852, 5);
});
