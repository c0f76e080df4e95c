import { expect, test } from 'vitest';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import { estimateOf } from '../../src/value/estimate.ts';
import type { Estimator, Influence } from '../../src/value/estimator.ts';
import { is } from '../../src/value/is.ts';
import { mis } from '../../src/value/mis.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { tabularQ } from '../../src/value/tabular-q.ts';
import { wdrCarried } from '../../src/value/wdr-carried.ts';
import { wis } from '../../src/value/wis.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import agent from '../fixtures/agent-turns-values.json' with { type: 'json' };
import twoStage from '../fixtures/exact-two-stage-values.json' with { type: 'json' };
import known from '../fixtures/ope-known-answers.json' with { type: 'json' };
import polle from '../fixtures/polle-two-stage.json' with { type: 'json' };
import smart from '../fixtures/smart-known.json' with { type: 'json' };
import { fixture, POLICIES, policyFile, sample, trajectoriesOf } from '../helpers/agent-turns.ts';
import { given, type LoggedTurn, targetOf } from '../helpers/q-columns.ts';

const near = (got: number, want: number, relative = 1e-10) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    relative * Math.max(1, Math.abs(want)),
  );
/** Standard error with denominator n. */
const seOf = ({ psi, value }: Influence) =>
  Math.sqrt(psi.reduce((a, x) => a + (x - value) ** 2, 0)) / psi.length;

const turns = trajectoriesOf(sample());
const everyPlace = (n: number) => Int32Array.from({ length: n }, (_, i) => i);

test.each(POLICIES)('500 rollouts of agent-turns-exact, in-sample tabular Q: %s', (name) => {
  const want = agent.sample[name];
  // The declared cells are those of the behaviour's rules: turn and state.
  const file = policyFile(name);
  const states = policyFile('behaviour').rules.flatMap((r) => r.when['features.0'] as number);
  const split = checkPolicyFile({
    ...file,
    rules: file.rules.flatMap((r) => states.map((x) => ({ ...r, when: { 'features.0': x, ...r.when } }))),
  });
  const ratios = logRatiosFromPolicyFile(turns, split);
  const w = episodeWeights(ratios);
  const stages = stageSums(w);
  const { table } = ratios;
  const abstraction = stageStates(w, table!.cell, table!.cells.length);
  const columns = tabularQ(w, table!, abstraction)(everyPlace(w.n));
  const q = { ...given(ratios, w, columns), states: abstraction };
  near(dm.estimate(w, stages, q).value, want.FQE_tabular);
  near(dr.estimate(w, stages, q).value, want.DR_tabularQ);
  near(seOf(dr.estimate(w, stages, q)), want.DR_se);
  near(mis.estimate(w, stages, q).value, want.MIS_state_marginal);
  expect(columns.unseen!.some((x) => x === 1)).toBe(false); // what is unseen here is a state never reached
});

const bern = (p: number, a: number) => (a === 1 ? p : 1 - p);
const bits = [0, 1];
const pick = (p1: number) => ({ '0': 1 - p1, '1': p1 });
/** π(1 | h) at the first and the second stage. */
const twoStagePolicies: Record<
  string,
  readonly [(x1: number) => number, (x1: number, a1: number, x2: number) => number]
> = {
  behaviour: [(x1) => (1 + 2 * x1) / 4, (_, a1, x2) => (1 + 2 * x2 + a1) / 5],
  optimal: [(x1) => x1, (_x1, _a1, x2) => x2],
  always_1: [() => 1, () => 1],
  always_0: [() => 0, () => 0],
  soft: [() => 0.5, (_x1, _a1, x2) => (x2 === 1 ? 0.75 : 0.25)],
};
const fraction = (text: string): number => {
  const [a, b = '1'] = text.split('/');
  return Number(a) / Number(b);
};

interface TwoStageRow {
  readonly x1: number;
  readonly a1: number;
  readonly r1: number;
  readonly x2: number;
  readonly a2: number;
  readonly r2: number;
}
/** Two turns with the true Q of the named policy and the given probabilities of the logged actions. */
function twoStageTurns(
  rows: readonly TwoStageRow[],
  name: keyof typeof twoStage.policies,
  b1: (r: TwoStageRow) => number,
  b2: (r: TwoStageRow) => number,
): LoggedTurn[][] {
  const [p1, p2] = twoStagePolicies[name]!;
  const Q1: Record<string, string> = twoStage.policies[name].Q1;
  const Q2: Record<string, string> = twoStage.Q2;
  const table = (f: (a: number) => string) =>
    Object.fromEntries(bits.map((a) => [String(a), fraction(f(a))]));
  return rows.map((r) => {
    const { x1, a1, x2, a2 } = r;
    return [
      {
        a: String(a1),
        b: b1(r),
        r: r.r1,
        pi: pick(p1(x1)),
        q: table((a) => Q1[`(${x1}, ${a})`]!),
        cell: `${x1}`,
      },
      {
        a: String(a2),
        b: b2(r),
        r: r.r2,
        pi: pick(p2(x1, a1, x2)),
        q: table((a) => Q2[`(${x1}, ${a1}, ${x2}, ${a})`]!),
        cell: `${x1}${a1}${x2}`,
      },
    ];
  });
}
const [law1, law2] = twoStagePolicies.behaviour!;
const known1 = (r: TwoStageRow) => bern(law1(r.x1), r.a1);
const known2 = (r: TwoStageRow) => bern(law2(r.x1, r.a1, r.x2), r.a2);
const sample400: TwoStageRow[] = fixture('exact-two-stage-sample400.csv').map((line) => {
  const [, x1, a1, r1, x2, a2, r2] = line.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { x1, a1, r1, x2, a2, r2 };
});
const share = (num: (r: TwoStageRow) => boolean, den: (r: TwoStageRow) => boolean) =>
  sample400.filter((r) => num(r) && den(r)).length / sample400.filter(den).length;
const seen = new Map<string, number>();
const memo = (key: string, f: () => number): number => {
  if (!seen.has(key)) seen.set(key, f());
  return seen.get(key)!;
};
const empirical1 = (r: TwoStageRow) =>
  memo(`1 ${r.x1}${r.a1}`, () =>
    share(
      (o) => o.a1 === r.a1,
      (o) => o.x1 === r.x1,
    ),
  );
const empirical2 = (r: TwoStageRow) =>
  memo(`2 ${r.x1}${r.a1}${r.x2}${r.a2}`, () =>
    share(
      (o) => o.a2 === r.a2,
      (o) => o.x1 === r.x1 && o.a1 === r.a1 && o.x2 === r.x2,
    ),
  );

const twoStageNames = Object.keys(twoStage.policies) as (keyof typeof twoStage.policies)[];
test.each(twoStageNames)('400 rollouts of exact-two-stage, true and saturated Q: %s', (name) => {
  for (const [label, b1, b2] of [
    ['known', known1, known2],
    ['empirical_saturated', empirical1, empirical2],
  ] as const) {
    const want = twoStage.sample400[name];
    const { ratios, columns } = targetOf(twoStageTurns(sample400, name, b1, b2));
    const w = episodeWeights(ratios);
    const stages = stageSums(w);
    const of = (e: Estimator, q: ReturnType<typeof given>) => e.estimate(w, stages, q);
    const truth = given(ratios, w, columns);
    near(of(dr, truth).value, want[label].DR_trueQ);
    near(seOf(of(dr, truth)), want[label].DR_trueQ_se);
    const { table } = ratios;
    const states = stageStates(w, table!.cell, table!.cells.length);
    const fitted = given(ratios, w, tabularQ(w, table!, states)(everyPlace(w.n)));
    near(of(dr, fitted).value, want[label].DR_saturatedQ);
    near(seOf(of(dr, fitted)), want[label].DR_saturatedQ_se);
    near(of(wdrCarried, fitted).value, want[label].WDR_saturatedQ);
    near(of(dm, fitted).value, want.FQE_saturated);
    // With saturated empirical propensities IS, DR and the fit are one number.
    if (label === 'empirical_saturated') near(of(is, fitted).value, want.FQE_saturated);
  }
});

test.each(twoStageNames)('the law of exact-two-stage: E[DR] = V, Var with the true Q: %s', (name) => {
  const { V, var_DR_trueQ } = twoStage.policies[name];
  const rows: (TwoStageRow & { readonly p: number })[] = [];
  for (const x1 of bits)
    for (const a1 of bits)
      for (const x2 of bits)
        for (const a2 of bits)
          for (const e of [-1, 1]) {
            const r1 = ((2 * x1 - 1) * a1) / 2;
            const r2 = x1 + a2 * (2 * x2 - 1) + (a1 * a2) / 2 + e;
            const p2 = 0.25 + x1 / 4 + a1 / 4;
            const row = { x1, a1, r1, x2, a2, r2 };
            rows.push({ ...row, p: 0.5 * known1(row) * bern(p2, x2) * known2(row) * 0.5 });
          }
  const { ratios, columns } = targetOf(twoStageTurns(rows, name, known1, known2));
  const w = episodeWeights(ratios);
  const E = (f: (i: number) => number) => rows.reduce((a, { p }, i) => a + p * f(i), 0);
  // Any Q of what is known at the turn: a function of the cell and the action.
  const q = columns.q.map((_, k) => {
    const cell = ratios.table!.cell[Math.floor(k / 2)]!;
    return 3 * Math.sin(1 + cell) + (k % 2) * Math.cos(cell);
  });
  const mean = (x: Float64Array) => E((i) => x[i]!);
  const [right, any] = [columns, { ...columns, q }].map(
    (c) => dr.estimate(w, stageSums(w), given(ratios, w, c)).psi,
  );
  expect(Math.abs(mean(right!) - V)).toBeLessThanOrEqual(1e-12);
  expect(Math.abs(mean(any!) - V)).toBeLessThanOrEqual(1e-12);
  const variance = E((i) => (right![i]! - V) ** 2);
  expect(Math.abs(variance / var_DR_trueQ - 1)).toBeLessThanOrEqual(1e-12);
});

test('SMART with responders: IPW, Hájek and AIPW with saturated nuisances, and their standard errors', () => {
  const rows = fixture('smart-known.csv').map((line) => line.map(Number));
  const count = (f: (r: readonly number[]) => boolean) => rows.filter(f).length;
  const psiOf = new Map<string, Influence>();
  for (const a1 of [1, -1])
    for (const a2 of [1, -1]) {
      const key = `(${a1},${a2})` as '(1,1)';
      const want = smart.sample[key];
      const episodes = (b1: (a: number) => number, b2: (a: number, next: number) => number) =>
        rows.map(([, A1, R, A2, Y]): LoggedTurn[] => [
          { a: String(A1), b: b1(A1!), r: 0, pi: { [a1]: 1 }, q: {}, cell: 'start' },
          {
            a: String(A2),
            b: R === 1 ? 1 : b2(A1!, A2!),
            r: Y!,
            pi: R === 1 ? { 0: 1 } : { [a2]: 1 },
            q: {},
            cell: `${A1} ${R}`,
          },
        ]);
      const { ratios } = targetOf(
        episodes(
          () => 0.5,
          () => 0.5,
        ),
      );
      const w = episodeWeights(ratios);
      const ipw = is.estimate(w, stageSums(w));
      near(ipw.value, want.IPW);
      near(seOf(ipw), want.IPW_se);
      const hajek = wis.estimate(w, stageSums(w));
      near(hajek.value, want.Hajek);
      near(seOf(hajek), want.Hajek_se_sumW);

      const estimated = targetOf(
        episodes(
          (a) => count((r) => r[1] === a) / rows.length,
          (a, next) =>
            count((r) => r[1] === a && r[2] === 0 && r[3] === next) / count((r) => r[1] === a && r[2] === 0),
        ),
      ).ratios;
      const we = episodeWeights(estimated);
      const { table } = estimated;
      const states = stageStates(we, table!.cell, table!.cells.length);
      const q = given(estimated, we, tabularQ(we, table!, states)(everyPlace(we.n)));
      const aipw = dr.estimate(we, stageSums(we), q);
      near(aipw.value, want.AIPW_saturated);
      near(seOf(aipw), want.AIPW_se);
      near(dm.estimate(we, stageSums(we), q).value, want.AIPW_saturated);
      psiOf.set(key, aipw);
    }
  const [a, b] = [psiOf.get('(1,1)')!, psiOf.get('(-1,1)')!];
  const contrast = smart.sample['contrast (1,1)-(-1,1) paired'];
  near(a.value - b.value, contrast.est);
  near(seOf({ value: a.value - b.value, psi: a.psi.map((x, i) => x - b.psi[i]!) }), contrast.se);
});

test('SMART with responders: the variance of AIPW with the true Q is the closed form', () => {
  const pR: Record<number, number> = { 1: 0.3, [-1]: 0.5 };
  const muR: Record<number, number> = { 1: 8, [-1]: 5 };
  const muN: Record<string, number> = { '1,1': 6, '1,-1': 3, '-1,1': 4, '-1,-1': 3.5 };
  for (const a1 of [1, -1])
    for (const a2 of [1, -1]) {
      const want = smart.regimes[`(${a1},${a2})` as '(1,1)'];
      const p: number[] = [];
      const episodes: LoggedTurn[][] = [];
      const Q1 = (a: number) => pR[a]! * muR[a]! + (1 - pR[a]!) * muN[`${a},${a2}`]!;
      for (const A1 of [1, -1])
        for (const R of [1, 0])
          for (const A2 of R === 1 ? [0] : [1, -1])
            for (const sign of [-1, 1]) {
              const b2 = R === 1 ? 1 : 0.5;
              const mean = R === 1 ? muR[A1]! : muN[`${A1},${A2}`]!;
              p.push((0.5 * (R === 1 ? pR[A1]! : 1 - pR[A1]!) * b2) / 2);
              episodes.push([
                { a: String(A1), b: 0.5, r: 0, pi: { [a1]: 1 }, q: { 1: Q1(1), [-1]: Q1(-1), 0: 0 } },
                {
                  a: String(A2),
                  b: b2,
                  r: mean + sign * (R === 1 ? 1 : 2),
                  pi: R === 1 ? { 0: 1 } : { [a2]: 1 },
                  q: { 0: muR[A1]!, 1: muN[`${A1},1`]!, [-1]: muN[`${A1},-1`]! },
                },
              ]);
            }
      const { ratios, columns } = targetOf(episodes);
      const w = episodeWeights(ratios);
      const { psi } = dr.estimate(w, stageSums(w), given(ratios, w, columns));
      const E = (f: (x: number) => number) => p.reduce((total, pi, i) => total + pi * f(psi[i]!), 0);
      near(
        E((x) => x),
        want.V,
        1e-12,
      );
      near(
        E((x) => (x - want.V) ** 2),
        want['n*var_efficient_AIPW'],
        1e-12,
      );
    }
});

const expit = (x: number) => 1 / (1 + Math.exp(-x));
const pollePolicies = {
  always_1: () => 1,
  always_0: () => 0,
  C_positive: (C: number) => (C > 0 ? 1 : 0),
};
const patients = fixture('polle-two-stage.csv').map((line) => {
  const [, , , L1, C1, A1, , C2, A2, , U1, U2, U3] = line.map(Number) as number[];
  return { L1: L1!, C1: C1!, A1: A1!, C2: C2!, A2: A2!, U1: U1!, U2: U2!, U3: U3! };
});
type Coefficients = Readonly<Record<string, number>>;

function polleRun(name: keyof typeof pollePolicies, models: 'correct' | 'g_wrong' | 'q_wrong' | 'g_known') {
  const want = polle[name][models];
  const [g1, g2] = [want.g_coef.stage_1, want.g_coef.stage_2] as [Coefficients, Coefficients];
  const [q1, q2] = [want.q_coef.stage_1, want.q_coef.stage_2] as [Coefficients, Coefficients];
  const g = (c: Coefficients, key: string, C: number) =>
    models === 'g_known' ? expit(C) : expit(c['(Intercept)']! + (c[key] ?? 0) * C);
  const at = (c: Coefficients, a: number, x: Readonly<Record<string, number>>) =>
    Object.entries(x).reduce(
      (sum, [key, value]) => sum + value * ((c[key] ?? 0) + a * (c[`A1:${key}`] ?? 0)),
      c['(Intercept)']! + a * c.A1!,
    );
  const d = pollePolicies[name];
  const both = (f: (a: number) => number) => ({ 0: f(0), 1: f(1) });
  const { ratios, columns } = targetOf(
    patients.map(({ L1, C1, A1, C2, A2, U1, U2, U3 }): LoggedTurn[] => [
      {
        a: String(A1),
        b: bern(g(g1, 'C_1', C1), A1),
        r: U1 + U2,
        pi: pick(d(C1)),
        q: both((a) => U1 + at(q1, a, { L_1: L1, C_1: C1 })),
      },
      {
        a: String(A2),
        b: bern(g(g2, 'C_2', C2), A2),
        r: U3,
        pi: pick(d(C2)),
        q: both((a) => at(q2, a, { C_2: C2 })),
      },
    ]),
  );
  const w = episodeWeights(ratios);
  const nuisances = given(ratios, w, columns);
  return { want, of: (e: Estimator) => e.estimate(w, stageSums(w), nuisances) };
}

test.each(Object.keys(pollePolicies) as (keyof typeof pollePolicies)[])(
  'polle’s two stages, dr, ipw and or with the coefficients it fitted: %s',
  (name) => {
    for (const models of ['correct', 'g_wrong', 'q_wrong', 'g_known'] as const) {
      const { want, of } = polleRun(name, models);
      const tolerance = models === 'g_known' ? 1e-8 : 1e-6; // its propensities end an iteration
      near(of(dr).value, want.dr, tolerance);
      near(seOf(of(dr)), want.dr_se, tolerance);
      near(of(is).value, want.ipw, tolerance);
      near(seOf(of(is)), want.ipw_se, tolerance);
      near(of(dm).value, want.or, 1e-8);
      near(of(dr).parts!.regression!, want.or, 1e-8);
    }
  },
);

test('the paired difference of two policies is arithmetic on influence values', () => {
  const a = polleRun('always_1', 'correct').of(dr);
  const b = polleRun('C_positive', 'correct').of(dr);
  const want = polle.diff_Cpos_minus_always1;
  const psi = b.psi.map((x, i) => x - a.psi[i]!);
  near(b.value - a.value, want.est, 1e-6);
  near(seOf({ value: b.value - a.value, psi }), want.se, 1e-6);
});

test('bandit logs are the one-turn case: DM 10/3, IPS 10/3, DR 4; stochastic IPS 7.75; SNIPS of one', () => {
  const { slate_bandit: want, single_example: one } = known;
  const rows = [
    { r: 4, b: 0.2, v: 1, q: 2, p: 0 },
    { r: 5, b: 0.5, v: 4, q: 4, p: 1 },
    { r: 7, b: 0.4, v: 5, q: 6, p: 0 },
  ];
  const turn = (p: number, x: (typeof rows)[number]): LoggedTurn[] => [
    { a: 'logged', b: x.b, r: x.r, pi: { logged: p, other: 1 - p }, q: { logged: x.q, other: x.v } },
  ];
  const { ratios, columns } = targetOf(rows.map((x) => turn(x.p, x)));
  const w = episodeWeights(ratios);
  const q = given(ratios, w, columns);
  const of = (e: Estimator) => e.estimate(w, stageSums(w), q).value;
  near(of(dm), fraction(want.DM), 1e-15);
  near(of(is), fraction(want.IPS), 1e-15);
  near(of(dr), fraction(want.DR), 1e-15);
  const target = want.stochastic_target_at_logged;
  const soft = episodeWeights(targetOf(rows.map((x, i) => turn(target[i]!, x))).ratios);
  near(is.estimate(soft, stageSums(soft)).value, want.IPS_stochastic, 1e-15);
  const single = episodeWeights(
    targetOf([[{ a: 'x', b: 0.3, r: 1, pi: { x: 0.6, y: 0.4 }, q: { x: 0, y: 0 } }]]).ratios,
  );
  near(is.estimate(single, stageSums(single)).value, one.IPS, 1e-15);
  near(wis.estimate(single, stageSums(single)).value, one.SNIPS, 1e-15);
});

test('the true Q in a deterministic process: no variance within a trajectory', () => {
  // State = turn; going on pays 1, stopping pays 5 and ends; the target stops with probability ½.
  const H = 4;
  const Q: Record<string, number>[] = [];
  let V = 0;
  for (let t = H - 1; t >= 0; t--) {
    Q[t] = { go: 1 + V, stop: 5 };
    V = (Q[t]!.go! + Q[t]!.stop!) / 2;
  }
  const episodes = Array.from({ length: H + 1 }, (_, stops) =>
    Array.from({ length: Math.min(stops + 1, H) }, (_, t): LoggedTurn => {
      const a = t === stops ? 'stop' : 'go';
      return { a, b: a === 'go' ? 0.9 : 0.1, r: a === 'go' ? 1 : 5, pi: { go: 0.5, stop: 0.5 }, q: Q[t]! };
    }),
  );
  const { ratios, columns } = targetOf(episodes);
  const w = episodeWeights(ratios);
  const { psi } = dr.estimate(w, stageSums(w), given(ratios, w, columns));
  for (const x of psi) near(x, V, 1e-12);
});

test('an estimate carries its parts, and DM no interval', () => {
  const { of } = polleRun('always_1', 'g_known');
  const n = patients.length;
  const context = {
    clusters: { of: everyPlace(n), count: n },
    level: 0.95,
    ess: null,
    kHat: null,
    estimand: 'V',
    range: [-10, 10],
  } as const;
  const estimate = estimateOf(dr.name, dr.convention, of(dr), context);
  const { regression, correction } = estimate.parts!;
  near(regression! + correction!, estimate.value!, 1e-12);
  expect(estimate.interval).not.toBeNull();
  const direct = estimateOf(dm.name, dm.convention, of(dm), context);
  expect(direct.interval).toBeNull();
  expect(direct.warnings.map((x) => x.code)).toEqual(['no-interval']);
});
