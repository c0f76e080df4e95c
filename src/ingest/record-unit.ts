import type { Unit } from './log-format.ts';

/** Bytes looked at to tell how records lie in a file, and of which format they are. */
export const HEAD_BYTES = 8 << 20;

/**
 * How records lie in a text file, from its head: one a line, as elements of one array, or the whole file as
 * one. `unit` is the first of `units` where the file does not tell.
 *
 * - An array of objects or arrays: its elements. But a list of messages is one conversation: where it ends on its own
 *   line, lines of such lists, else a document.
 * - Anything else: lines, unless the first does not parse and the whole does. Of a file longer than the head,
 *   the second line decides: within a document it is no record of its own, and the first is no end of one.
 */
export function unitOf(head: Uint8Array, units: readonly Unit[]): Unit {
  const [first] = units;
  if (units.length === 1) return first!;
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const found = layout(text, head.length >= HEAD_BYTES);
  return units.includes(found) ? found : first!;
}

/** `cut`: the file goes on behind the head. */
export function layout(text: string, cut: boolean): Unit {
  const start = text.search(/\S/);
  const end = text.indexOf('\n', Math.max(start, 0));
  const line = end < 0 ? text : text.slice(0, end);
  if (text[start] === '[') {
    if (!isMessage(parsed(firstElement(text, start)))) return 'element';
    // A line longer than the head is read as one.
    return end < 0 || Array.isArray(parsed(line)) ? 'line' : 'document';
  }
  if (end < 0 || isRecord(parsed(line))) return 'line';
  if (!cut) return isRecord(parsed(text)) ? 'document' : 'line';
  if (!/[{[,:]\s*$/.test(line)) return 'line';
  const second = text.slice(end + 1, (text.indexOf('\n', end + 1) + 1 || text.length + 1) - 1);
  return isRecord(parsed(second)) ? 'line' : 'document';
}

/** A message of a chat, and no conversation. */
function isMessage(value: unknown): boolean {
  return isRecord(value) && typeof value.role === 'string' && !('messages' in value) && !('turns' in value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** undefined: it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of the first element of an array, an object or an array, by counting brackets outside strings; '' of any other. */
export function firstElement(text: string, array: number): string {
  let p = array + 1;
  while (p < text.length && /\s/.test(text[p]!)) p++;
  const start = p;
  let depth = 0;
  for (; p < text.length; p++) {
    const c = text[p];
    if (c === '"') for (p++; p < text.length && text[p] !== '"'; p++) if (text[p] === '\\') p++;
    if (c === '{' || c === '[') depth++;
    if ((c === '}' || c === ']') && --depth === 0) return text.slice(start, p + 1);
    if (depth === 0) return '';
  }
  return '';
}
