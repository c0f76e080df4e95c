/* Rewards on any scale have an interval; where there is no error, or one of 0, the verdict does not claim one. */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import type { LogRatios } from '../../src/weights/ratios.ts';
import { trajectoriesOf, uniform } from '../helpers/agent-turns.ts';

/** 40 tasks, 10 rollouts of a turn each, a or b by a coin. */
function run(G: (u: () => number, i: number) => number, a = 0.6, change: Partial<LogRatios> = {}) {
  const u = uniform(5);
  const episodes: EpisodeInput[] = Array.from({ length: 400 }, (_, i) => ({
    episode_id: `e${i}`,
    task_id: `t${i % 40}`,
    ending: 'terminated',
    reward: G(u, i),
    turns: [{ action_class: u() < 0.5 ? 'a' : 'b', behaviour_log_propensity: -Math.LN2 }],
  }));
  const file = checkPolicyFile({
    policy: 'p',
    trained_on: 'none',
    rules: [{ probabilities: { a, b: 1 - a } }],
  });
  return audit({ ...logRatiosFromPolicyFile(trajectoriesOf(episodes), file), ...change });
}
const codes = (x: ReturnType<typeof run>) => x.reasons.map((r) => `${r.verdict} ${r.code}`);

test.each([2 ** -570, 2 ** 320])('rewards × %s: the same verdict, every interval × the same', (scale) => {
  const one = run((u) => u());
  const scaled = run((u) => u() * scale);
  expect(one.verdict).toBe('supported');
  expect(codes(scaled)).toEqual([]);
  expect(scaled.weights!.events).toBeCloseTo(one.weights!.events!, 8);
  for (const [k, e] of one.evaluation!.estimates.entries()) {
    if (!['IS', 'WIS', 'PDIS', 'WPDIS carried'].includes(e.estimator)) continue;
    const other = scaled.evaluation!.estimates[k]!;
    expect(other.se! / scale, e.estimator).toBeCloseTo(e.se!, 12);
    expect(other.interval!.lo / scale).toBeCloseTo(e.interval!.lo, 12);
    expect(other.interval!.hi / scale).toBeCloseTo(e.interval!.hi, 12);
  }
});

test('rewards beyond 1e100 are of no use: where all are, no episode with a return is left', () => {
  for (const size of [1.7e308, 2 ** 520])
    expect(() => run((u) => (u() < 0.5 ? size : -size), 0.6, { table: null })).toThrow(
      /no turn of an episode with a return/,
    );
});

test('an error of exactly 0 though returns differ is weak: tasks made alike', () => {
  // Every task has five successes and five failures, so no task differs from the mean.
  const a = run((_, i) => Math.floor(i / 40) % 2, 0.5);
  const wis = a.evaluation!.estimates.find((e) => e.estimator === 'WIS')!;
  expect([wis.value, wis.se, a.weights!.events]).toEqual([0.5, 0, null]);
  expect(new Set(codes(a))).toEqual(new Set(['weak no-standard-error']));
});
