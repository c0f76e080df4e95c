import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { Evaluation } from '../../src/schema/evaluation.ts';
import { estimators } from '../../src/value/estimators.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { POLICIES, policyFile, sample, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const run = (episodes: readonly EpisodeInput[], name: (typeof POLICIES)[number]) =>
  evaluate(logRatiosFromPolicyFile(trajectoriesOf(episodes), policyFile(name)));
const value = (e: Evaluation, name: string) => e.estimates.find((x) => x.estimator === name)!;
const near = (got: number, want: number, by = 1e-9) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );
const seed = fc.integer({ min: 1, max: 1e6 });
const target = fc.constantFrom(...POLICIES);

test('target = behaviour: IS = WIS = PDIS = WPDIS carried = mean return, ESS = n, no tail index', () => {
  const e = run(sample(), 'behaviour');
  for (const name of ['IS', 'WIS', 'PDIS', 'WPDIS carried']) {
    near(value(e, name).value!, e.behaviour.value!, 1e-12);
    expect(value(e, name).ess).toBe(500);
    expect(value(e, name).kHat).toBeNull();
  }
  near(value(e, 'IS').se!, e.behaviour.se!, 1e-12);
  expect(e.warnings.map((w) => w.code)).toContain('target-is-behaviour');
});

test.prop([seed, target], { numRuns: 20 })('permuting episodes changes nothing', (s, name) => {
  const episodes = simulated(20, 3, s);
  const a = run(episodes, name);
  const b = run([...episodes].reverse(), name);
  a.estimates.forEach((x, i) => {
    if (x.value === null) {
      expect(b.estimates[i]!.value).toBeNull();
      return;
    }
    near(b.estimates[i]!.value!, x.value);
    near(b.estimates[i]!.se!, x.se!);
  });
});

test.prop([seed, target], { numRuns: 20 })(
  'duplicating the data keeps estimates; as new tasks it shrinks the error by √2',
  (s, name) => {
    const episodes = simulated(20, 3, s);
    const copy = (suffix: string, task: (id: string) => string) =>
      episodes.map((e) => ({ ...e, episode_id: `${e.episode_id}${suffix}`, task_id: task(e.task_id!) }));
    const a = run(episodes, name);
    const same = run([...episodes, ...copy('b', (id) => id)], name);
    const more = run([...episodes, ...copy('b', (id) => `${id}b`)], name);
    a.estimates.forEach((x, i) => {
      if (x.value === null || !estimators.some((e) => e.name === x.estimator)) return; // other folds, another fit
      near(same.estimates[i]!.value!, x.value);
      near(same.estimates[i]!.se!, x.se!); // the same tasks twice say nothing new of new tasks
      near(more.estimates[i]!.value!, x.value);
      near(more.estimates[i]!.se!, (x.se! * Math.sqrt(19 / 39) * Math.sqrt(40 / 20)) / Math.sqrt(2));
      const width = ({ estimates }: Evaluation) => {
        const { interval } = estimates[i]!;
        return interval === null ? null : interval.hi - interval.lo;
      };
      if (width(a) === null) return;
      near(width(same)!, width(a)!);
      // By more than √2: 39 degrees of freedom for 19, t at .975 from tables.
      near(width(more)!, (width(a)! * 2.022690920036761 * Math.sqrt(19 / 39)) / 2.0930240544082634);
    });
  },
);

test.prop(
  [seed, target, fc.double({ min: 0.1, max: 10, noNaN: true }), fc.double({ min: -5, max: 5, noNaN: true })],
  { numRuns: 20 },
)(
  'a·G + b moves self-normalised values, and at the end of equal weights all, by the same map',
  (s, name, a, b) => {
    const episodes = simulated(20, 3, s);
    const moved = episodes.map((e) => ({
      ...e,
      turns: e.turns.map((t, k) => ({ ...t, reward: a * t.reward! + (k === e.turns.length - 1 ? b : 0) })),
    }));
    const [x, y] = [run(episodes, name), run(moved, name)];
    if (value(x, 'WIS').value === null) return;
    near(value(y, 'WIS').value!, a * value(x, 'WIS').value! + b);
    near(value(y, 'WIS').se!, a * value(x, 'WIS').se!);
    near(y.behaviour.value!, a * x.behaviour.value! + b);
    const scaled = run(
      episodes.map((e) => ({ ...e, turns: e.turns.map((t) => ({ ...t, reward: a * t.reward! })) })),
      name,
    );
    scaled.estimates.forEach((z, i) => {
      near(z.value!, a * x.estimates[i]!.value!);
    });
  },
);

test.prop([seed, target], { numRuns: 30 })('WIS stays within the logged returns', (s, name) => {
  const e = run(simulated(8, 2, s), name);
  const v = value(e, 'WIS').value;
  if (v === null) return;
  expect(v).toBeGreaterThanOrEqual(e.bounds!.range.lo - 1e-12);
  expect(v).toBeLessThanOrEqual(e.bounds!.range.hi + 1e-12);
  expect(value(e, 'WIS').warnings.map((w) => w.code)).not.toContain('outside-range');
});

test('relabelling the actions changes nothing', () => {
  const episodes = simulated(20, 3, 5);
  const name = (a: string) => `x-${a}`;
  const relabelled = episodes.map((e) => ({
    ...e,
    turns: e.turns.map((t) => ({ ...t, action_class: name(t.action_class!) })),
  }));
  const file = policyFile('soft');
  const renamed = checkPolicyFile({
    ...file,
    rules: file.rules.map((r) => ({
      ...r,
      probabilities: Object.fromEntries(Object.entries(r.probabilities).map(([a, p]) => [name(a), p])),
    })),
  });
  const a = evaluate(logRatiosFromPolicyFile(trajectoriesOf(episodes), file));
  const b = evaluate(logRatiosFromPolicyFile(trajectoriesOf(relabelled), renamed));
  expect(b.estimates).toEqual(a.estimates);
});

test('aborted episodes leave every average, with both counts shown', () => {
  const episodes = simulated(20, 3, 5);
  const more = [
    ...episodes,
    ...simulated(2, 3, 9).map((e) => ({ ...e, episode_id: `x${e.episode_id}`, ending: 'aborted' as const })),
  ];
  const a = run(episodes, 'soft');
  const b = run(more, 'soft');
  expect(b.estimates).toEqual(a.estimates);
  expect(b.episodes).toEqual({
    used: 60,
    withoutReturn: 6,
    aborted: 6,
    missingWeight: 0,
    cutShort: 0,
    cutShortWeight: 0,
    trainedOn: 0,
    total: 66,
  });
  expect(b.warnings.find((w) => w.code === 'without-return')?.count).toBe(6);
});

test('estimators of something else than the value get no interval where lengths differ', () => {
  const e = run(simulated(20, 3, 5), 'soft');
  for (const name of ['WPDIS alive', 'WPDIS alive-mean-over-n']) {
    expect(value(e, name).interval).toBeNull();
    expect(value(e, name).warnings.map((w) => w.code)).toContain('not-consistent');
  }
  for (const name of ['IS', 'WIS', 'PDIS', 'WPDIS carried']) expect(value(e, name).interval).not.toBeNull();
});

test('episodes that were cut short stay, and are counted in a warning', () => {
  const cut = simulated(20, 3, 5).map((e, i) => (i < 4 ? { ...e, ending: 'truncated' as const } : e));
  const e = run(cut, 'soft');
  expect(e.episodes.used).toBe(60);
  expect(e.warnings.find((w) => w.code === 'cut-short')?.count).toBe(4);
});

test('an episode without turns counts with weight 1 and its own reward', () => {
  const none = { episode_id: 'none', ending: 'terminated' as const, reward: 0.25, turns: [] };
  const e = run([none, ...sample()], 'behaviour');
  for (const name of ['IS', 'WIS', 'PDIS', 'WPDIS carried'])
    near(value(e, name).value!, e.behaviour.value!, 1e-12);
});

test('nobody follows: no value, and the reason', () => {
  const file = checkPolicyFile({
    policy: 'other',
    trained_on: 'none',
    rules: [{ probabilities: { jump: 1 } }],
  });
  const e = evaluate(logRatiosFromPolicyFile(trajectoriesOf(sample()), file));
  for (const x of e.estimates) {
    expect(x.value).toBeNull();
    expect(x.interval).toBeNull();
    expect(x.warnings[0]!.code).toBe('not-computed');
  }
});
