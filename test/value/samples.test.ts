import { expect, test } from 'vitest';
import { stageTable } from '../../src/diagnostics/stages.ts';
import { weightSummary } from '../../src/diagnostics/weight-summary.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import exact from '../fixtures/agent-turns-exact.json' with { type: 'json' };
import twoStage from '../fixtures/exact-two-stage.json' with { type: 'json' };
import { fixture, POLICIES, policyFile, sample, trajectoriesOf } from '../helpers/agent-turns.ts';

const near = (got: number | null | undefined, want: number, relative = 1e-10) =>
  expect(Math.abs(got! - want), `${got} against ${want}`).toBeLessThanOrEqual(
    relative * Math.max(1, Math.abs(want)),
  );

const turns = trajectoriesOf(sample());

test.each(POLICIES)('500 rollouts of agent-turns-exact: %s', (name) => {
  const want = exact.sample[name];
  const ratios = logRatiosFromPolicyFile(turns, policyFile(name));
  const result = evaluate(ratios);
  const of = (estimator: string) => result.estimates.find((e) => e.estimator === estimator)!;
  near(result.behaviour.value, exact.mean_return);
  near(result.behaviour.seNaive, exact.se_return);
  near(of('IS').value, want.IS);
  near(of('IS').seNaive, want.IS_se);
  near(of('WIS').value, want.SNIS);
  near(of('PDIS').value, want.PDIS);
  near(of('PDIS').seNaive, want.PDIS_se);
  // Every rollout is its own cluster: CR1 is the usual standard error.
  near(of('IS').se, want.IS_se * Math.sqrt(500 / 499));
  expect(of('IS').clusters).toBe(500);

  const w = episodeWeights(ratios);
  const stages = stageTable(w);
  stages.forEach((s, t) => {
    near(s.essCarried, want.ESS_carried_forward[t]!);
    near(s.essAlive, want.ESS_alive[t]!);
    expect(s.alive).toBe(want.n_alive[t]);
  });
  const summary = weightSummary(w);
  expect(summary.followers).toBe(want.n_followers);
  near(summary.largestWeight, want.max_w);
  near(summary.meanWeight, want.mean_w);
  near(stages.at(-1)!.meanWeight, want.mean_w);
  near(summary.ess, want.ESS_carried_forward.at(-1)!);
});

/** Two turns; features x1 at the first, x1, a1, x2 at the second; b is the probability of the logged action. */
function twoStageEpisodes(): EpisodeInput[] {
  return fixture('exact-two-stage-sample400.csv').map((row) => {
    const [id, x1, a1, r1, x2, a2, r2, b1, b2] = row.map(Number);
    const turn = (a: number, b: number, reward: number, features: number[]) => ({
      reward,
      action_class: String(a),
      behaviour_log_propensity: Math.log(b),
      features,
    });
    return {
      episode_id: String(id),
      ending: 'terminated',
      turns: [turn(a1!, b1!, r1!, [x1!, 0, 0]), turn(a2!, b2!, r2!, [x1!, a1!, x2!])],
    };
  });
}

const pick = (p1: number) => ({ '0': 1 - p1, '1': p1 });
const bits = [0, 1];
const twoStagePolicies = {
  behaviour: [
    ...bits.map((x1) => ({ when: { turn: 0, 'features.0': x1 }, probabilities: pick((1 + 2 * x1) / 4) })),
    ...bits.flatMap((a1) =>
      bits.map((x2) => ({
        when: { 'features.1': a1, 'features.2': x2 },
        probabilities: pick((1 + 2 * x2 + a1) / 5),
      })),
    ),
  ],
  optimal: [
    ...bits.map((x1) => ({ when: { turn: 0, 'features.0': x1 }, probabilities: pick(x1) })),
    ...bits.map((x2) => ({ when: { 'features.2': x2 }, probabilities: pick(x2) })),
  ],
  always_1: [{ probabilities: pick(1) }],
  always_0: [{ probabilities: pick(0) }],
  soft: [
    { when: { turn: 0 }, probabilities: pick(0.5) },
    ...bits.map((x2) => ({ when: { 'features.2': x2 }, probabilities: pick(x2 === 1 ? 0.75 : 0.25) })),
  ],
};

test.each(Object.keys(twoStagePolicies) as (keyof typeof twoStagePolicies)[])(
  '400 rollouts of exact-two-stage, known propensities: %s',
  (name) => {
    const want = twoStage.sample400[name];
    const file = checkPolicyFile({ policy: name, trained_on: 'none', rules: twoStagePolicies[name] });
    const ratios = logRatiosFromPolicyFile(trajectoriesOf(twoStageEpisodes()), file);
    const result = evaluate(ratios);
    const of = (estimator: string) => result.estimates.find((e) => e.estimator === estimator)!;
    near(of('IS').value, want.IS);
    near(of('IS').seNaive, want.IS_se);
    near(of('PDIS').value, want.PDIS);
    near(of('PDIS').seNaive, want.PDIS_se);
    near(of('WIS').value, want.SNIS_trajectory);
    near(of('WIS').seNaive, want.SNIS_se_linearised);
    for (const convention of ['carried', 'alive', 'alive-mean-over-n'])
      near(of(`WPDIS ${convention}`).value, want.CWPDIS);
    const w = episodeWeights(ratios);
    const [first, second] = stageTable(w);
    near(first!.essCarried, want.ESS_stage1);
    near(second!.essCarried, want.ESS_stage2);
    near(second!.meanWeight, want.mean_w);
    near(weightSummary(w).largestWeight, want.max_w);
    expect(of('WPDIS alive').interval).not.toBeNull(); // of one length the conventions agree
  },
);
