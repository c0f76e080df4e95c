import { endOfString } from '../json/repeated-key.ts';

/** Whether objects and lists lie more than `levels` deep in one another. Without recursion, level by level. */
export function isDeeper(value: unknown, levels: number): boolean {
  return !everyInner(value, (_, depth) => depth <= levels);
}

/** Whether a value has a key "__proto__" anywhere, which is lost where entries are copied. */
export function hasUnsafeKey(value: unknown): boolean {
  return !everyInner(value, (inner) => !Object.hasOwn(inner, '__proto__'));
}

/** Whether `fine` holds for every object and list inside a value, itself at depth 1. */
function everyInner(value: unknown, fine: (inner: object, depth: number) => boolean): boolean {
  let here = [value];
  for (let depth = 1; here.length > 0; depth++) {
    const next: unknown[] = [];
    for (const inner of here) {
      if (inner === null || typeof inner !== 'object') continue;
      if (!fine(inner, depth)) return false;
      for (const one of Object.values(inner)) next.push(one);
    }
    here = next;
  }
  return true;
}

/**
 * The first whole number of a JSON text beyond 2^53 that is read as another one; null where none is. One
 * written with a point or an exponent is meant as a double. O(length).
 */
export function inexactInteger(text: string): string | null {
  const number = /-?\d[\d.eE+-]*/y;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') i = endOfString(text, i) - 1;
    else if (c === '-' || (c >= '0' && c <= '9')) {
      number.lastIndex = i;
      const token = number.exec(text)![0];
      i += token.length - 1;
      const read = Number(token);
      if (Math.abs(read) <= Number.MAX_SAFE_INTEGER || !Number.isFinite(read)) continue;
      if (/^-?\d+$/.test(token) && BigInt(token) !== BigInt(read)) return token;
    }
  }
  return null;
}
