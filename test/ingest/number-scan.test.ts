import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import {
  type NumberScan,
  SAW_BOOLEAN,
  SAW_FRACTION,
  SAW_INTEGER,
  SAW_NULL,
  scanNumbers,
} from '../../src/ingest/number-scan.ts';

const fresh = (): NumberScan => ({ values: new Float64Array(2), length: 0, seen: 0 });

/** What the scanner makes of a text, or null where it leaves it alone. */
function scanned(text: string, single = false) {
  const out = fresh();
  const bytes = Buffer.from(text);
  const behind = scanNumbers(bytes, 0, out, single);
  return behind < 0 ? null : { behind, seen: out.seen, values: [...out.values.subarray(0, out.length)] };
}

const asNumber = (v: number | boolean | null) => (v === null ? Number.NaN : Number(v));
const space = fc.constantFrom('', '', ' ', '\n', '\t', ' \r\n');
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 21 });
/** Number texts of every shape the grammar has, most of them not as JSON.stringify writes them. */
const numberText = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: digits.map((d) => d.replace(/^0+(?=\d)/, '')),
    fraction: fc.oneof(
      fc.constant(''),
      digits.map((d) => `.${d}`),
    ),
    exponent: fc.oneof(
      fc.constant(''),
      fc.tuple(fc.constantFrom('e', 'E', 'e-', 'E+'), fc.nat({ max: 40 })).map((e) => e.join('')),
    ),
  })
  .map((p) => p.sign + p.whole + p.fraction + p.exponent);
const element = fc.oneof(
  numberText,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('null', 'true', 'false', '0', '-0', '1'),
);
const arrayText = fc
  .array(
    fc.tuple(space, element, space).map((p) => p.join('')),
    { maxLength: 12 },
  )
  .chain((parts) => space.map((s) => `[${parts.length === 0 ? s : parts.join(',')}]`));

test.prop([arrayText])('numbers are bit for bit what JSON.parse reads', (text) => {
  const expected = JSON.parse(text) as (number | boolean | null)[];
  const got = scanned(text)!;
  expect(got.behind).toBe(text.length);
  expect(got.values).toEqual(expected.map(asNumber));
  const seen =
    (expected.some((v) => Number.isInteger(v)) ? SAW_INTEGER : 0) |
    (expected.some((v) => typeof v === 'number' && !Number.isInteger(v)) ? SAW_FRACTION : 0) |
    (expected.includes(null) ? SAW_NULL : 0) |
    (expected.some((v) => typeof v === 'boolean') ? SAW_BOOLEAN : 0);
  expect(got.seen).toBe(seen);
});

test.prop([arrayText])('in single precision they round to the same float', (text) => {
  const expected = JSON.parse(text) as (number | boolean | null)[];
  expect(scanned(text, true)!.values.map(Math.fround)).toEqual(expected.map(asNumber).map(Math.fround));
});

test.prop([arrayText, fc.nat(), fc.constantFrom(...'0159.,-+eE[]{}"ntf \u00e9')], { numRuns: 2000 })(
  'what JSON.parse refuses is never taken, wherever a character is changed',
  (text, at, c) => {
    const p = 1 + (at % Math.max(1, text.length - 1));
    const changed = text.slice(0, p) + c + text.slice(p + 1);
    const got = scanned(changed);
    if (got === null) return;
    // The scanner stops behind the bracket; what follows is for its caller.
    const taken = JSON.parse(Buffer.from(changed).subarray(0, got.behind).toString());
    expect(got.values).toEqual(taken.map(asNumber));
  },
);

test('numbers beyond float64 are left to the slow path, which refuses them by name', () => {
  for (const text of [
    '[1e999]',
    '[-1e999]',
    '[NaN]',
    '[Infinity]',
    '[01]',
    '[1.]',
    '[.5]',
    '[+1]',
    '[1,]',
    '[,]',
  ])
    expect(scanned(text), text).toBeNull();
});

test.prop(
  [
    fc.float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(1e-3), max: 8 }),
    fc.constantFrom(17, 18, 19),
  ],
  {
    numRuns: 2000,
  },
)('halfway between two floats the last digit decides, as it does for JSON.parse', (low, digits) => {
  const high = Math.fround(low * (1 + 2 ** -23));
  const text = ((low + high) / 2).toPrecision(digits);
  expect(Math.fround(scanned(`[${text}]`, true)!.values[0]!)).toBe(Math.fround(Number(text)));
});
