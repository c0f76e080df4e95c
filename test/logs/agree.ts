import { closeTo } from '../helpers/close-to.ts';

/** Sums in another order differ in the last digits; counts do not. */
const ROUNDING = 1e-12;

/** Expects every figure of `expected` in `actual`, which may say more. */
export function agree(actual: unknown, expected: unknown): void {
  closeTo(part(actual, expected), expected, ROUNDING);
}

/** Of `actual`, the fields that `expected` has too. */
function part(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((x, i) => (i < expected.length ? part(x, expected[i]) : x));
  if (!isRecord(expected) || !isRecord(actual)) return actual;
  return Object.fromEntries(
    Object.entries(actual)
      .filter(([key]) => key in expected)
      .map(([key, value]) => [key, part(value, expected[key])]),
  );
}

const isRecord = (x: unknown): x is Record<string, unknown> =>
  typeof x === 'object' && x !== null && !Array.isArray(x);
