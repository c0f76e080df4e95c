const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * The first key that an object anywhere in a JSON text holds twice, or null. JSON.parse keeps the last of them without
 * a word; the text is one that it has read. O(length).
 */
export function duplicateKey(json: string): string | null {
  const open: (Set<string> | null)[] = []; // null: a list
  let last = '';
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const key = JSON.parse(last) as string;
      const keys = open.at(-1)!;
      if (keys!.has(key)) return key;
      keys!.add(key);
    } else last = token;
  }
  return null;
}
