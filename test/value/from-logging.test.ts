import { expect, test } from 'vitest';
import { permitIntervals } from '../../src/audit/permit-intervals.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { policyBand } from '../../src/value/policy-band.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const ratiosOf = (name: Parameters<typeof policyFile>[0], episodes: EpisodeInput[]) =>
  logRatiosFromPolicyFile(trajectoriesOf(episodes), policyFile(name));

test('the difference is that of the band, paired, and narrower than the value', () => {
  const ratios = ratiosOf('soft', simulated(100, 5, 3));
  const e = evaluate(ratios);
  const [, second] = policyBand([ratios]).values;
  expect(e.difference).toEqual(second!.estimate);
  const value = e.estimates.find((x) => x.estimator === 'WPDIS carried')!;
  expect(e.difference!.value).toBeCloseTo(value.value! - e.behaviour.value!, 12);
  expect(e.difference!.se!).toBeLessThan(0.9 * Math.hypot(value.se!, e.behaviour.se!));
});

test('by hand, one turn: ψ_i = w_i (G_i − V̂)/w̄ − (G_i − Ḡ), CR1 over episodes without tasks', () => {
  const rows = [
    ['a', 1],
    ['a', 0],
    ['b', 1],
    ['a', 1],
    ['b', 0],
    ['b', 0],
    ['a', 1],
  ] as const;
  const episodes: EpisodeInput[] = rows.map(([action_class, reward], i) => ({
    episode_id: `e${i}`,
    reward,
    turns: [{ action_class, behaviour_log_propensity: Math.log(0.5) }],
  }));
  const { difference } = evaluate(
    logRatiosFromPolicyFile(trajectoriesOf(episodes), {
      policy: 'mostly a',
      trained_on: 'none',
      logprob_kind: 'propensity',
      rules: [{ when: {}, probabilities: { a: 0.75, b: 0.25 } }],
    }),
  );
  const w = rows.map(([c]) => (c === 'a' ? 1.5 : 0.5));
  const total = w.reduce((s, x) => s + x, 0);
  const value = rows.reduce((s, [, g], i) => s + w[i]! * g, 0) / total;
  const mean = 4 / 7;
  const psi = rows.map(([, g], i) => (7 * w[i]! * (g - value)) / total - (g - mean));
  expect(difference!.value).toBeCloseTo(value - mean, 12);
  expect(difference!.se).toBeCloseTo(Math.sqrt(((7 / 6) * psi.reduce((s, x) => s + x * x, 0)) / 49), 12);
  expect(difference!.interval!.method).toBe('CR1-t, 6 degrees of freedom');
});

test('the logging policy itself: exactly 0, no interval, and it says so', () => {
  const { difference } = evaluate(ratiosOf('behaviour', simulated(40, 3, 5)));
  expect(difference).toMatchObject({ value: 0, se: 0, interval: null });
  expect(difference!.warnings.map((w) => w.message).join()).toContain('is the logging policy');
});

test('returns that are all alike show no error: no interval of width 0', () => {
  const alike = simulated(40, 3, 5).map((e) => ({
    ...e,
    reward: 1,
    turns: e.turns.slice(0, 1).map(({ reward: _, ...t }) => t),
  }));
  const { difference, behaviour, estimates } = evaluate(ratiosOf('soft', alike));
  expect(difference!.interval).toBeNull();
  expect(difference!.warnings.map((w) => w.code)).toContain('no-spread');
  expect(behaviour.interval).toMatchObject({
    lo: expect.closeTo(0.025 ** (1 / behaviour.clusters), 12),
    hi: 1,
  });
  for (const { interval } of estimates)
    if (interval !== null) expect(interval.hi - interval.lo).toBeGreaterThan(1e-9);
  const half = alike.map((e) => ({ ...e, reward: 0.5 }));
  const other = evaluate(ratiosOf('soft', half)).behaviour;
  expect(other.interval).toBeNull();
  expect(other.warnings.map((w) => w.code)).toContain('no-spread');
});

test('permitted as other intervals are: none where refused, labelled where weak', () => {
  const e = evaluate(ratiosOf('soft', simulated(400, 5, 5)));
  expect(e.difference!.support!.verdict).toBe('supported');
  expect(permitIntervals(e, 'supported').difference).toEqual(e.difference);
  expect(permitIntervals(e, 'refused').difference).toBeNull();
  expect(permitIntervals(e, 'weak').difference!.interval!.method).toContain('coverage not claimed');
  // Of few tasks its own influence values do not bear it, whatever the weights.
  const few = evaluate(ratiosOf('soft', simulated(40, 3, 5)));
  expect(few.difference!.events!).toBeLessThan(25);
  expect(permitIntervals(few, 'supported').difference!.interval!.method).toContain(
    'weak support of its own, coverage not claimed',
  );
});
