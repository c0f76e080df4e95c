import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import { dros } from '../../src/value/dros.ts';
import type { Estimator } from '../../src/value/estimator.ts';
import { is } from '../../src/value/is.ts';
import { pdis } from '../../src/value/pdis.ts';
import { qValues } from '../../src/value/q-values.ts';
import { subGaussian } from '../../src/value/sub-gaussian.ts';
import { switchValue } from '../../src/value/switch.ts';
import { switchDr } from '../../src/value/switch-dr.ts';
import { truncated } from '../../src/value/truncated.ts';
import { wis } from '../../src/value/wis.ts';
import { wpdisCarried } from '../../src/value/wpdis-carried.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import positivity from '../fixtures/positivity-structural.json' with { type: 'json' };
import { ACTIONS, POLICIES, policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';
import { columnsBy, given, type LoggedTurn, targetOf } from '../helpers/q-columns.ts';

const near = (got: number, want: number, by = 1e-12) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );

const bandit = (rows: readonly { r: number; b: number; p: number; q: number; other: number }[]) => {
  const { ratios, columns } = targetOf(
    rows.map(({ r, b, p, q, other }): LoggedTurn[] => [
      { a: 'logged', b, r, pi: { logged: p, other: 1 - p }, q: { logged: q, other } },
    ]),
  );
  const w = episodeWeights(ratios);
  const nuisances = given(ratios, w, columns);
  return { ratios, columns, w, of: (e: Estimator) => e.estimate(w, stageSums(w), nuisances).value };
};
const slate = [
  { r: 4, b: 0.2, p: 0, q: 2, other: 1 },
  { r: 5, b: 0.5, p: 1, q: 4, other: 4 },
  { r: 7, b: 0.4, p: 0, q: 6, other: 5 },
];

test('the slate fixture: SWITCH with the largest threshold is IPS, with none DM; SWITCH-DR is DR, DM', () => {
  const { ratios, columns, w, of } = bandit(slate);
  near(of(switchDr(Infinity)), 4);
  near(of(switchDr(0)), 10 / 3);
  const q = qValues(ratios, columns);
  const A = ratios.table!.classes.length;
  const behaviour = new Float64Array(slate.length * A);
  slate.forEach(({ b }, s) => {
    behaviour[s * A] = b;
    behaviour[s * A + 1] = 1 - b;
  });
  near(switchValue(ratios, w, q, behaviour, Infinity).value, 10 / 3); // IPS
  near(switchValue(ratios, w, q, behaviour, -1).value, 10 / 3); // DM
  const stochastic = slate.map((x, i) => ({ ...x, p: [0.4, 0.3, 0.7][i]! }));
  const soft = bandit(stochastic);
  const softQ = qValues(soft.ratios, soft.columns);
  near(switchValue(soft.ratios, soft.w, softQ, behaviour, Infinity).value, 7.75);
  near(switchValue(soft.ratios, soft.w, softQ, behaviour, -1).value, soft.of(dm));
  // In between, by hand: w = 2 (regression), 0.6 (weight), 1.75 (regression) at τ = 1.
  // Row 1: other has w 0.6/0.8 ≤ 1; row 2: other 0.7/0.5 > 1; row 3: other 0.3/0.6 ≤ 1.
  near(
    switchValue(soft.ratios, soft.w, softQ, behaviour, 1).value,
    (0.4 * 2 + (0.6 * 5 + 0.7 * 4) + 0.7 * 6) / 3,
  );
});

test('DRos and sub-Gaussian weights of one turn, by hand', () => {
  const { of } = bandit(slate.map((x, i) => ({ ...x, p: [0.4, 0.3, 0.7][i]! })));
  const w = [2, 0.6, 1.75];
  const v = [0.4 * 2 + 0.6 * 1, 0.3 * 4 + 0.7 * 4, 0.7 * 6 + 0.3 * 5];
  const residual = [4 - 2, 5 - 4, 7 - 6];
  for (const lambda of [0.5, 3]) {
    const want = w.reduce(
      (sum, x, i) => sum + (v[i]! + ((lambda * x) / (x * x + lambda)) * residual[i]!) / 3,
      0,
    );
    near(of(dros(lambda)), want);
  }
  near(
    of(subGaussian(is, 0.25)),
    w.reduce((sum, x, i) => sum + ((x / (0.75 + 0.25 * x)) * slate[i]!.r) / 3, 0),
  );
  near(
    of(subGaussian(dr, 0.25)),
    w.reduce((sum, x, i) => sum + (v[i]! + (x / (0.75 + 0.25 * x)) * residual[i]!) / 3, 0),
  );
  near(of(truncated(is, 1)), (4 + 0.6 * 5 + 7) / 3);
  near(of(truncated(wis, 1)), (4 + 0.6 * 5 + 7) / 2.6);
});

const seed = fc.integer({ min: 1, max: 1e6 });
test.prop([seed, fc.constantFrom(...POLICIES)], { numRuns: 20 })(
  'over turns the limits are DR, DM and the estimator itself',
  (s, name) => {
    const t = trajectoriesOf(simulated(15, 3, s));
    const ratios = logRatiosFromPolicyFile(t, policyFile(name));
    const w = episodeWeights(ratios);
    const q = given(
      ratios,
      w,
      columnsBy(t, ACTIONS, (turn, x, a) => Math.sin(s + turn + x[0]! + a.length)),
    );
    const of = (e: Estimator) => e.estimate(w, stageSums(w), q).value;
    near(of(switchDr(Infinity)), of(dr), 1e-9);
    near(of(switchDr(0)), of(dm));
    near(of(dros(Infinity)), of(dr), 1e-9);
    near(of(dros(1e30)), of(dr), 1e-9);
    near(of(dros(0)), of(dm));
    for (const e of [is, pdis, dr]) {
      near(of(truncated(e, 1e300)), of(e), 1e-9);
      near(of(subGaussian(e, 0)), of(e), 1e-9);
    }
    if (Number.isFinite(of(wpdisCarried))) near(of(truncated(wpdisCarried, 1e300)), of(wpdisCarried), 1e-9);
  },
);

test('a truncated, switched or shrunken estimate makes no interval, and says why', () => {
  const { ratios, columns, w } = bandit(slate);
  const q = given(ratios, w, columns);
  for (const e of [truncated(is, 2), switchDr(2), dros(2), subGaussian(is, 0.5)])
    expect(e.estimate(w, stageSums(w), q).noInterval, e.name).toMatch(/biases it/);
  expect(() => truncated(is, 0)).toThrow(/positive/);
  expect(() => subGaussian(is, 2)).toThrow(/within 0 and 1/);
});

test('the truncation curve of positivity-structural, x2rule, over the whole law', () => {
  const bern = (p: number, a: number) => (a === 1 ? p : 1 - p);
  const bits = [0, 1];
  const p: number[] = [];
  const episodes: LoggedTurn[][] = [];
  for (const x1 of bits)
    for (const a1 of bits)
      for (const x2 of bits)
        for (const a2 of bits) {
          const b1 = bern((1 + 2 * x1) / 4, a1);
          const b2 = bern(a1 === 1 && x2 === 0 ? 0 : x1 + a1 + x2 === 3 ? 1 / 50 : (1 + 2 * x2 + a1) / 5, a2);
          if (b2 === 0) continue;
          p.push(0.5 * b1 * bern((1 + x1 + a1) / 4, x2) * b2);
          episodes.push([
            { a: `${a1}`, b: b1, r: ((2 * x1 - 1) * a1) / 2, pi: { 0: 1 - x1, 1: x1 }, q: {} },
            { a: `${a2}`, b: b2, r: x1 + a2 * (2 * x2 - 1) + (a1 * a2) / 2, pi: { 0: 1 - x2, 1: x2 }, q: {} },
          ]);
        }
  const w = episodeWeights(targetOf(episodes).ratios);
  for (const { M, E_IS, E_w } of positivity.truncation_curve_x2rule) {
    const { psi } = truncated(is, Number(M)).estimate(w, stageSums(w));
    near(
      p.reduce((total, x, i) => total + x * psi[i]!, 0),
      E_IS.value,
    );
    const ones = { ...w, returns: new Float64Array(w.n).fill(1) };
    const weight = truncated(is, Number(M)).estimate(ones, stageSums(w)).psi;
    near(
      p.reduce((total, x, i) => total + x * weight[i]!, 0),
      E_w.value,
    );
  }
});
