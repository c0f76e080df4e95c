/*
 * What the R package polle says of three data sets, from the data on: the coefficients of both nuisances, then
 * dr, ipw and or with their standard errors.
 */
import { expect, test } from 'vitest';
import { isRealistic } from '../../src/diagnostics/realistic-set.ts';
import { difference } from '../../src/value/difference.ts';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import type { Influence } from '../../src/value/estimator.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { is } from '../../src/value/is.ts';
import { effectiveSampleSize } from '../../src/weights/effective-sample-size.ts';
import small from '../fixtures/exact-two-stage-polle.json' with { type: 'json' };
import polle from '../fixtures/polle-two-stage.json' with { type: 'json' };
import vignette from '../fixtures/polle-vignette.json' with { type: 'json' };
import { fixture } from '../helpers/agent-turns.ts';
import { type Coefficients, type Columns, type Data, type Policy, run } from '../helpers/polle.ts';
import { sample400 } from '../helpers/two-stage.ts';

const near = (got: number, want: number, by = 1e-6) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );
const se = ({ psi, value }: Influence) =>
  Math.sqrt(psi.reduce((sum, x) => sum + (x - value) ** 2, 0)) / psi.length;
const expit = (x: number) => 1 / (1 + Math.exp(-x));

const same = (got: Coefficients | undefined, want: object, by?: number) => {
  expect(Object.keys(got!).sort()).toEqual(Object.keys(want).sort());
  for (const [name, x] of Object.entries(want)) near(got![name]!, x, by);
};

const table = fixture('polle-two-stage.csv').map((line) => line.map(Number));
const at = (k: number) => table.map((r) => r[k]!);
const [L1, C1, A1, C2, A2, U1, U2, U3] = [3, 4, 5, 7, 8, 10, 11, 12].map(at) as number[][];
const full = {
  before: U1!,
  stages: [
    { a: A1!, g: { C_1: C1! }, q: { L_1: L1!, C_1: C1! }, paid: U2! },
    { a: A2!, g: { C_2: C2! }, q: { C_2: C2! }, paid: U3! },
  ],
} satisfies Data;
const [s1, s2] = full.stages;
const models: Record<'correct' | 'g_wrong' | 'q_wrong' | 'g_known', Data> = {
  correct: full,
  g_wrong: {
    ...full,
    stages: [
      { ...s1, g: {} },
      { ...s2, g: {} },
    ],
  },
  q_wrong: {
    ...full,
    stages: [
      { ...s1, q: {} },
      { ...s2, q: {} },
    ],
  },
  g_known: {
    ...full,
    stages: [
      { ...s1, g: (i: number) => expit(C1![i]!) },
      { ...s2, g: (i: number) => expit(C2![i]!) },
    ],
  },
};
const policies = {
  always_1: [() => 1, () => 1],
  always_0: [() => 0, () => 0],
  C_positive: [(i) => Number(C1![i]! > 0), (i) => Number(C2![i]! > 0)],
} satisfies Record<string, Policy>;
const NAMES = Object.keys(policies) as (keyof typeof policies)[];
const MODELS = Object.keys(models) as (keyof typeof models)[];

test.each(NAMES.flatMap((name) => MODELS.map((m) => [name, m] as const)))(
  'polle’s two stages from the data on: %s, %s',
  (name, m) => {
    const want = polle[name][m];
    const { of, g, q } = run(models[m], policies[name]);
    const by = m === 'g_known' ? 1e-8 : 1e-6; // its propensities end an iteration
    if (m !== 'g_known') {
      same(g[0], want.g_coef.stage_1);
      same(g[1], want.g_coef.stage_2);
    }
    same(q[0], want.q_coef.stage_1, 1e-8);
    same(q[1], want.q_coef.stage_2, 1e-8);
    near(of(dr).value, want.dr, by);
    near(se(of(dr)), want.dr_se, by);
    near(of(is).value, want.ipw, by);
    near(se(of(is)), want.ipw_se, by);
    near(of(dm).value, want.or, 1e-8);
  },
);

test('the paired difference of two policies, from the data on', () => {
  const [a, b] = (['always_1', 'C_positive'] as const).map((name) => run(full, policies[name]).of(dr));
  const d = difference(b!, a!);
  near(d.value, polle.diff_Cpos_minus_always1.est);
  near(se(d), polle.diff_Cpos_minus_always1.se);
});

test('Q-learning, its policy within realistic actions, and the value of that policy', () => {
  const want = polle.qlearning;
  const { q, d, of, chance } = run(full, 'greedy');
  same(q[0], want.q_coef.stage_1);
  same(q[1], want.q_coef.stage_2);
  const taken = d.map((x) => x.reduce((sum, a) => sum + a, 0));
  expect(taken).toEqual(want.n_treat);
  for (const alpha of ['0.05', '0.1', '0.2'] as const) {
    const one = want[`alpha_${alpha}`];
    const realistic = (k: number, i: number, a: number) =>
      isRealistic(a === 1 ? chance[k]!(i) : 1 - chance[k]!(i), Number(alpha));
    const forced = d.map((x, k) => x.filter((_, i) => !realistic(k, i, 0) || !realistic(k, i, 1)).length);
    expect(forced).toEqual(one.n_forced);
    // Nothing that Q would have is unrealistic, so that the restriction changes no decision.
    expect(d.every((x, k) => x.every((a, i) => realistic(k, i, a)))).toBe(true);
    expect(taken).toEqual(one.n_treat);
    same(q[0], one.q1);
    near(of(dr).value, one.dr);
    near(se(of(dr)), one.dr_se);
  }
});

test('the closed forms lie within three standard errors of DR; those of weights alone flatter', () => {
  const { truth } = polle;
  for (const name of NAMES) {
    const x = run(models.g_known, policies[name]).of(dr);
    expect(Math.abs(x.value - truth[`V_${name}`]), name).toBeLessThan(3 * se(x));
  }
  const { ratios, w, of } = run(models.g_known, policies.always_1);
  const { behaviour } = evaluate(ratios);
  expect(Math.abs(behaviour.value! - truth.V_behaviour)).toBeLessThan(3 * behaviour.se!);
  const best = run(full, 'greedy').of(dr);
  expect(Math.abs(best.value - truth.V_optimal_full_history)).toBeLessThan(3 * se(best));
  // n·Var by the bound is 22.2, and a sample says nearly so; of IPW it is 164.3, and this one says 45.
  expect(se(of(dr)) ** 2 * w.n).toBeCloseTo(truth.eff_bound_always_1, -1);
  expect(se(of(is)) ** 2 * w.n).toBeLessThan(0.3 * truth.ipw_var_known_g_always_1);
  expect(effectiveSampleSize(w.weight) / w.n).toBeGreaterThan(1.4 * truth.ESS_fraction_always_1);
  expect(1 / truth.E_w2_always_1).toBeCloseTo(truth.ESS_fraction_always_1, 12);
});

const rows400 = sample400();
const of400 = (key: keyof (typeof rows400)[number]) => rows400.map((r) => r[key]);
/** Products of every set of these columns. */
const factorial = (x: Columns): Columns => {
  let out: [string, readonly number[]][] = [];
  for (const [name, of] of Object.entries(x))
    out = [
      ...out,
      [name, of],
      ...out.map(([k, y]): [string, readonly number[]] => [`${k}:${name}`, y.map((v, i) => v * of[i]!)]),
    ];
  return Object.fromEntries(out);
};
const history = { x_1: of400('x1'), A_1: of400('a1'), x_2: of400('x2') };
const data400 = (g2: Columns, q2: Columns): Data => ({
  before: rows400.map(() => 0),
  stages: [
    { a: of400('a1'), g: { x_1: of400('x1') }, q: { x_1: of400('x1') }, paid: of400('r1') },
    { a: of400('a2'), g: g2, q: q2, paid: of400('r2') },
  ],
});
const saturated = data400(factorial(history), factorial(history));
const mainEffects = data400({ A_1: of400('a1'), x_2: of400('x2') }, { x_2: of400('x2') });
const two = {
  optimal: [(i) => rows400[i]!.x1, (i) => rows400[i]!.x2],
  always_1: [() => 1, () => 1],
} satisfies Record<string, Policy>;

test('400 rollouts of exact-two-stage, saturated nuisances: polle’s numbers', () => {
  const { of } = run(saturated, two.optimal);
  const want = small.optimal;
  near(of(dr).value, want.dr);
  near(se(of(dr)), want.dr_se);
  for (const x of [want.ipw, want.coef_ipw]) near(of(is).value, x);
  near(se(of(is)), want.ipw_se);
  for (const x of [want.or, want.coef_or]) near(of(dm).value, x);
  const one = run(saturated, two.always_1).of(dr);
  near(one.value, small.always_1.dr);
  near(se(one), small.always_1.dr_se);
});

test.each(['optimal', 'always_1'] as const)(
  '400 rollouts of exact-two-stage, main effects, where dr, ipw and or differ: %s',
  (name) => {
    const want = small[`unsaturated_${name}`];
    const { of, q } = run(mainEffects, two[name]);
    same(q[0], want.q_coef.stage_1, 1e-8);
    same(q[1], want.q_coef.stage_2, 1e-8);
    near(of(dr).value, want.dr);
    near(se(of(dr)), want.dr_se);
    near(of(is).value, want.ipw);
    near(se(of(is)), want.ipw_se);
    near(of(dm).value, want.or);
  },
);

test('the vignette of polle: propensities pooled over stages, a factor, 0.8213233 with variance 0.01244225', () => {
  const lines = fixture('polle-vignette.csv');
  const numbers = (k: number) => lines.map((r) => Number(r[k]));
  const level = (name: string) => lines.map((r) => Number(r[0] === name));
  const [B, l1, c1, a1, l2, c2, a2, l3] = [1, 2, 3, 4, 5, 6, 7, 8].map(numbers) as number[][];
  const state = (L: number[], C: number[]): Columns => ({
    L,
    C,
    B: B!,
    BBgroup2: level('group2'),
    BBgroup3: level('group3'),
  });
  const [h1, h2] = [state(l1!, c1!), state(l2!, c2!)];
  // Utilities of the generator: U₁ = L₁, U₂ = A₁C₁ + L₂, U₃ = A₂C₂ + L₃.
  const data: Data = {
    before: l1!,
    stages: [
      { a: a1!, g: h1, q: h1, paid: a1!.map((a, i) => a * c1![i]! + l2![i]!) },
      { a: a2!, g: h2, q: h2, paid: a2!.map((a, i) => a * c2![i]! + l3![i]!) },
    ],
  };
  const { of, g, q, ratios } = run(data, [() => 1, () => 1], true);
  same(g[0], vignette.g_pooled);
  same(q[0], vignette.q.stage_1);
  same(q[1], vignette.q.stage_2);
  near(of(dr).value, vignette.dr);
  near(se(of(dr)), vignette.se);
  near(se(of(dr)) ** 2, vignette.var);
  near(of(is).value, vignette.ipw);
  near(of(dm).value, vignette.or);
  near(evaluate(ratios).behaviour.value!, vignette.mean_U, 1e-8);
  expect(of(dr).value).toBeCloseTo(0.8213233, 6);
  expect(se(of(dr)) ** 2).toBeCloseTo(0.01244225, 7);
});
