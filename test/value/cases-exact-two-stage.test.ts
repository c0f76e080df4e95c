import { expect, test } from 'vitest';
import { realisticOptimum } from '../../src/diagnostics/realistic-optimum.ts';
import { stageTable } from '../../src/diagnostics/stages.ts';
import { weightSummary } from '../../src/diagnostics/weight-summary.ts';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import type { Estimator, Influence } from '../../src/value/estimator.ts';
import { estimators } from '../../src/value/estimators.ts';
import { is } from '../../src/value/is.ts';
import { mis } from '../../src/value/mis.ts';
import { pdis } from '../../src/value/pdis.ts';
import { qValues } from '../../src/value/q-values.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { tabularQ } from '../../src/value/tabular-q.ts';
import { wdrAlive } from '../../src/value/wdr-alive.ts';
import { wdrCarried } from '../../src/value/wdr-carried.ts';
import { wis } from '../../src/value/wis.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import law from '../fixtures/exact-two-stage-values.json' with { type: 'json' };
import { trajectoriesOf } from '../helpers/agent-turns.ts';
import { given } from '../helpers/q-columns.ts';
import {
  bits,
  census,
  empirical,
  known,
  NAMES,
  POLICIES,
  type Propensities,
  policyFile,
  sample400,
  type TwoStagePolicy,
  type TwoStageRow,
  twoStageEpisodes,
} from '../helpers/two-stage.ts';

const near = (got: number, want: number, by: number, what = '') =>
  expect(Math.abs(got - want), `${what} ${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );
const fraction = (text: string): number => {
  const [p, q = '1'] = text.split('/');
  return Number(p) / Number(q);
};
/** Variance of one episode's share, denominator n. */
const spread = ({ psi, value }: Influence) => psi.reduce((a, x) => a + (x - value) ** 2, 0) / psi.length;

/** A policy on these rollouts, with Q by table over the histories, fitted on the same rollouts. */
function run(rows: readonly TwoStageRow[], policy: TwoStagePolicy, propensities: Propensities = known) {
  const t = trajectoriesOf(twoStageEpisodes(rows, propensities));
  const ratios = logRatiosFromPolicyFile(t, policyFile(policy));
  const w = episodeWeights(ratios);
  const { table } = ratios;
  const states = stageStates(w, table!.cell, table!.cells.length);
  const columns = tabularQ(w, table!, states)(rows.map((_, i) => i));
  const nuisances = { ...given(ratios, w, columns), states };
  const { v } = qValues(ratios, columns);
  const Q = (s: number, a: number) =>
    columns.q[columns.row[s]! * columns.classes.length + columns.classes.indexOf(String(a))]!;
  const of = (e: Estimator) => e.estimate(w, stageSums(w), nuisances);
  return { t, ratios, w, table: table!, v, Q, of };
}

const all = census();
/** A turn row of the census with this history. */
const rowAt1 = (x1: number) => 2 * all.findIndex((r) => r.x1 === x1);
const rowAt2 = (x1: number, a1: number, x2: number) =>
  2 * all.findIndex((r) => r.x1 === x1 && r.a1 === a1 && r.x2 === x2) + 1;
const histories = bits.flatMap((x1) => bits.flatMap((a1) => bits.map((x2) => [x1, a1, x2] as const)));
const key = (...x: number[]) => `(${x.join(', ')})`;

test('the census has the rows of the case', () => {
  expect(all).toHaveLength(law.census_n);
});

test.each(NAMES)('on the whole law: values, variances, second moments, who follows: %s', (name) => {
  const want = law.policies[name];
  const { w, of } = run(all, POLICIES[name]);
  for (const e of [...estimators, dm, dr, wdrCarried, wdrAlive, mis])
    near(of(e).value, want.V, 1e-12, e.name);
  near(spread(of(is)), want.var_IS, 1e-12);
  near(spread(of(pdis)), want.var_PDIS, 1e-12);
  // The saturated fit is the true Q here.
  near(spread(of(dr)), want.var_DR_trueQ, 1e-12);
  const [first, second] = stageTable(w);
  const summary = weightSummary(w);
  near(first!.essCarried / w.n, want.ESS_fraction_stage1, 1e-12);
  near(second!.essCarried / w.n, want.ESS_fraction_stage2, 1e-12);
  near(summary.essShare, want.ESS_fraction_stage2, 1e-12);
  const { carriedSquares } = stageSums(w);
  near(carriedSquares[0]! / w.n, want.E_rho1_sq, 1e-12);
  near(carriedSquares[1]! / w.n, want.E_w_sq, 1e-12);
  near(summary.largestWeight!, fraction(want.max_w), 1e-12);
  near(summary.meanWeight!, 1, 1e-12);
  near(summary.followers / w.n, want.P_follow, 1e-12);
});

test.each(NAMES)(
  'on the whole law: the fitted Q and V are those of the policy, at every history: %s',
  (name) => {
    const want = law.policies[name];
    const { v, Q } = run(all, POLICIES[name]);
    for (const x1 of bits) {
      near(v[rowAt1(x1)]!, fraction(want.V1[`${x1}`]), 1e-12);
      for (const a of bits) near(Q(rowAt1(x1), a), fraction(want.Q1[key(x1, a) as '(0, 0)']), 1e-12);
    }
    for (const h of histories) {
      near(v[rowAt2(...h)]!, fraction(want.V2[key(...h) as '(0, 0, 0)']), 1e-12);
      for (const a of bits) near(Q(rowAt2(...h), a), fraction(law.Q2[key(...h, a) as '(0, 0, 0, 0)']), 1e-12);
    }
  },
);

test('advantages of the behaviour, and V^π − V^b = Σ_t E_π[A^b_t] for every policy', () => {
  const { v, Q } = run(all, POLICIES.behaviour);
  const { A1, A2 } = law.advantage_behaviour;
  for (const x1 of bits)
    for (const a of bits)
      near(Q(rowAt1(x1), a) - v[rowAt1(x1)]!, fraction(A1[key(x1, a) as '(0, 0)']), 1e-12);
  for (const h of histories)
    for (const a of bits)
      near(Q(rowAt2(...h), a) - v[rowAt2(...h)]!, fraction(A2[key(...h, a) as '(0, 0, 0, 0)']), 1e-12);
  const advantage = Float64Array.from(
    all.flatMap((r, i) => [Q(2 * i, r.a1) - v[2 * i]!, Q(2 * i + 1, r.a2) - v[2 * i + 1]!]),
  );
  for (const name of NAMES) {
    const { w } = run(all, POLICIES[name]);
    // Rewards of A^b, weighted to the target.
    const gain = pdis.estimate({ ...w, rewards: advantage }, stageSums(w)).value;
    near(gain, law.policies[name].V - law.policies.behaviour.V, 1e-12, name);
  }
});

test.each(NAMES)('400 rollouts, propensities by counting: %s', (name) => {
  const want = law.sample400[name].empirical_saturated;
  const rows = sample400();
  const { w, of } = run(rows, POLICIES[name], empirical(rows));
  const se = (e: Estimator) => Math.sqrt(spread(of(e)) / w.n);
  near(of(is).value, want.IS, 1e-10);
  near(se(is), want.IS_se, 1e-10);
  near(of(pdis).value, want.PDIS, 1e-10);
  near(se(pdis), want.PDIS_se, 1e-10);
  near(of(wis).value, want.SNIS_trajectory, 1e-10);
  near(se(wis), want.SNIS_se_linearised, 1e-10);
  for (const e of estimators.slice(3)) near(of(e).value, want.CWPDIS, 1e-10, e.name);
  near(of(dr).value, want.DR_saturatedQ, 1e-10);
  near(se(dr), want.DR_saturatedQ_se, 1e-10);
  near(of(wdrCarried).value, want.WDR_saturatedQ, 1e-10);
  near(of(dm).value, law.sample400[name].FQE_saturated, 1e-10);
  const [first, second] = stageTable(w);
  near(first!.essCarried, want.ESS_stage1, 1e-10);
  near(second!.essCarried, want.ESS_stage2, 1e-10);
  near(weightSummary(w).meanWeight!, want.mean_w, 1e-10);
  near(weightSummary(w).largestWeight!, want.max_w, 1e-10);
  // With saturated propensities the weights, the regression and both together are one number.
  for (const e of [is, pdis, dr, wdrCarried]) near(of(e).value, of(dm).value, 1e-12, e.name);
});

/** The best policy by tabular backward induction, and Q of the policy that takes it. */
function best(rows: readonly TwoStageRow[]) {
  const logged = run(rows, POLICIES.behaviour);
  const { t, table } = logged;
  const { value, choice } = realisticOptimum(t, table.cell, () => 1, 0);
  const takes = (s: number) => Number(t.turns.actionClass.values[choice[s]!]);
  const at = (f: (r: TwoStageRow) => boolean, turn: number) => takes(2 * rows.findIndex(f) + turn);
  const greedy: TwoStagePolicy = [
    (x1) => at((r) => r.x1 === x1, 0),
    (x1, a1, x2) => at((r) => r.x1 === x1 && r.a1 === a1 && r.x2 === x2, 1),
  ];
  const { Q } = run(rows, greedy);
  const q1 = (x1: number, a: number) => Q(2 * rows.findIndex((r) => r.x1 === x1), a);
  const q2 = (x1: number, a1: number, x2: number, a: number) =>
    Q(2 * rows.findIndex((r) => r.x1 === x1 && r.a1 === a1 && r.x2 === x2) + 1, a);
  return { value, greedy, q1, q2 };
}

test('on the whole law the best policy is the optimal one, with the tie that it has', () => {
  const { value, greedy, q1, q2 } = best(all);
  near(value, law.policies.optimal.V, 1e-12);
  for (const x1 of bits)
    for (const a of bits) near(q1(x1, a), fraction(law.Q1_opt[key(x1, a) as '(0, 0)']), 1e-12);
  expect(greedy[0](1)).toBe(law.opt1['1']);
  near(q1(0, 0), q1(0, 1), 1e-12); // at x₁ = 0 either action is best
  for (const h of histories) {
    expect(greedy[1](...h)).toBe(law.opt2[key(...h) as '(0, 0, 0)']);
    for (const a of bits) near(q2(...h, a), fraction(law.Q2[key(...h, a) as '(0, 0, 0, 0)']), 1e-12);
  }
});

test('the best policy of 400 rollouts by saturated Q-learning, its Q and the value it promises', () => {
  const want = law.sample400_qlearning;
  const { value, greedy, q1, q2 } = best(sample400());
  near(value, want.plugin_value, 1e-10);
  for (const x1 of bits) {
    expect(greedy[0](x1)).toBe(want.opt1[`${x1}`]);
    for (const a of bits) near(q1(x1, a), want.Q1[key(x1, a) as '(0, 0)'], 1e-10);
  }
  for (const h of histories) {
    expect(greedy[1](...h)).toBe(want.opt2[key(...h) as '(0, 0, 0)']);
    for (const a of bits) near(q2(...h, a), want.Q2[key(...h, a) as '(0, 0, 0, 0)'], 1e-10);
  }
});
