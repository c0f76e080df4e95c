import { parseExact } from '../json/exact-json.ts';
import { ExactNumber } from '../json/exact-number.ts';

/** Whether two JSON texts say the same: keys in any order, every digit of a number. */
export function sameJson(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return same(parseExact(a), parseExact(b));
  } catch {
    return false;
  }
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b) || a instanceof ExactNumber !== b instanceof ExactNumber)
    return false;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  return (
    keys.length === others.length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}
