import { expect, test } from 'vitest';
import { matchRules } from '../../src/policy/match-rules.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

const t = trajectoriesOf([
  {
    episode_id: 'one',
    task_id: 'A',
    reward: 1,
    turns: [
      { action_class: 'x', features: [5, 0] },
      { action_class: 'y', features: [6, 0] },
      { action_class: 'x', features: [7, 0] },
    ],
  },
  { episode_id: 'two', reward: 0, turns: [{ action_class: 'y', features: [5, 1] }] },
]);
const any = { a: 1 };
const match = (...whens: object[]) =>
  matchRules(
    t,
    checkPolicyFile({
      policy: 'p',
      trained_on: 'none',
      rules: whens.map((when) => ({ when, probabilities: any })),
    }),
  );

test('the first rule that matches applies', () => {
  expect([...match({ turn: 1 }, { 'features.0': [5, 7] }, {}).rule]).toEqual([1, 0, 1, 1]);
  expect([...match({ 'features.0': 5, 'features.1': 1 }, {}).rule]).toEqual([1, 1, 1, 0]);
  expect([...match({}, { turn: 1 }).rule]).toEqual([0, 0, 0, 0]);
});

test('the task, and the previous action, which the first turn has none of', () => {
  expect([...match({ task_id: 'A' }, {}).rule]).toEqual([0, 0, 0, 1]);
  expect([...match({ last_action_class: 'x' }, { last_action_class: ['y'] }, {}).rule]).toEqual([2, 0, 1, 2]);
});

test('a turn that no rule covers is refused, by episode and turn', () => {
  expect(() => match({ turn: [0, 1] })).toThrow(
    /target "p": no rule covers episode one turn 2: the target covers only some turns/,
  );
});

test('a feature that is not logged is refused, not skipped', () => {
  expect(() => match({ 'features.2': 1 }, {})).toThrow(
    /looks? at features\.2, which episode one turn 0 does not have/,
  );
});

test('cells: a rule with the values it looks at, tasks shared, unnamed values together', () => {
  const { cell, cells } = match({ turn: 1 }, { 'features.0': 5 }, {});
  expect(cells.map((c) => c.name)).toEqual([
    'rule 1 at turn = other, features.0 = 5',
    'rule 0 at turn = 1, features.0 = other',
    'rule 2 at turn = other, features.0 = other',
  ]);
  expect([...cell]).toEqual([0, 1, 2, 0]);
  expect(match({ task_id: 'A' }, { task_id: 'B' }, {}).cells.map((c) => c.name)).toEqual([
    'rule 0',
    'rule 2',
  ]);
});

test('outside the view nothing is matched', () => {
  const view = { ...t, index: Int32Array.of(1) };
  const file = checkPolicyFile({
    policy: 'p',
    trained_on: 'none',
    rules: [{ when: { turn: 0 }, probabilities: any }],
  });
  expect([...matchRules(view, file).rule]).toEqual([-1, -1, -1, 0]);
});
