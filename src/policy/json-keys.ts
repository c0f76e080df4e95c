/**
 * The first key that an object of a JSON text has twice; null where none has. JSON.parse keeps the last
 * and says nothing. The text must parse. O(length).
 */
export function repeatedKey(text: string): string | null {
  const open: (Set<string> | null)[] = []; // keys of the objects around, null of an array
  let isKey = false; // whether the next string is one
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') {
      const end = endOfString(text, i);
      const keys = open.at(-1);
      if (isKey && keys) {
        const name = JSON.parse(text.slice(i, end)) as string;
        if (keys.has(name)) return name;
        keys.add(name);
      }
      isKey = false;
      i = end - 1;
    } else if (c === '{') {
      open.push(new Set());
      isKey = true;
    } else if (c === '[') {
      open.push(null);
      isKey = false;
    } else if (c === '}' || c === ']') open.pop();
    else if (c === ',') isKey = open.at(-1) !== null;
  }
  return null;
}

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

/** Place after the closing quote of the string that opens at `from`. */
function endOfString(text: string, from: number): number {
  let i = from + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i + 1;
}
