import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { repeatedKey } from '../../src/json/repeated-key.ts';
import { hasUnsafeKey } from '../../src/policy/json-keys.ts';

test.prop([fc.json()])('what JSON.stringify writes has no key twice', (text) => {
  expect(repeatedKey(text)).toBeNull();
  expect(repeatedKey(JSON.stringify(JSON.parse(text), null, 2))).toBeNull();
});

test.each([
  ['{"a": 1, "a": 2}', 'a'],
  ['{"a": {"b": [1, {"c": 1}], "b": 2}}', 'b'],
  ['[{"a": 1}, {"a": 1, "\\u0061": 2}]', 'a'],
  ['{"a\\"b": "{", "x": ["}", {}], "a\\"b": 1}', 'a"b'],
])('%s', (text, key) => {
  expect(repeatedKey(text)).toBe(key);
});

test.each(['{"a": ["a", "a"], "b": {"a": "a"}}', '[["a", "b"], "a", {"a": "b", "b": "a"}]'])(
  'values and other objects are not repeats: %s',
  (text) => {
    expect(repeatedKey(text)).toBeNull();
  },
);

test('a key that would be lost, at any depth', () => {
  expect(hasUnsafeKey(JSON.parse('{"rules": [{"when": {"__proto__": 1}}]}'))).toBe(true);
  expect(hasUnsafeKey({ rules: [{ when: { turn: 1 } }], x: null })).toBe(false);
});
