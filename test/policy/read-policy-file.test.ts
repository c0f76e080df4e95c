import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkPolicyFile, readPolicyFile } from '../../src/policy/read-policy-file.ts';

const good = { policy: 'p', trained_on: 'none', rules: [{ probabilities: { a: 0.25, b: 0.75 } }] };
const wrong = (change: object) => {
  try {
    checkPolicyFile({ ...good, ...change }, 'policy file p.json');
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('was accepted');
};

test('a good file is read, with its defaults', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'turnwise-')), 'p.json');
  writeFileSync(path, JSON.stringify(good));
  expect(readPolicyFile(path)).toEqual({
    ...good,
    logprob_kind: 'propensity',
    rules: [{ when: {}, probabilities: { a: 0.25, b: 0.75 } }],
  });
  expect(() => readPolicyFile(`${path}x`)).toThrow(/p\.jsonx: does not exist/);
  writeFileSync(path, '{');
  expect(() => readPolicyFile(path)).toThrow(/p\.json: is not JSON/);
});

test('errors name the file and the rule', () => {
  const second = (rule: object) => wrong({ rules: [good.rules[0], rule] });
  expect(second({ probabilities: { a: 0.5, b: 0.4 } })).toMatch(
    /^policy file p\.json: rules\[1\]\.probabilities: sum to 0\.9, expected 1 within 0\.000001$/,
  );
  expect(second({ probabilities: {} })).toMatch(/rules\[1\]\.probabilities: sum to 0/);
  expect(second({ probabilities: { a: 1.5, b: -0.5 } })).toMatch(/rules\[1\]\.probabilities\.a/);
  expect(second({ when: { observation: 'x' }, probabilities: { a: 1 } })).toMatch(
    /rules\[1\]\.when\.observation: unknown key, expected turn, features\.K, task_id or last_action_class/,
  );
  expect(second({ when: { 'features.01': 1 }, probabilities: { a: 1 } })).toMatch(/unknown key/);
  expect(second({ when: { turn: '3' }, probabilities: { a: 1 } })).toMatch(
    /rules\[1\]\.when\.turn: got "3", expected a number/,
  );
  expect(second({ when: { task_id: [1] }, probabilities: { a: 1 } })).toMatch(
    /when\.task_id: got 1, expected a string/,
  );
  expect(second({ if: {}, probabilities: { a: 1 } })).toMatch(/rules\[1\].*"if"/);
  expect(wrong({ rules: [] })).toMatch(/rules/);
  expect(wrong({ trained_on: undefined })).toMatch(/trained_on/);
  expect(wrong({ extra: 1 })).toMatch(/"extra"/);
});

test('probabilities that sum to 1 but for rounding are fine', () => {
  checkPolicyFile({ ...good, rules: [{ probabilities: { a: 0.1, b: 0.2, c: 0.7 } }] });
  // 1e-6 off in decimals, as a sum of doubles by a little more.
  for (const probabilities of [
    { a: 0.333333, b: 0.333333, c: 0.333333 },
    { a: 0.333334, b: 0.333333, c: 0.333334 },
    { a: 0.666667, b: 0.333334 },
    { a: 1.000001 },
  ]) {
    const kept = checkPolicyFile({ ...good, rules: [{ probabilities }] }).rules[0]!.probabilities;
    expect(Object.values(kept).reduce((x, y) => x + y, 0)).toBeCloseTo(1, 14);
  }
  expect(wrong({ rules: [{ probabilities: { a: 0.333333, b: 0.333333, c: 0.3333329 } }] })).toMatch(/sum to/);
  expect(wrong({ rules: [{ probabilities: { a: 0.5, b: 0.5 + 2e-6 } }] })).toMatch(/sum to/);
  expect(wrong({ rules: [{ probabilities: { a: 0.5, b: 0.5 - 2e-6 } }] })).toMatch(/sum to 0\.99999/);
});

test('float32 probabilities are divided by their sum; doubles stay as they are', () => {
  const third = Math.fround(1 / 3);
  const [rule] = checkPolicyFile({
    ...good,
    rules: [{ probabilities: { a: third, b: third, c: third } }],
  }).rules;
  expect(rule!.probabilities).toEqual({ a: 1 / 3, b: 1 / 3, c: 1 / 3 });
  // A softmax of 1,000 classes in float32, as a framework writes it.
  const logits = Array.from({ length: 1_000 }, (_, i) => Math.sin(i) * 8);
  const total = logits.reduce((sum, x) => sum + Math.exp(x), 0);
  const soft = Object.fromEntries(logits.map((x, i) => [`c${i}`, Math.fround(Math.exp(x) / total)]));
  const kept = checkPolicyFile({ ...good, rules: [{ probabilities: soft }] }).rules[0]!.probabilities;
  expect(Math.abs(Object.values(kept).reduce((a, b) => a + b, 0) - 1)).toBeLessThan(1e-13);
  expect(checkPolicyFile({ ...good, rules: [{ probabilities: { a: 1 + 9e-7 } }] }).rules[0]).toMatchObject({
    probabilities: { a: 1 },
  });
  const doubles = { a: 0.1, b: 0.2, c: 0.7 };
  expect(checkPolicyFile({ ...good, rules: [{ probabilities: doubles }] }).rules[0]!.probabilities).toEqual(
    doubles,
  );
});

test('a file nested 100,000 deep is refused by name, as is a whole number that a double does not keep', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'turnwise-')), 'p.json');
  const refused = (text: string) => {
    writeFileSync(path, text);
    try {
      readPolicyFile(path);
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };
  const deep = (n: number) => `${'['.repeat(n)}${']'.repeat(n)}`;
  expect(refused(`{"policy": ${deep(100_000)}}`)).toMatch(/p\.json: is nested too deep/);
  expect(refused(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).toMatch(/nested too deep/);
  expect(() => checkPolicyFile(JSON.parse(deep(100_000)))).toThrow(/nested too deep/);
  const rule = (x: string) =>
    `{"policy": "p", "trained_on": "none", "rules": [{"when": {"features.0": ${x}}, "probabilities": {"a": 1}}]}`;
  expect(refused(rule('9007199254740993'))).toMatch(/got 9007199254740993, expected .* 9007199254740992/);
  expect(refused(rule('[1, -12345678901234567891]'))).toMatch(/-12345678901234567891/);
  for (const kept of ['9007199254740991', '-9007199254740992', '18014398509481984', '1e300', '0.1'])
    expect(refused(rule(kept))).toBe('accepted');
  const text = rule('1').replace('"p"', '"9007199254740993 \\" 9007199254740993"');
  expect(refused(text)).toBe('accepted');
});

test('what JSON.parse would not say: a mark at the start is fine, keys twice and __proto__ are not', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'turnwise-')), 'p.json');
  writeFileSync(path, `\uFEFF${JSON.stringify(good)}`);
  expect(readPolicyFile(path).policy).toBe('p');
  writeFileSync(path, JSON.stringify(good).replace('"a":0.25', '"a":0.1,"a":0.25'));
  expect(() => readPolicyFile(path)).toThrow(/p\.json: has the key "a" twice in one object/);
  writeFileSync(
    path,
    JSON.stringify(good).replace('{"probabilities', '{"when":{"__proto__":1},"probabilities'),
  );
  expect(() => readPolicyFile(path)).toThrow(/p\.json: has a key "__proto__"/);
});

test('what is missing or empty is named, with what is expected', () => {
  expect(wrong({ policy: undefined })).toBe('policy file p.json: policy is missing, expected string');
  expect(wrong({ rules: [] })).toBe('policy file p.json: rules is empty, expected one rule or more');
  expect(() => checkPolicyFile([], 'policy file p.json')).toThrow(
    'policy file p.json: is no policy, expected an object with policy, trained_on and rules',
  );
});

test('trained_on says what to write', () => {
  const write = 'write "none", "unknown" or {"sources": […], "tasks": […]}';
  expect(wrong({ trained_on: undefined })).toBe(`policy file p.json: trained_on is missing: ${write}`);
  expect(wrong({ trained_on: 'no' })).toBe(`policy file p.json: trained_on is not understood: ${write}`);
});
