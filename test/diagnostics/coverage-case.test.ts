import { expect, test } from 'vitest';

import { balance } from '../../src/diagnostics/balance.ts';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { stageTable } from '../../src/diagnostics/stages.ts';
import { weightSummary } from '../../src/diagnostics/weight-summary.ts';
import type { BehaviourTable } from '../../src/policy/behaviour-table.ts';
import { Diagnostics } from '../../src/schema/diagnostics.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import type { LogRatios } from '../../src/weights/ratios.ts';
import known from '../fixtures/coverage-diagnostics-all.json' with { type: 'json' };
import { fixture, trajectoriesOf } from '../helpers/agent-turns.ts';

const rows = fixture('coverage-covariates.csv').map((row) => {
  const [B, L1, C1, A1, L2, C2, A2, U] = row.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { B, L: [L1, L2], C: [C1, C2], A: [A1, A2], U };
});
const expit = (x: number) => 1 / (1 + Math.exp(-x));
// Every episode names class "0" or "1"; codes go by appearance, so both lists come from the columns.
const t = trajectoriesOf(
  rows.map(({ L, C, A, B, U }, i) => ({
    episode_id: `e${i}`,
    reward: U,
    turns: [0, 1].map((k) => ({
      action_class: String(A[k]),
      behaviour_log_propensity: Math.log(A[k] === 1 ? expit(C[k]!) : 1 - expit(C[k]!)),
      features: k === 0 ? [L[0]!, C[0]!, B] : [L[0]!, C[0]!, L[1]!, C[1]!, B],
    })),
  })),
);
const classes = t.turns.actionClass.values;
const behaviour: BehaviourTable = {
  source: 'declared',
  classes,
  probabilities: Float64Array.from(
    rows.flatMap(({ C }) =>
      C.flatMap((c) => classes.map((name) => (name === '1' ? expit(c) : 1 - expit(c)))),
    ),
  ),
};
/** Cell 0: C ≤ 0, cell 1: C > 0. */
const ratiosOf = (target: readonly [string, string]): LogRatios => {
  const cell = Int32Array.from(rows.flatMap(({ C }) => C.map((c) => (c > 0 ? 1 : 0))));
  const probabilities = Float64Array.from(target.flatMap((d) => classes.map((name) => (name === d ? 1 : 0))));
  const { codes } = t.turns.actionClass;
  return {
    target: 'd',
    measure: 'log_propensity',
    trainedOn: 'none',
    trajectories: t,
    values: Float64Array.from(
      codes,
      (code, s) => Math.log(probabilities[cell[s]! * 2 + code]!) - t.turns.behaviourLogPropensity[s]!,
    ),
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: { cell, cells: ['C ≤ 0', 'C > 0'], classes, probabilities },
    behaviour,
  };
};
const near = (got: number | null | undefined, want: number) =>
  expect(Math.abs(got! - want), `${got} against ${want}`).toBeLessThanOrEqual(
    1e-9 * Math.max(1, Math.abs(want)),
  );

test.each([
  ['always_1', ['1', '1']],
  ['C_positive', ['0', '1']],
] as const)('every figure of the case, %s', (name, target) => {
  const want = known[name];
  const ratios = ratiosOf(target);
  const w = episodeWeights(ratios);
  const d = diagnose(ratios, w);
  const stages = stageTable(w);
  expect(Diagnostics.parse(JSON.parse(JSON.stringify(d)))).toEqual(d);
  d.stages.forEach((s, k) => {
    expect(s.followers).toBe(want.followers[k]);
    near(s.kishDeff! * want.ESS_cumulative[k]!, 1000);
    near(stages[k]!.essCarried / w.n, want.ESS_over_n[k]!);
    near(s.essPerFollower, want.ESS_over_followers[k]!);
    for (const { alpha, share } of s.positivity!.below)
      near(share, want.share_pi_target_below[String(alpha) as '0.01'][k]!);
    expect(s.positivity!.quantiles).toHaveLength(7);
    for (const { q, propensity } of s.positivity!.quantiles)
      near(propensity, want.g_target_quantiles[String(q) as '0'][k]!);
  });
  near(d.stages[1]!.kishDeff, want.kish_deff);
  near(weightSummary(w).essShare, want.ESS_over_n[1]!);
  expect(d.truncation.points).toHaveLength(want.truncation_curve.length);
  d.truncation.points.forEach((p, i) => {
    const x = want.truncation_curve[i]!;
    expect(p.quantileOfPositive).toBe(x.quantile_of_positive_w);
    expect(p.truncated).toBe(x.n_truncated);
    near(p.cap, x.cap);
    near(p.ipw, x.IPW);
    near(p.ipwSe, x.IPW_se);
    near(p.hajek, x.Hajek);
    near(p.hajekSe, x.Hajek_se);
    near(p.ess, x.ESS);
    near(p.meanWeight, x.mean_w);
  });
  const of = (e: string) => evaluate(ratios).estimates.find((x) => x.estimator === e)!;
  near(d.truncation.points[0]!.hajek, of('WIS').value!);
});

test('the value of always_1 moves with the cap, that of C_positive does not', () => {
  const [always, positive] = [ratiosOf(['1', '1']), ratiosOf(['0', '1'])].map((r) =>
    diagnose(r, episodeWeights(r)),
  );
  expect(always!.truncation.moves).toEqual({ ipw: 'up', hajek: 'up' });
  expect(positive!.truncation.moves).toEqual({ ipw: null, hajek: null });
  expect(always!.findings.map((f) => f.code)).toContain('moves-with-cap');
  expect(positive!.findings.map((f) => f.code)).not.toContain('moves-with-cap');
});

test('balance and overlap of the case', () => {
  const ratios = ratiosOf(['1', '1']);
  const d = diagnose(ratios, episodeWeights(ratios));
  const names = [
    ['L_1', 'C_1', 'B'],
    ['L_1', 'C_1', 'L_2', 'C_2', 'B'],
  ];
  // The class at hand is the second by appearance; a difference of "0" against "1" is that of "1" with the other sign.
  const sign = classes[1] === '1' ? 1 : -1;
  names.forEach((of, k) => {
    const { balance: love, overlap } = d.stages[k]!;
    expect(love).toHaveLength(of.length);
    of.forEach((covariate, j) => {
      const want = known.balance[`stage${k + 1}:${covariate}` as keyof typeof known.balance];
      const got = love.find((b) => b.covariate === `features.${j}`)!;
      near(sign * got.smdRaw, want.smd_raw);
      near(sign * got.smdIptw!, want.smd_iptw);
      near(sign * got.smdOverlap!, want.smd_overlap_weights);
    });
    const want = known[`overlap_stage${k + 1}` as 'overlap_stage1'];
    expect(overlap).toHaveLength(1);
    const [o] = overlap;
    near(o!.auc, want.auc);
    near(o!.overlapCoefficient, want.overlap_coefficient_20bins);
    if (sign === 1) {
      expect([o!.taken, o!.others]).toEqual([want.n1, want.n0]);
      near(o!.commonSupport![0], want.common_support[0]!);
      near(o!.commonSupport![1], want.common_support[1]!);
    } else {
      expect([o!.taken, o!.others]).toEqual([want.n0, want.n1]);
      near(1 - o!.commonSupport![1], want.common_support[0]!);
      near(1 - o!.commonSupport![0], want.common_support[1]!);
    }
  });
});

test('a covariate that does not vary has no balance', () => {
  const taken = Uint8Array.from([1, 1, 0, 0]);
  expect(balance(new Float64Array(4).fill(3), taken, new Float64Array(4).fill(0.5))).toBeNull();
});
