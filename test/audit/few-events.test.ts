/* Rare outcomes: no weight shows that an interval rests on a handful of them. */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf, uniform } from '../helpers/agent-turns.ts';

const file = checkPolicyFile({
  policy: 'p',
  trained_on: 'none',
  rules: [{ probabilities: { a: 0.7, b: 0.3 } }],
});
/** n tasks of one turn, a or b by a coin, reward 1 with chance p. */
function run(n: number, p: number, seed: number) {
  const u = uniform(seed);
  const episodes: EpisodeInput[] = Array.from({ length: n }, (_, i) => ({
    episode_id: `e${i}`,
    reward: u() < p ? 1 : 0,
    turns: [{ action_class: u() < 0.5 ? 'a' : 'b', behaviour_log_propensity: -Math.LN2 }],
  }));
  return audit(logRatiosFromPolicyFile(trajectoriesOf(episodes), file));
}

test('equal weights of one binary outcome: tasks over squared skewness is n p q / (1 − 2p)²', () => {
  const even = checkPolicyFile({ policy: 'p', trained_on: 'none', rules: [{ probabilities: { a: 1 } }] });
  const episodes: EpisodeInput[] = Array.from({ length: 1000 }, (_, i) => ({
    episode_id: `e${i}`,
    reward: i < 30 ? 1 : 0,
    turns: [{ action_class: 'a', behaviour_log_propensity: 0 }],
  }));
  const a = audit(logRatiosFromPolicyFile(trajectoriesOf(episodes), even));
  expect(a.weights!.events).toBeCloseTo((1000 * 0.03 * 0.97) / 0.94 ** 2, 8);
});

test('no outcome at all is weak, however large the sample: an error of 0 says nothing', () => {
  const a = run(2000, 0, 1);
  expect(a.weights!.events).toBe(0);
  expect(a.reasons.map((r) => r.code)).toEqual(['few-events']);
  expect(a.next.join(' ')).toMatch(/About 50,?000 episodes/);
});

test('at a rate of 1 %, 400 tasks are weak and miss too often; 8,000 are not and do not', () => {
  /** Share of samples whose interval misses, and whose audit has the reason. */
  const study = (n: number, runs: number) => {
    const audits = Array.from({ length: runs }, (_, seed) => run(n, 0.01, (seed + 1) * 7919));
    const missed = audits.filter((a) => {
      const { value, se } = a.evaluation!.estimates.find((e) => e.estimator === 'WIS')!;
      return Math.abs(value! - 0.01) > 1.966 * se!;
    });
    const told = audits.filter((a) => a.reasons.some((r) => r.code === 'few-events'));
    return { missed: missed.length / runs, told: told.length / runs };
  };
  const few = study(400, 200);
  expect(few.told).toBe(1);
  expect(few.missed).toBeGreaterThan(0.09); // where 5 % are claimed
  const many = study(8000, 15);
  expect(many.told).toBe(0);
  expect(many.missed).toBeLessThanOrEqual(0.27); // 5 of 15 or more at a rate of 6 %: 1 in 500
});
