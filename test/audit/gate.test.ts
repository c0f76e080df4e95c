import { describe, expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { compareRatios } from '../../src/audit/compare-targets.ts';
import { gate, gateOf } from '../../src/audit/gate.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';
import { differenceIn, logsOf, targetOf, type World } from '../helpers/one-choice.ts';

const WORSE: World = { logged: 0.8025, pays: { a: 0.7, b: 0.3 } };
const BETTER: World = { logged: 0.5, pays: { a: 0.7, b: 0.3 } };
const ALIKE: World = { logged: 0.7, pays: { a: 0.5, b: 0.5 } };

const audited = (episodes: EpisodeInput[], ...p: number[]) =>
  p.map((x) => audit(logRatiosFromPolicyFile(trajectoriesOf(episodes), targetOf(x))));

describe('a policy that is known to be worse', () => {
  const [found] = audited(logsOf(WORSE, 2000, 1), 0.5);
  test('is supported, and its difference of −.121 is told', () => {
    expect(differenceIn(WORSE, 0.5)).toBeCloseTo(-0.121, 12);
    expect(found!.verdict).toBe('supported');
    const { lo, hi } = found!.evaluation!.difference!.interval!;
    expect([lo <= -0.121, hi >= -0.121]).toEqual([true, true]);
  });
  test('passes no gate but one with room for it', () => {
    expect(gate(found!, { better: 0 })).toMatchObject({
      passed: false,
      reason: expect.stringContaining('not above 0'),
    });
    expect(gate(found!, { notWorse: 0.05 }).passed).toBe(false);
    expect(gate(found!, { notWorse: 0.3 }).passed).toBe(true);
    expect(gate(found!, { better: 0, notWorse: 0.3 }).passed).toBe(false);
  });
});

test('one that is better passes, up to its margin', () => {
  expect(differenceIn(BETTER, 0.9)).toBeCloseTo(0.16, 12);
  const runs = Array.from({ length: 40 }, (_, s) => audited(logsOf(BETTER, 1000, s), 0.9)[0]!);
  expect(runs.filter((a) => gate(a, { better: 0 }).passed).length).toBeGreaterThanOrEqual(39);
  expect(runs.filter((a) => gate(a, { notWorse: 0.02 }).passed).length).toBeGreaterThanOrEqual(39);
  // True at a margin of .16: 2.5 % and four binomial errors of 40.
  expect(runs.filter((a) => gate(a, { better: 0.16 }).passed).length).toBeLessThanOrEqual(4);
});

test('at a true difference of 0 at most 2.5 % pass, of one target and of the best of several', () => {
  expect(differenceIn(ALIKE, 0.45)).toBeCloseTo(0, 12);
  let [one, best] = [0, 0];
  const sets = 120;
  for (let s = 0; s < sets; s++) {
    const t = trajectoriesOf(logsOf(ALIKE, 300, 1000 + s));
    const ratios = [0.9, 0.5, 0.3].map((p) => logRatiosFromPolicyFile(t, targetOf(p)));
    if (gate(audit(ratios[0]!), { better: 0 }).passed) one++;
    const compared = compareRatios(ratios, { replicates: 200 });
    if (compared.policies.some(({ policy }) => gateOf(compared, policy, { better: 0 }).passed)) best++;
  }
  const most = sets * 0.025 + 3 * Math.sqrt(sets * 0.025 * 0.975);
  expect(one).toBeLessThanOrEqual(most);
  // One target with more of `a` and two with less: either sign of luck lets one pass.
  expect(best).toBeLessThanOrEqual(sets * 0.05 + 3 * Math.sqrt(sets * 0.05 * 0.95));
});

test('weak, refused, without spread: no gate passes', () => {
  const t = trajectoriesOf(simulated(200, 5, 2));
  const weak = audit(logRatiosFromPolicyFile(t, policyFile('soft', 'unknown')));
  expect([weak.verdict, gate(weak, { notWorse: 1 }).passed]).toEqual(['weak', false]);
  const refused = audit(logRatiosFromPolicyFile(t, policyFile('patient')));
  expect([refused.verdict, gate(refused, { notWorse: 1 }).passed]).toEqual(['refused', false]);
  const same = audit(logRatiosFromPolicyFile(trajectoriesOf(simulated(200, 5, 2)), policyFile('behaviour')));
  expect(gate(same, { notWorse: 1 })).toMatchObject({
    passed: false,
    reason: expect.stringContaining('has no interval'),
  });
});

test('several are judged by the simultaneous interval, and pass together', () => {
  const t = trajectoriesOf(logsOf(BETTER, 2000, 3));
  const compared = compareRatios([0.9, 0.6].map((p) => logRatiosFromPolicyFile(t, targetOf(p))));
  const { simultaneous } = compared.band!.values.find((v) => v.against === 'behaviour')!;
  const lo = simultaneous!.lo;
  const first = compared.policies[0]!.policy;
  expect(gateOf(compared, first, { better: Math.max(0, lo - 1e-9) }).passed).toBe(true);
  expect(gateOf(compared, first, { better: lo + 1e-9 }).passed).toBe(false);
  expect(gate(compared, { better: 0 }).passed).toBe(true);
  expect(gate(compared, { better: lo - 1e-9 }).passed).toBe(false); // the second is not so much better
});

test('a rule without a margin, or with one below 0, is refused', () => {
  const [found] = audited(logsOf(WORSE, 50, 1), 0.5);
  expect(() => gate(found!, {})).toThrow('has no rule');
  expect(() => gate(found!, { notWorse: -1 })).toThrow('is no margin');
});

test('the generator pays as it says', () => {
  const logs = logsOf(BETTER, 4000, 9);
  const a = logs.filter((e) => e.turns[0]!.action_class === 'a');
  expect(Math.abs(a.length / 4000 - 0.5)).toBeLessThan(0.03);
  expect(Math.abs(a.filter((e) => e.reward === 1).length / a.length - 0.7)).toBeLessThan(0.05);
});
