import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { ruleIndex } from '../../src/policy/first-rule.ts';
import { groupRows } from '../../src/policy/group-rows.ts';
import { matchRules } from '../../src/policy/match-rules.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

type When = Record<string, number | number[]>;
const file = (whens: readonly When[]) =>
  checkPolicyFile({
    policy: 'p',
    trained_on: 'none',
    rules: whens.map((when) => ({ when, probabilities: { a: 1 } })),
  });

/** The definition: one rule after the other, all its conditions. */
const firstByDefinition = (whens: readonly When[], state: Readonly<Record<string, number>>): number =>
  whens.findIndex((when) => Object.entries(when).every(([k, v]) => [v].flat().includes(state[k]!)));

const value = fc.integer({ min: 0, max: 3 });
const condition = fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }));
const when = fc.dictionary(fc.constantFrom('turn', 'features.0', 'features.1', 'features.2'), condition, {
  maxKeys: 4,
});
const state = fc.record({ turn: value, 'features.0': value, 'features.1': value, 'features.2': value });

property.prop([fc.array(when, { minLength: 1, maxLength: 12 }), fc.array(state, { maxLength: 20 })])(
  'the index finds the rule that one looking after the other finds',
  (whens, states) => {
    const { keys, first } = ruleIndex(file(whens));
    for (const s of states)
      expect(first((k) => keys[k]!.place.get(s[keys[k]!.key as keyof typeof s]) ?? -1)).toBe(
        firstByDefinition(whens, s),
      );
  },
);

property.prop([
  fc
    .integer({ min: 1, max: 30 })
    .chain((n) =>
      fc.array(fc.array(fc.integer({ min: -1, max: 2 }), { minLength: n, maxLength: n }), { maxLength: 90 }),
    ),
])('rows are grouped as the text of their codes is, however many columns there are', (table) => {
  const n = table[0]?.length ?? 5;
  const columns = table.map((codes) => ({ codes: Int32Array.from(codes), size: 3 }));
  const { of, first } = groupRows(
    Int32Array.from({ length: n }, (_, i) => i),
    columns,
  );
  const places = new Map<string, number>();
  for (let i = 0; i < n; i++) {
    const text = columns.map((c) => c.codes[i]).join();
    if (!places.has(text)) {
      expect(first[places.size]).toBe(i);
      places.set(text, places.size);
    }
    expect(of[i]).toBe(places.get(text));
  }
  expect(first.length).toBe(places.size);
});

test.each([20, 33, 34, 40, 53, 64, 200])('cells of %i two-valued features are told apart', (K) => {
  // Turns that differ in the first or in the last feature alone: the two that a packed number loses first.
  const turns = [0, 1].flatMap((a) =>
    [0, 1].map((b) => ({ action_class: 'a', features: [a, ...Array.from({ length: K - 2 }, () => 0), b] })),
  );
  const t = trajectoriesOf([{ episode_id: 'e', reward: 1, turns }]);
  const all = Object.fromEntries(Array.from({ length: K }, (_, k) => [`features.${k}`, [0, 1]]));
  const { rule, cell } = matchRules(
    t,
    file([{ ...all, turn: 99 }, { 'features.0': 0 }, { [`features.${K - 1}`]: 0 }, {}]),
  );
  expect([...rule]).toEqual([1, 1, 2, 3]);
  expect([...cell]).toEqual([0, 1, 2, 3]);
});

test('a class named "other" is not taken for the classes that the file does not name', () => {
  const t = trajectoriesOf([
    { episode_id: 'e', reward: 1, turns: ['other', 'x', 'x'].map((action_class) => ({ action_class })) },
  ]);
  const { cells } = matchRules(
    t,
    checkPolicyFile({
      policy: 'p',
      trained_on: 'none',
      rules: [
        { when: { last_action_class: 'other', turn: 7 }, probabilities: { x: 1 } },
        { probabilities: { x: 1 } },
      ],
    }),
  );
  expect(new Set(cells.map((c) => c.name)).size).toBe(cells.length);
  expect(new Set(cells.map((c) => c.key)).size).toBe(cells.length);
  expect(cells.length).toBe(2);
});

test('0 and −0 are one value, and 16,000 rules of many lists are no product', () => {
  const t = trajectoriesOf([
    { episode_id: 'e', reward: 1, turns: [{ action_class: 'a', features: [-0, 15_999] }] },
  ]);
  const lists = Object.fromEntries(
    ['features.0', 'features.1'].map((k) => [k, Array.from({ length: 2_000 }, (_, i) => i)]),
  );
  const whens: When[] = Array.from({ length: 16_000 }, (_, r) => (r < 4 ? lists : { 'features.1': r }));
  expect([...matchRules(t, file([...whens, {}])).rule]).toEqual([15_999]);
  expect([...matchRules(t, file([{ 'features.0': 0 }, {}])).rule]).toEqual([0]);
});
