import { isTooDeep, MAX_DEPTH, TooDeepError } from './depth.ts';
import { ExactNumber, isDouble, MARK } from './exact-number.ts';
import { endOfString } from './repeated-key.ts';

/**
 * JSON.parse that loses no digit: a number that no double holds becomes an `ExactNumber`.
 * One search of the text for long numbers beside JSON.parse; only where one would lose digits, a second pass.
 * `digitsMatter`: whether anything that JSON.parse read is a number whose digits are to be kept; default: all are.
 * @throws SyntaxError as JSON.parse does; TooDeepError beyond `MAX_DEPTH`
 */
export function parseExact(text: string, digitsMatter?: (value: unknown) => boolean): unknown {
  const value: unknown = JSON.parse(text);
  // Every level takes a bracket at its start and one at its end.
  if (text.length >= 2 * MAX_DEPTH && isTooDeep(value)) throw new TooDeepError();
  if (digitsMatter?.(value) === false || !mayLoseDigits(text)) return value;
  return JSON.parse(withMarks(text), (_, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value,
  );
}

/** JSON.stringify that writes an `ExactNumber` as it was read. */
export function stringifyExact(value: unknown): string {
  const text = JSON.stringify(value);
  return text?.includes(MARK) ? text.replace(MARKED, '$1') : text;
}

/** Only a number of 16 characters or more, or with an exponent beyond two digits, may be no double. */
const LONG = /\d[\d.]{15,}(?:[eE][+-]?\d+)?|\d[\d.]*[eE][+-]?\d{3,}/g;

/** Whether a number in the text, or what looks like one inside a text, is no double. */
function mayLoseDigits(text: string): boolean {
  return text.match(LONG)?.some((literal) => !isDouble(literal)) ?? false;
}

const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** The text with every number that is no double as a text behind `MARK`. */
function withMarks(text: string): string {
  let out = '';
  let from = 0;
  for (let i = 0; i < text.length; ) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = endOfString(text, i);
      continue;
    }
    if (!isDigit(c)) {
      i++;
      continue;
    }
    const start = i > 0 && text.charCodeAt(i - 1) === MINUS ? i - 1 : i;
    while (i < text.length && isOfNumber(text.charCodeAt(i))) i++;
    const literal = text.slice(start, i);
    if (literal.length < 5 || !NUMBER.test(literal) || isDouble(literal)) continue;
    out += `${text.slice(from, start)}"${MARK}${literal}"`;
    from = i;
  }
  return out + text.slice(from);
}

const QUOTE = 34;
const MINUS = 45;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}

/** Digits, point, exponent and its sign. */
function isOfNumber(c: number): boolean {
  return isDigit(c) || c === 46 || c === 69 || c === 101 || c === 43 || c === MINUS;
}
