import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { auditWithoutBehaviour } from '../../src/audit/without-behaviour.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { Audit } from '../../src/schema/audit.ts';
import { AuditConfig } from '../../src/schema/audit-config.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import exact from '../fixtures/agent-turns-exact.json' with { type: 'json' };
import { type PolicyName, policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const episodes = simulated(200, 10, 4);
const logs = trajectoriesOf(episodes);
const run = (name: PolicyName, config = {}, t = logs) =>
  audit(logRatiosFromPolicyFile(t, policyFile(name)), config);
const codes = (a: Audit) => a.reasons.map((r) => `${r.verdict} ${r.code}`);

test('on 2,000 rollouts of 200 tasks: soft and eager supported, with the value in the interval; patient refused', () => {
  for (const name of ['behaviour', 'soft', 'eager'] as const) {
    const a = run(name);
    expect(a.verdict, name).toBe('supported');
    expect(a.reasons).toEqual([]);
    expect(a.next).toEqual([]);
    expect(a.usableHorizon).toBe(6);
    for (const estimator of ['IS', 'WIS', 'PDIS', 'WPDIS carried']) {
      const { interval } = a.evaluation!.estimates.find((e) => e.estimator === estimator)!;
      expect(interval!.lo).toBeLessThan(exact.policies[name].V);
      expect(interval!.hi).toBeGreaterThan(exact.policies[name].V);
    }
  }
  const a = run('patient');
  expect(a.verdict).toBe('refused');
  expect(codes(a)).toContain('refused thin-turn');
  expect(a.usableHorizon).toBeLessThan(6);
});

test('what is refused has no interval, but bounds, and says what to collect', () => {
  const { evaluation, next } = run('patient');
  for (const e of evaluation!.estimates) expect(e.interval).toBeNull();
  expect(evaluation!.bounds!.lo).toBeLessThanOrEqual(exact.policies.patient.V);
  expect(evaluation!.bounds!.hi).toBeGreaterThanOrEqual(exact.policies.patient.V);
  expect(evaluation!.behaviour.interval).not.toBeNull(); // the behaviour's own mean needs no weights
  expect(next.join(' ')).toMatch(/About [\d,]+ episodes over [\d,]+ tasks/);
});

test('what is weak has intervals that claim no coverage', () => {
  const a = audit(logRatiosFromPolicyFile(logs, policyFile('soft', 'unknown')));
  expect(a.verdict).toBe('weak');
  expect(codes(a)).toEqual(['weak trained-on-unknown']);
  for (const e of a.evaluation!.estimates)
    if (e.interval) expect(e.interval.method).toMatch(/weak support, coverage not claimed/);
  expect(a.warnings.map((w) => w.code)).toContain('trained-on-unknown');
});

test('a result is its own record: it passes its schema and survives JSON', () => {
  for (const name of ['soft', 'patient'] as const) {
    const a = run(name, { range: [-0.3, 1] });
    expect(Audit.parse(JSON.parse(JSON.stringify(a)))).toEqual(a);
    expect(a.config.minTasks).toBe(5);
  }
});

test('every threshold says why', () => {
  const { level, discount, range, ...thresholds } = AuditConfig.shape;
  for (const [name, schema] of Object.entries(thresholds))
    expect(schema.description?.length, name).toBeGreaterThan(20);
  expect([level, discount, range].every((s) => s.description !== undefined)).toBe(true);
});

test('wrong propensities: the mean weight leaves 1', () => {
  const halved = episodes.map((e) => ({
    ...e,
    turns: e.turns.map((t) => ({ ...t, behaviour_log_propensity: t.behaviour_log_propensity! - 0.05 })),
  }));
  const a = run('soft', {}, trajectoriesOf(halved));
  const reason = a.reasons.find((r) => r.code === 'mean-weight')!;
  expect(a.verdict).toBe('refused');
  expect(reason.value!).toBeGreaterThan(reason.threshold!);
  expect(a.next.join(' ')).toMatch(/re-score the behaviour/);
});

test('lack of support: rollouts that submit in state 1 are missing', () => {
  const t = trajectoriesOf(
    episodes.filter((e) => !e.turns.some((x) => x.action_class === 'submit' && x.features![0] === 1)),
  );
  const a = run('soft', {}, t);
  expect(codes(a)).toEqual(expect.arrayContaining(['refused mean-weight', 'refused unsupported-mass']));
  expect(a.reasons.find((r) => r.code === 'unsupported-mass')!.message).toMatch(/submit in rule/);
});

test('few tasks, whatever the episodes', () => {
  const t = trajectoriesOf(simulated(4, 250, 3));
  expect(codes(run('behaviour', {}, t))).toEqual(
    expect.arrayContaining(['refused too-few-tasks', 'refused low-task-ess']),
  );
});

test('a handful of effective tasks is weak', () => {
  const a = run('behaviour', {}, trajectoriesOf(simulated(20, 20, 3)));
  expect(codes(a)).toEqual(['weak few-task-ess']);
  expect(a.verdict).toBe('weak');
});

test('nobody follows', () => {
  const file = checkPolicyFile({
    policy: 'other',
    trained_on: 'none',
    rules: [{ probabilities: { jump: 1 } }],
  });
  const a = audit(logRatiosFromPolicyFile(logs, file));
  expect(codes(a)[0]).toBe('refused no-followers');
  expect(a.verdict).toBe('refused');
  expect(Audit.parse(JSON.parse(JSON.stringify(a)))).toEqual(a);
});

test('nobody follows at a turn that the target reaches, though every action has been seen there', () => {
  // 400 tasks; A or B by a coin; 22 go on to a second turn, where after A the logs hold only D, after B only C.
  const rows: EpisodeInput[] = Array.from({ length: 400 }, (_, i) => {
    const first = i % 2 === 0 ? 'A' : 'B';
    const turns = [{ action_class: first, behaviour_log_propensity: Math.log(0.5) }];
    if (i < 22)
      turns.push(
        first === 'A'
          ? { action_class: 'D', behaviour_log_propensity: Math.log(0.9) }
          : { action_class: 'C', behaviour_log_propensity: Math.log(0.1) },
      );
    return { episode_id: `e${i}`, task_id: `t${i}`, reward: i < 22 ? 0 : 1, turns };
  });
  const file = checkPolicyFile({
    policy: 'A then C',
    trained_on: 'none',
    rules: [
      { when: { turn: 0 }, probabilities: { A: 1 } },
      { when: { turn: 1 }, probabilities: { C: 1 } },
    ],
  });
  const a = audit(logRatiosFromPolicyFile(trajectoriesOf(rows), file));
  expect(a.unsupported!.mass).toBe(0);
  expect(Math.abs(a.stages[1]!.z!)).toBeLessThan(3);
  expect(a.stages[1]).toMatchObject({ followers: 0, targetShare: 22 / 400, essAlive: 0 });
  expect(codes(a)).toContain('refused thin-turn');
  expect(a.usableHorizon).toBe(1);
});

test('too small a sample', () => {
  const a = run('patient', {}, trajectoriesOf(simulated(40, 5, 4)));
  expect(codes(a)).toEqual(expect.arrayContaining(['refused low-ess', 'weak low-ess-share']));
});

test('a heavy tail, one dominant rollout', () => {
  // Continuous ratios with tail index 1.2 over the last turn.
  const many: EpisodeInput[] = Array.from({ length: 2000 }, (_, i) => ({
    episode_id: `e${i}`,
    task_id: `t${i % 100}`,
    reward: i % 2,
    turns: [{ action_class: 'a', behaviour_log_propensity: -1.2 * -Math.log((i + 0.5) / 2000) - 1 }],
  }));
  const file = checkPolicyFile({ policy: 'a', trained_on: 'none', rules: [{ probabilities: { a: 1 } }] });
  const a = audit(logRatiosFromPolicyFile(trajectoriesOf(many), file));
  expect(codes(a)).toEqual(expect.arrayContaining(['weak heavy-tail', 'weak one-episode']));
  expect(a.weights!.kHat).toBeGreaterThan(0.7);
});

test('without behaviour log-probabilities: refused whatever the target, with what to log', () => {
  const t = trajectoriesOf(
    episodes
      .slice(0, 30)
      .map((e) => ({ ...e, turns: e.turns.map((x) => ({ ...x, behaviour_log_propensity: null })) })),
  );
  const a = auditWithoutBehaviour(t, 'anything');
  expect(codes(a)).toEqual(['refused no-behaviour']);
  expect(a.next.join(' ')).toMatch(/Log behaviour_log_propensity on every turn \(now on 0 % of turns\)/);
  expect(a.evaluation).toBeNull();
  expect(Audit.parse(JSON.parse(JSON.stringify(a)))).toEqual(a);
});

test('nothing but aborted and unpaid episodes: that is the reason, not what the turns hold', () => {
  const t = trajectoriesOf(
    episodes.slice(0, 12).map((e, i) => ({
      ...e,
      ...(i < 9 ? { ending: 'aborted' as const } : { reward: null }),
      turns: e.turns.map((x) => (i < 9 ? x : { ...x, reward: null })),
    })),
  );
  const a = auditWithoutBehaviour(t, 'p');
  expect(codes(a)).toEqual(['refused no-episodes']);
  expect(a.reasons[0]!.message).toBe('no episode with a return is left (aborted 9, without reward 3)');
  expect(a.next).toEqual(['Log the reward of finished episodes.']);
  expect(a.warnings.map((w) => w.code)).toEqual(['target-not-looked-at']);
  expect(Audit.parse(JSON.parse(JSON.stringify(a)))).toEqual(a);
});

test('what to log lists what is missing', () => {
  const bare = (version: string | null) =>
    trajectoriesOf(
      episodes.slice(0, 9).map((e) => ({
        ...e,
        turns: e.turns.map((x) => ({ ...x, version, behaviour_log_propensity: null })),
      })),
    );
  expect(auditWithoutBehaviour(bare(null), 'p').next.at(-1)).toBe(
    'Log the policy version (now on 0 % of turns).',
  );
  expect(auditWithoutBehaviour(bare('v1'), 'p').next.join(' ')).not.toMatch(/task_id|policy version/);
});

test('one line at most says how many', () => {
  for (const t of [logs, trajectoriesOf(simulated(4, 25, 3)), trajectoriesOf(simulated(3, 4, 3))])
    for (const name of ['behaviour', 'soft', 'patient', 'eager'] as const) {
      const { next } = run(name, {}, t);
      expect(next.filter((x) => /^(About|Log at least) \d/.test(x)).length, next.join(' ')).toBeLessThan(2);
    }
  expect(run('patient', {}, trajectoriesOf(simulated(3, 4, 3))).next.join(' ')).toMatch(/\d{2,}.* tasks/);
});

test('several policies in the logs are a mix', () => {
  const mixed = (names: readonly string[]) =>
    trajectoriesOf(episodes.map((e, i) => ({ ...e, policy: names[i % names.length]! })));
  const warned = (t: typeof logs) => run('soft', {}, t).warnings.find((w) => w.code === 'several-behaviours');
  expect(warned(mixed(['one']))).toBeUndefined();
  expect(warned(mixed(['new', 'a', 'b']))!.message).toMatch(/mix of 3 policies \(a, b, new\)/);
});
