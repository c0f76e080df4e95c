/*
 * A target that was trained on the logs it is evaluated on. Rewards here are coin tosses that no
 * action moves: every policy is worth ½. A target tilted, per episode type and turn, towards the
 * actions that happened to be rewarded looks better on the same logs, with a mean weight near 1 and
 * a fine effective sample size.
 */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf, uniform } from '../helpers/agent-turns.ts';

const TURNS = 3;
const TYPES = 40;
const TASKS = 200;
const u = uniform(11);
const episodes: EpisodeInput[] = Array.from({ length: 2000 }, (_, i) => {
  const type = Math.floor(u() * TYPES);
  return {
    episode_id: `e${i}`,
    task_id: `t${i % TASKS}`,
    reward: u() < 0.5 ? 1 : 0,
    turns: Array.from({ length: TURNS }, () => ({
      action_class: u() < 0.5 ? 'a' : 'b',
      behaviour_log_propensity: -Math.LN2,
      features: [type],
    })),
  };
});
const tasks = Array.from({ length: TASKS }, (_, i) => `t${i}`);

/** The policy that reward-weighted imitation of some tasks gives, and what it says of its training. */
function tilted(train: readonly string[], trained_on: unknown) {
  const seen = episodes.filter((e) => train.includes(e.task_id!));
  const rules = Array.from({ length: TYPES * TURNS }, (_, k) => {
    const [type, turn] = [k % TYPES, Math.floor(k / TYPES)];
    const reward = (action: string) => {
      const rows = seen.filter(
        (e) => e.turns[turn]!.features![0] === type && e.turns[turn]!.action_class === action,
      );
      return rows.reduce((total, e) => total + e.reward!, 0) / Math.max(1, rows.length);
    };
    const a = reward('a') > reward('b') ? 0.75 : 0.25;
    return { when: { turn, 'features.0': type }, probabilities: { a, b: 1 - a } };
  });
  return checkPolicyFile({ policy: 'tilted', trained_on, rules });
}
const run = (file: ReturnType<typeof tilted>) =>
  audit(logRatiosFromPolicyFile(trajectoriesOf(episodes), file));
const wis = (a: ReturnType<typeof run>) => a.evaluation!.estimates.find((e) => e.estimator === 'WIS')!;

test('said to be trained elsewhere, it passes every other alarm and is wrong: this is why a target must say', () => {
  const a = run(tilted(tasks, 'none'));
  expect(a.verdict).toBe('supported');
  expect(Math.abs(a.weights!.meanWeight! - 1)).toBeLessThan(0.05);
  expect(wis(a).interval!.lo).toBeGreaterThan(0.5);
});

test('trained on all of these tasks: refused by name', () => {
  const a = run(tilted(tasks, { tasks }));
  expect(a.verdict).toBe('refused');
  expect(a.reasons[0]).toMatchObject({ code: 'trained-on-these-logs' });
  expect(a.evaluation).toBeNull();
});

test('all but a few: refused for what is left', () => {
  const a = run(tilted(tasks, { tasks: tasks.slice(3) }));
  expect(a.verdict).toBe('refused');
  expect(a.reasons[0]).toMatchObject({ code: 'trained-on-these-logs', value: 3, threshold: 5 });
});

test('trained on half: moved to the other half, where no improvement beyond error is left', () => {
  const half = tasks.slice(0, TASKS / 2);
  const a = run(tilted(half, { tasks: half }));
  expect(a.evaluation!.episodes).toMatchObject({
    used: 1000,
    withoutReturn: 0,
    trainedOn: 1000,
    total: 2000,
  });
  expect(a.evaluation!.clusters).toBe(100);
  expect(a.warnings.find((w) => w.code === 'held-out')).toMatchObject({ count: 1000 });
  expect(wis(a).interval!.lo).toBeLessThan(0.5);
  expect(wis(a).interval!.hi).toBeGreaterThan(0.5);
});

test('unknown: at best weak', () => {
  expect(run(tilted(tasks, 'unknown')).verdict).toBe('weak');
});
