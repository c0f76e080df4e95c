/*
 * Outcomes that the logs do not show: failures that nobody scored, rollouts cut off from outside. The truth is
 * known because the whole log is made first and then hidden in part.
 */
import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { Audit } from '../../src/schema/audit.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf, uniform } from '../helpers/agent-turns.ts';
import { logs, reasons } from '../helpers/two-coins.ts';

const target = (a: number) =>
  checkPolicyFile({
    policy: 'p',
    trained_on: 'none',
    rules: [{ probabilities: { a, b: 1 - a } }],
  });
type Seen = Pick<EpisodeInput, 'ending' | 'reward'>;
/** n episodes of one turn in 60 tasks, a or b by a coin; what of each is seen. */
function run(n: number, a: number, seen: (action: string, u: () => number, i: number) => Seen) {
  const u = uniform(11);
  const episodes: EpisodeInput[] = Array.from({ length: n }, (_, i) => {
    const action_class = u() < 0.5 ? 'a' : 'b';
    return {
      episode_id: `e${i}`,
      task_id: `t${i % 60}`,
      ...seen(action_class, u, i),
      turns: [{ action_class, behaviour_log_propensity: -Math.LN2 }],
    };
  });
  return audit(logRatiosFromPolicyFile(trajectoriesOf(episodes), target(a)), { range: [0, 1] });
}
const codes = (a: Audit) => a.reasons.map((r) => `${r.verdict} ${r.code}`);
const scored = (reward: number): Seen => ({ ending: 'terminated', reward });
const unscored: Seen = { ending: 'unfinished', reward: null };

test('failures that lose their reward: refused, and the bounds hold the value of all episodes, .3', () => {
  const a = run(2000, 0.6, (_, u) => {
    const s = u();
    return s < 0.3 ? scored(1) : s < 0.4 ? scored(0) : unscored;
  });
  expect(codes(a)).toContain('refused missing-returns');
  const r = a.reasons.find((x) => x.code === 'missing-returns')!;
  expect(r.value!).toBeGreaterThan(0.55);
  expect(r.value!).toBeLessThan(0.65);
  expect(r.message).toMatch(
    /^1,\d{3} of 2,000 episodes that were not aborted have no return \(\d\d %, with \d\d % of the target’s weight\)/,
  );
  const wis = a.evaluation!.estimates.find((e) => e.estimator === 'WIS')!;
  expect(wis.value!).toBeGreaterThan(0.7); // what the ones with a return say
  const { lo, hi, method } = a.evaluation!.bounds!;
  expect(lo).toBeLessThan(0.3);
  expect(lo).toBeGreaterThan(0.15);
  expect(hi).toBeGreaterThan(0.85); // at most 1 − .1, if none of the unscored failed
  expect(method).toMatch(/the returns of 1,\d{3} episodes without one and 0 cut short count as unknown/);
  expect(a.next.join(' ')).toMatch(/failures too/);
  expect(Audit.parse(JSON.parse(JSON.stringify(a)))).toEqual(a);
});

test('tasks of which no episode has a return widen the bounds too', () => {
  // Of 60 tasks, 40 always succeed and are scored; the other 20 always fail and are not: the value is 2/3.
  const a = run(1200, 0.5, (_, __, i) => (i % 60 < 40 ? scored(1) : unscored));
  expect(a.evaluation!.clusters).toBe(40);
  expect(a.evaluation!.bounds!.lo).toBeLessThan(2 / 3);
  expect(a.evaluation!.bounds!.method).toMatch(/^betting on 60 tasks/);
});

test.each([
  [2, []], // .1 %, and the interval is ± 2.2 %
  [50, ['weak missing-returns']], // 2.5 %, more than a fifth of the half-width
  [200, ['weak missing-returns']], // 10 %
  [600, ['refused missing-returns']], // 30 %
])('%s of 2,000 without a return: %s', (missing, want) => {
  const a = run(2000, 0.5, (_, u, i) => (i < missing ? unscored : scored(u() < 0.5 ? 1 : 0)));
  expect(codes(a)).toEqual(want);
});

test('aborted episodes are another matter: weak above a fifth, in their own denominator', () => {
  const at = (aborted: number) =>
    run(2000, 0.5, (_, u, i) =>
      i < aborted ? { ending: 'aborted', reward: null } : scored(u() < 0.5 ? 1 : 0),
    );
  expect(codes(at(300))).toEqual([]);
  const a = at(1200);
  expect(codes(a)).toEqual(['weak many-aborted']);
  expect(a.reasons[0]!.message).toMatch(/^1,200 of all 2,000 were aborted \(60 %\)/);
  expect(a.evaluation!.episodes).toMatchObject({ used: 800, withoutReturn: 1200, aborted: 1200 });
  // They say nothing, so the bounds are those of the others alone.
  expect(a.evaluation!.bounds!.method).not.toMatch(/unknown/);
});

test('aborted and missing ones are told apart in one sentence', () => {
  const a = run(1000, 0.5, (_, u, i) =>
    i < 100 ? { ending: 'aborted', reward: null } : i < 190 ? unscored : scored(u() < 0.5 ? 1 : 0),
  );
  expect(codes(a)).toEqual(['weak missing-returns']); // 90 of 900, not of 1,000
  expect(a.reasons[0]!.value).toBeCloseTo(0.1, 12);
  expect(a.reasons[0]!.message).toMatch(
    /^90 of 900 episodes .* \(10 %, with 10 % of the target’s weight\) and are left out; 100 of all 1,000 were aborted/,
  );
});

test('outside cuts that decide the value: refused, and the bounds hold what uncut rollouts earn', () => {
  // a always succeeds when left to run, b by a coin: .6 · 1 + .4 · .5 = .8. Nine in ten of a are cut before it is paid.
  const a = run(1200, 0.6, (action, u) =>
    action === 'b' ? scored(u() < 0.5 ? 1 : 0) : u() < 0.9 ? { ending: 'truncated', reward: 0 } : scored(1),
  );
  expect(codes(a)).toContain('refused cut-short');
  expect(a.evaluation!.estimates.find((e) => e.estimator === 'WIS')!.value!).toBeLessThan(0.35);
  expect(a.evaluation!.bounds!.hi).toBeGreaterThan(0.8);
  expect(a.evaluation!.bounds!.lo).toBeLessThan(0.8);
  const { message, value } = a.reasons.find((r) => r.code === 'cut-short')!;
  expect(value!).toBeCloseTo(a.evaluation!.episodes.cutShortWeight!, 12); // .54 of the weight, .45 by count
  expect(message).toMatch(
    /of 1,200 episodes were cut short, .* \(4\d %, with 5\d % of the target’s weight\)/,
  );
  expect(a.next.join(' ')).toMatch(/as the ending "limit"/);
});

test('a target that goes where the cuts are: by its weight, not only by count', () => {
  // a tenth of the a's is cut: 5 % of the episodes, and for a target of a alone 10 % of its weight.
  const cut = (a: number, share: number) =>
    run(3000, a, (action, u) =>
      action === 'a' && u() < share ? { ending: 'unfinished', reward: 0 } : scored(u() < 0.5 ? 1 : 0),
    );
  expect(codes(cut(0.5, 0.005))).toEqual([]);
  // 4 % of the weight may shift the value by more than a fifth of ± 1.8 %.
  expect(cut(0.5, 0.08).reasons[0]!.message).toMatch(
    /may shift the value by 0\.0\d+, and the interval is ± 0\.01\d/,
  );
  const weak = cut(0.9, 0.08);
  expect(codes(weak)).toEqual(['weak cut-short']);
  const { used, cutShort, cutShortWeight } = weak.evaluation!.episodes;
  expect(cutShort / used).toBeLessThan(0.05);
  expect(cutShortWeight!).toBeGreaterThan(0.05);
  expect(codes(cut(0.9, 0.3))).toEqual(['refused cut-short']); // .15 by count, .27 by weight
});

test('a turn limit is part of the task, not a cut', () => {
  const a = run(1200, 0.5, (_, u) => ({ ending: 'limit', reward: u() < 0.5 ? 1 : 0 }));
  expect(codes(a)).toEqual([]);
});

test('loaded, scanned and on the command line alike', async () => {
  const hidden = (change: (i: number) => object) => logs.map((e, i) => ({ ...e, ...change(i) }));
  const some = (i: number, one: number) => Math.floor(i / 40) < one; // rollouts of every task
  expect(await reasons({ episodes: hidden(() => ({})) })).toEqual([]);
  expect(
    await reasons({ episodes: hidden((i) => (some(i, 2) ? { ending: 'unfinished', reward: null } : {})) }),
  ).toContain('refused missing-returns');
  expect(await reasons({ episodes: hidden((i) => (some(i, 2) ? { ending: 'truncated' } : {})) })).toContain(
    'refused cut-short',
  );
});

test('what the target would not have done is not held against it', () => {
  // Unscored where b was taken, and the target always takes a: no weight.
  const a = run(2000, 1, (action, u) =>
    action === 'b' && u() < 0.05 ? unscored : scored(u() < 0.5 ? 1 : 0),
  );
  expect(a.evaluation!.episodes.withoutReturn).toBeGreaterThan(30);
  expect(a.evaluation!.episodes.missingWeight).toBe(0);
  expect(codes(a)).toEqual([]);
  // The same of a: half of its weight.
  const b = run(2000, 1, (action, u) => (action === 'a' && u() < 0.1 ? unscored : scored(u() < 0.5 ? 1 : 0)));
  expect(b.evaluation!.episodes.missingWeight!).toBeGreaterThan(0.08);
  expect(b.evaluation!.episodes.missingWeight!).toBeLessThan(0.12);
  expect(codes(b)).toEqual(['weak missing-returns']);
});
