/**
 * A value as it stands printed in a text, as JSON or as Python prints it ('single quotes', None, True,
 * tuples). Only what stands at its top is read, in one pass without recursion: what lies inside is
 * skipped, however deep, and a text that is cut short gives what stands before the cut.
 */
export type Printed =
  | { readonly kind: 'text'; readonly text: string; readonly end: number }
  | { readonly kind: 'number' | 'boolean'; readonly value: number | boolean; readonly end: number }
  | {
      readonly kind: 'object' | 'list';
      readonly start: number;
      readonly end: number;
      readonly empty: boolean;
    }
  /** Anything else: an object of Python's own, NaN. */
  | { readonly kind: 'null' | 'other'; readonly end: number };

/** The value that a text consists of, white space around it aside; undefined: the text is no such value. */
export function printedValue(text: string): Printed | undefined {
  const start = afterSpace(text, 0);
  if (!/^(?:[[{("'0-9-]|true|false|null|True|False|None|[bu]["'])/.test(text.slice(start, start + 6)))
    return undefined;
  const value = valueAt(text, start);
  return afterSpace(text, value.end) >= text.length ? value : undefined;
}

/** The fields of a printed object whose names are text: name, value and where the value starts. */
export function* printedFields(
  text: string,
  { start }: { readonly start: number },
): Generator<readonly [name: string, value: Printed, from: number]> {
  let p = afterSpace(text, start + 1);
  while (p < text.length && text[p] !== '}') {
    const name = valueAt(text, p);
    p = afterSpace(text, name.end);
    if (text[p] === ':') {
      const from = afterSpace(text, p + 1);
      if (from >= text.length) return;
      const value = valueAt(text, from);
      if (name.kind === 'text') yield [name.text, value, from];
      p = afterSpace(text, value.end);
    }
    if (text[p] === ',') p = afterSpace(text, p + 1);
    else return;
  }
}

/** The elements of a printed list or tuple. */
export function* printedElements(text: string, { start }: { readonly start: number }): Generator<Printed> {
  let p = afterSpace(text, start + 1);
  while (p < text.length && text[p] !== ']' && text[p] !== ')') {
    const value = valueAt(text, p);
    yield value;
    p = afterSpace(text, value.end);
    if (text[p] === ',') p = afterSpace(text, p + 1);
    else return;
  }
}

function valueAt(text: string, p: number): Printed {
  const c = text[p]!;
  if (c === '{' || c === '[' || c === '(') {
    const end = afterBrackets(text, p);
    const inner = text[afterSpace(text, p + 1)];
    const empty = inner === undefined || inner === '}' || inner === ']' || inner === ')';
    return { kind: c === '{' ? 'object' : 'list', start: p, end, empty };
  }
  const quote = /[bu]/.test(c) && /["']/.test(text[p + 1] ?? '') ? p + 1 : p;
  if (text[quote] === '"' || text[quote] === "'") {
    const end = afterQuotes(text, quote);
    return { kind: 'text', text: unquoted(text.slice(quote, end)), end };
  }
  const end = afterToken(text, p);
  const token = text.slice(p, end).trim();
  if (token === 'null' || token === 'None') return { kind: 'null', end };
  if (/^(true|false)$/i.test(token)) return { kind: 'boolean', value: token[0]!.toLowerCase() === 't', end };
  if (/^-?\d/.test(token) && Number.isFinite(Number(token)))
    return { kind: 'number', value: Number(token), end };
  return { kind: 'other', end };
}

function afterSpace(text: string, p: number): number {
  while (p < text.length && /\s/.test(text[p]!)) p++;
  return p;
}

/** Behind the closing quote, or the end of a text that is cut short. */
function afterQuotes(text: string, p: number): number {
  const quote = text[p];
  for (let q = p + 1; q < text.length; q++) {
    if (text[q] === '\\') q++;
    else if (text[q] === quote) return q + 1;
  }
  return text.length;
}

function afterBrackets(text: string, p: number): number {
  let depth = 0;
  for (let q = p; q < text.length; ) {
    const c = text[q]!;
    if (c === '"' || c === "'") {
      q = afterQuotes(text, q);
      continue;
    }
    if (c === '{' || c === '[' || c === '(') depth++;
    if (c === '}' || c === ']' || c === ')') depth--;
    q++;
    if (depth === 0) return q;
  }
  return text.length;
}

/** Behind a word or number, or a call such as Decimal('1.0'). */
function afterToken(text: string, p: number): number {
  let q = p;
  while (q < text.length && !/[,:\]})]/.test(text[q]!)) {
    if (/[[{(]/.test(text[q]!)) q = afterBrackets(text, q);
    else if (/["']/.test(text[q]!)) q = afterQuotes(text, q);
    else q++;
  }
  return Math.max(q, p + 1);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '\n': '' };

function unquoted(quoted: string): string {
  const closed = quoted.length > 1 && quoted.endsWith(quoted[0]!);
  return quoted
    .slice(1, closed ? -1 : undefined)
    .replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (_, u, x, c) =>
      c === undefined ? String.fromCharCode(Number.parseInt(u ?? x, 16)) : (ESCAPES[c] ?? c),
    );
}
