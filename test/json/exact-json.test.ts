import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { MAX_DEPTH, TooDeepError } from '../../src/json/depth.ts';
import { parseExact, stringifyExact } from '../../src/json/exact-json.ts';
import { ExactNumber, isDouble } from '../../src/json/exact-number.ts';

/** A JSON number and its value as integer · 10^power, by hand of BigInt. */
const literals = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.bigInt({ min: 1n, max: 10n ** 30n }).map(String)),
    fc.option(fc.stringMatching(/^\d{1,25}$/), { nil: '' }),
    fc.option(fc.integer({ min: -330, max: 330 }), { nil: null }),
  )
  .map(
    ([sign, whole, fraction, power]) =>
      `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${power === null ? '' : `e${power}`}`,
  );

/** [integer, power] with integer · 10^power the value, integer not divisible by ten. */
function value(literal: string): [bigint, number] {
  const [mantissa, power = '0'] = literal.toLowerCase().split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  let n = BigInt(whole! + fraction);
  let p = Number(power) - fraction.length;
  if (n === 0n) return [0n, 0];
  while (n % 10n === 0n) {
    n /= 10n;
    p++;
  }
  return [n, p];
}

describe('no digit of a number is lost', () => {
  test.prop([fc.array(literals, { minLength: 1, maxLength: 6 })], { numRuns: 2000 })(
    'what is written back has the value that was read, wherever it stands',
    (list) => {
      const inside = list.map((n, i) => `"k${i}":${n}`).join(',');
      const text = `{${inside},"list":[${list.join(',')}],"text":"${list.join(' ')}"}`;
      const parsed = parseExact(text) as Record<string, unknown>;
      const again = stringifyExact(parsed);
      const found = again.match(/(?<=[:[,])-?\d[\d.eE+-]*/g)!;
      expect(found.map(value)).toEqual([...list, ...list].map(value));
      expect(parsed.text).toBe(list.join(' '));
    },
  );

  test.prop([literals], { numRuns: 2000 })(
    'a literal is a double where printing the double gives its value',
    (n) => {
      const printed = String(Number(n));
      const same = Number.isFinite(Number(n)) && String(value(printed)) === String(value(n));
      expect(isDouble(n)).toBe(same);
      expect(parseExact(n) instanceof ExactNumber).toBe(!same);
    },
  );

  test.prop([fc.jsonValue()])('any other JSON is what JSON.parse and JSON.stringify make of it', (json) => {
    const text = JSON.stringify(json);
    expect(stringifyExact(parseExact(text))).toBe(text);
  });

  test.each([
    '1180591620717411001',
    '-9007199254740993',
    '18446744073709551615',
    '340282366920938463463374607431768211455',
    '0.12345678901234567890',
    '1e400',
    '-1e-400',
  ])('%s stays as it was written', (n) => {
    const text = `{"a":[${n}],"b":{"c":${n}},"d":"${n}"}`;
    expect(stringifyExact(parseExact(text))).toBe(text);
  });

  test('a text that looks like a number, with quotes and backslashes before it, is a text', () => {
    const text = JSON.stringify({ a: '"1180591620717411001', b: '\\', c: '\\"9007199254740993e999\\\\' });
    expect(parseExact(text)).toEqual(JSON.parse(text));
  });

  test('what is no JSON is told as JSON.parse tells it', () => {
    for (const text of [
      '[01180591620717411001]',
      '{"a":1180591620717411001',
      '[1180591620717411001.]',
      '1180591620717411001x',
    ]) {
      let said = '';
      try {
        JSON.parse(text);
      } catch (error) {
        said = (error as Error).message;
      }
      expect(() => parseExact(text)).toThrow(said);
    }
  });

  test('"__proto__" is a key like any other, beside a long number too', () => {
    const text = '{"__proto__":{"a":1180591620717411001},"b":1}';
    expect(stringifyExact(parseExact(text))).toBe(text);
  });
});

describe('depth', () => {
  const nested = (n: number, inner = '') => '['.repeat(n) + inner + ']'.repeat(n);
  test('as deep as the limit is read, one more is not, a number beside it or not', () => {
    expect(stringifyExact(parseExact(nested(MAX_DEPTH)))).toBe(nested(MAX_DEPTH));
    expect(stringifyExact(parseExact(nested(MAX_DEPTH, '1180591620717411001')))).toBe(
      nested(MAX_DEPTH, '1180591620717411001'),
    );
    for (const text of [nested(MAX_DEPTH + 1), nested(100_000), nested(100_000, '1180591620717411001')])
      expect(() => parseExact(text)).toThrow(TooDeepError);
    expect(() => parseExact(`{"a":${'{"b":'.repeat(MAX_DEPTH)}1${'}'.repeat(MAX_DEPTH)}}`)).toThrow(
      TooDeepError,
    );
  });
});
