/* What the arithmetic does to weights is no finding: propensities rounded in the log, tasks whose sums agree. */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

/** n one-turn episodes, each task with the actions in turn, each action with its logged propensity. */
function oneTurn(n: number, tasks: number, log: Readonly<Record<string, number>>): EpisodeInput[] {
  const actions = Object.keys(log);
  return Array.from({ length: n }, (_, i) => {
    const action = actions[Math.floor(i / tasks) % actions.length]!;
    return {
      episode_id: `e${i}`,
      task_id: `t${i % tasks}`,
      reward: 1,
      turns: [{ action_class: action, behaviour_log_propensity: log[action]! }],
    };
  });
}
function run(episodes: EpisodeInput[], probabilities: Record<string, number>) {
  const file = checkPolicyFile({ policy: 'p', trained_on: 'none', rules: [{ probabilities }] });
  return audit(logRatiosFromPolicyFile(trajectoriesOf(episodes), file));
}
const reason = (a: ReturnType<typeof run>, code: string) => a.reasons.find((r) => r.code === code);
/** log ½ as a log file has it. */
const half = (digits: number): number => Number((-Math.LN2).toFixed(digits));
const even = { a: 0.5, b: 0.5 };

test.each([
  ['six digits', { a: half(6), b: half(6) }],
  ['five digits, not alike', { a: half(5), b: half(6) }],
  ['seven digits, below', { a: half(7), b: half(7) }],
])('rounded propensities are fine: %s', (_, log) => {
  const a = run(oneTurn(2000, 100, log), even);
  expect(a.reasons.map((r) => r.code)).toEqual(['few-events']); // every return is 1
  for (const e of a.evaluation!.estimates)
    expect(e.warnings.map((w) => w.code)).not.toContain('outside-range');
});

test('weights all alike and off 1 need no standard error to be wrong', () => {
  const a = run(oneTurn(2000, 100, { a: -0.7, b: -0.7 }), even);
  expect(a.stages[0]!.z).toBeNull();
  expect(reason(a, 'mean-weight')!.message).toMatch(/mean weight at turn 0 is 1\.0069, without any spread/);
});

test('tasks whose sums agree though their weights differ: no test with too few of them', () => {
  // Weights 0.5 and 1.31, mean 0.905, the same in every task.
  const log = { a: Math.log(0.5 / 0.5), b: Math.log(0.5 / 1.31) };
  const a = run(oneTurn(20, 2, log), even);
  expect(a.stages[0]!.meanWeight).toBeCloseTo(0.905, 12);
  expect(a.stages[0]!.z).toBeNull();
  expect(reason(a, 'mean-weight')).toBeUndefined();
  expect(reason(a, 'too-few-tasks')).toMatchObject({ verdict: 'refused', value: 2 });
});

test('… and with enough of them the error over episodes stands in', () => {
  const log = { a: Math.log(0.5 / 1), b: Math.log(0.5 / 0.81) };
  const of = (n: number) => reason(run(oneTurn(n, 10, log), even), 'mean-weight');
  // Weights 1 and 0.81: mean 0.905, SD 0.095, so z = −√n over episodes; the limit of t(9) is above 4.
  expect(of(20)!.message).toMatch(/0\.905, 4\.5 standard errors/);
  expect(of(20)!.value!).toBeCloseTo(-Math.sqrt(20), 6);
  const mild = { a: Math.log(0.5 / 0.5), b: Math.log(0.5 / 1.31) };
  expect(reason(run(oneTurn(20, 10, mild), even), 'mean-weight')).toBeUndefined();
});
