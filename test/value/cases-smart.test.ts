import { expect, test } from 'vitest';
import { stageTable } from '../../src/diagnostics/stages.ts';
import { weightSummary } from '../../src/diagnostics/weight-summary.ts';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { tabularQ } from '../../src/value/tabular-q.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import smart from '../fixtures/smart-known.json' with { type: 'json' };
import { fixture } from '../helpers/agent-turns.ts';
import { given, type LoggedTurn, targetOf } from '../helpers/q-columns.ts';

const near = (got: number, want: number, by: number) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );

/** Response R after A1; non-responders are randomised again to A2, responders keep 0. */
interface Patient {
  readonly A1: number;
  readonly R: number;
  readonly A2: number;
  readonly Y: number;
}
const REGIMES = [1, -1].flatMap((a1) => [1, -1].map((a2) => [`(${a1},${a2})` as '(1,1)', a1, a2] as const));

/** The embedded regime (a1, a2 for non-responders) on the trial's design of one half each. */
const follow = (patients: readonly Patient[], a1: number, a2: number) =>
  targetOf(
    patients.map(({ A1, R, A2, Y }): LoggedTurn[] => [
      { a: `${A1}`, b: 0.5, r: 0, pi: { [a1]: 1 }, q: {}, cell: 'start' },
      {
        a: `${A2}`,
        b: R === 1 ? 1 : 0.5,
        r: Y,
        pi: R === 1 ? { 0: 1 } : { [a2]: 1 },
        q: {},
        cell: `${A1} ${R}`,
      },
    ]),
  ).ratios;

/** 80 patients in which every path has its probability as its share: means 8, 5, 6, 3, 4, 3.5 and two-point noise. */
function census(): Patient[] {
  const responds: Record<number, number> = { 1: 0.3, [-1]: 0.5 };
  const afterResponse: Record<number, number> = { 1: 8, [-1]: 5 };
  const otherwise: Record<string, number> = { '1,1': 6, '1,-1': 3, '-1,1': 4, '-1,-1': 3.5 };
  const out: Patient[] = [];
  for (const A1 of [1, -1])
    for (const R of [1, 0])
      for (const A2 of R === 1 ? [0] : [1, -1])
        for (const sign of [1, -1]) {
          const p = 0.25 * (R === 1 ? responds[A1]! : (1 - responds[A1]!) / 2);
          const Y = R === 1 ? afterResponse[A1]! + sign : otherwise[`${A1},${A2}`]! + 2 * sign;
          for (let i = 0; i < Math.round(80 * p); i++) out.push({ A1, R, A2, Y });
        }
  return out;
}

test.each(REGIMES)('the closed forms of the design, on the whole law: %s', (key, a1, a2) => {
  const want = smart.regimes[key];
  const patients = census();
  expect(patients).toHaveLength(80);
  const ratios = follow(patients, a1, a2);
  const w = episodeWeights(ratios);
  const { estimates } = evaluate(ratios, {}, w);
  const of = (name: string) => estimates.find((x) => x.estimator === name)!;
  const variance = (name: string) => of(name).seNaive! ** 2 * w.n;
  for (const name of ['IS', 'WIS', 'PDIS', 'WPDIS carried']) near(of(name).value!, want.V, 1e-12);
  near(variance('IS'), want['n*var_IPW_known'], 1e-12);
  near(variance('WIS'), want['n*var_Hajek'], 1e-12);
  near(stageSums(w).carriedSquares[1]! / w.n, want.E_w2, 1e-12);
  near(weightSummary(w).essShare, want.ESS_fraction, 1e-12);

  const { table } = ratios;
  const states = stageStates(w, table!.cell, table!.cells.length);
  const nuisances = given(ratios, w, tabularQ(w, table!, states)(patients.map((_, i) => i)));
  const aipw = dr.estimate(w, stageSums(w), nuisances);
  near(aipw.value, want.V, 1e-12);
  near(dm.estimate(w, stageSums(w), nuisances).value, want.V, 1e-12);
  const spread = aipw.psi.reduce((sum, x) => sum + (x - aipw.value) ** 2, 0) / w.n;
  near(spread, want['n*var_efficient_AIPW'], 1e-12);
});

test.each(REGIMES)(
  '300 patients: who follows, the effective sample size, both errors of Hájek: %s',
  (key, a1, a2) => {
    const want = smart.sample[key];
    const patients = fixture('smart-known.csv').map((line) => {
      const [, A1, R, A2, Y] = line.map(Number) as number[];
      return { A1: A1!, R: R!, A2: A2!, Y: Y! };
    });
    const ratios = follow(patients, a1, a2);
    const w = episodeWeights(ratios);
    const summary = weightSummary(w);
    expect(summary.followers).toBe(want.n_consistent);
    expect(stageTable(w)[1]!.followers).toBe(want.n_consistent);
    near(summary.ess, want.ESS, 1e-10);
    const hajek = evaluate(ratios, {}, w).estimates.find((x) => x.estimator === 'WIS')!;
    near(hajek.value!, want.Hajek, 1e-10);
    near(hajek.seNaive!, want.Hajek_se_sumW, 1e-10);
    // With the known mean weight of 1 in the place of the sample's.
    near(hajek.seNaive! * summary.meanWeight!, want.Hajek_se_n, 1e-10);
  },
);
