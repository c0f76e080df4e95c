import { expect, test } from 'vitest';
import { stageTable } from '../../src/diagnostics/stages.ts';
import { weightSummary } from '../../src/diagnostics/weight-summary.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import type { LogRatios } from '../../src/weights/ratios.ts';
import known from '../fixtures/coverage-diagnostics.json' with { type: 'json' };
import { fixture, trajectoriesOf } from '../helpers/agent-turns.ts';

const rows = fixture('coverage-diagnostics.csv').map(
  (row) => row.map(Number) as [number, number, number, number, number],
);
const t = trajectoriesOf(rows.map((row, i) => ({ episode_id: `e${i}`, reward: row[4], turns: [{}, {}] })));
const expit = (x: number) => 1 / (1 + Math.exp(-x));
const ratiosOf = (target: (c: number) => number): LogRatios => ({
  target: 'd',
  measure: 'log_propensity',
  trainedOn: 'none',
  trajectories: t,
  values: Float64Array.from(
    rows.flatMap(([c1, c2, a1, a2]) =>
      [
        [c1, a1],
        [c2, a2],
      ].map(([c, a]) => {
        const b = a === 1 ? expit(c!) : 1 - expit(c!);
        return a === target(c!) ? -Math.log(b) : -Infinity;
      }),
    ),
  ),
  held: { episodes: 0, tasks: 0, known: true },
  warnings: [],
  table: null,
});
const near = (got: number | null, want: number) =>
  expect(Math.abs(got! - want), `${got} against ${want}`).toBeLessThanOrEqual(
    1e-9 * Math.max(1, Math.abs(want)),
  );

test.each([
  ['always_1', () => 1],
  ['C_positive', (c: number) => (c > 0 ? 1 : 0)],
] as const)('known propensities, two turns: %s', (name, target) => {
  const want = known[name];
  const ratios = ratiosOf(target);
  const w = episodeWeights(ratios);
  const stages = stageTable(w);
  stages.forEach((s, k) => {
    expect(s.followers).toBe(want.followers[k]);
    near(s.essStagewise, want.ESS_stagewise[k]!);
    near(s.essCarried, want.ESS_cumulative[k]!);
    near(s.meanWeight, want.mean_weight[k]!);
    near(s.meanWeightSe! * Math.sqrt(999 / 1000), want.mean_weight_se[k]!); // CR1 of single episodes against denominator n
    near(s.z, (s.meanWeight! - 1) / s.meanWeightSe!);
  });
  const summary = weightSummary(w);
  near(stages[1]!.largestShare, want.max_weight_share);
  near(stages[1]!.topPercentShare, want.top1pct_weight_share);
  expect(stages[1]!.kHat).toBe(summary.kHat);
  near(summary.largestWeight, want.max_weight);
  near(summary.largestShare, want.max_weight_share);
  near(summary.topPercentShare, want.top1pct_weight_share);
  const { estimates } = evaluate(ratios);
  const of = (e: string) => estimates.find((x) => x.estimator === e)!;
  near(of('IS').value, want.IPW);
  near(of('IS').seNaive, want.IPW_se);
  near(of('WIS').value, want.Hajek);
  near(of('WIS').seNaive, want.Hajek_se);
});
