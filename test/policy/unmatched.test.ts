import { expect, test } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const logs = trajectoriesOf(simulated(50, 4, 4));
const all = { cheap: 0.4, think: 0.3, submit: 0.3 };
const run = (rules: unknown[]) =>
  audit(logRatiosFromPolicyFile(logs, checkPolicyFile({ policy: 'p', trained_on: 'none', rules })));
const messages = (a: ReturnType<typeof run>, code: string) =>
  a.warnings.filter((w) => w.code === code).map((w) => w.message);

test('a rule that never applies is named; a last rule for the rest is not', () => {
  const idle = [
    { when: { turn: 77 }, probabilities: all },
    { when: { turn: [0, 1, 2, 3, 4, 5] }, probabilities: all },
    { when: { last_action_class: 'chepa' }, probabilities: all },
  ];
  expect(messages(run([...idle, { probabilities: all }]), 'rule-never-applies')).toEqual([
    'target "p": rules[0] (turn = 77), rules[2] (last_action_class = chepa) apply at no logged turn',
  ]);
  expect(messages(run([{ probabilities: all }]), 'rule-never-applies')).toEqual([]);
  expect(
    messages(
      run([{ probabilities: all }, { probabilities: all }, { probabilities: all }]),
      'rule-never-applies',
    ),
  ).toEqual(['target "p": rules[1] applies at no logged turn']);
});

test('a class that the logs do not have is named with those they have, and more episodes are no help', () => {
  const a = run([{ probabilities: { look_up: 0.2, cheap: 0.4, think: 0.4 } }]);
  const reason = a.reasons.find((r) => r.code === 'class-not-logged')!;
  expect(reason).toMatchObject({
    verdict: 'refused',
    message: 'class `look_up` is not in these logs; they have: cheap, submit, think',
  });
  const next = a.next.join('\n');
  expect(next).not.toMatch(/About \d/);
  expect(next).toMatch(/Name the classes as the logs do/);
  expect(next).toMatch(/Let the behaviour try look_up in rule 0/);
});

test('… weak where the target hardly takes it, a warning alone where it never gets there', () => {
  const rare = run([{ probabilities: { look_up: 0.001, cheap: 0.4, think: 0.3, submit: 0.299 } }]);
  expect(rare.reasons.find((r) => r.code === 'class-not-logged')!.verdict).toBe('weak');
  const never = run([{ when: { turn: 77 }, probabilities: { look_up: 1 } }, { probabilities: all }]);
  expect(never.reasons.map((r) => r.code)).not.toContain('class-not-logged');
  expect(messages(never, 'class-not-logged')).toHaveLength(1);
});

test('a class at probability 0 is none', () => {
  expect(messages(run([{ probabilities: { ...all, look_up: 0 } }]), 'class-not-logged')).toEqual([]);
});
