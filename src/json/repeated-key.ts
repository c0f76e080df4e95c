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

/** Place after the closing quote of the string that opens at `from`. */
export function endOfString(text: string, from: number): number {
  let i = from + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i + 1;
}
