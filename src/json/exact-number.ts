import { randomUUID } from 'node:crypto';

/**
 * A JSON number that a double cannot hold, as it was written: 1180591620717411001, 0.12345678901234567890, 1e400.
 * Everything else in JSON is what JSON.parse makes of it. A class because JSON.stringify asks for `toJSON`.
 */
export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /** What `stringifyExact` puts the digits in place of. */
  toJSON(): string {
    return MARK + this.text;
  }
}

/** Stands before the digits of a number that is a text for a moment; no log can know it. */
export const MARK = `number ${randomUUID()} `;

/** Whether a number literal of JSON is a double to the last digit: 0.1 and 1.50 are, 2^53 + 1 and 1e400 are not. */
export function isDouble(literal: string): boolean {
  const shortest = `${+literal}`;
  return shortest === literal || decimal(shortest) === decimal(literal);
}

/** The value of a literal in one way of writing: digits without zeros around them, and the place of the last. */
function decimal(literal: string): string {
  const [, sign, whole, fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  if (whole === undefined) return literal; // Infinity
  const digits = whole + fraction;
  let from = 0;
  while (from < digits.length && digits[from] === '0') from++;
  let to = digits.length;
  while (to > from && digits[to - 1] === '0') to--;
  if (from === to) return '0';
  return `${sign}${digits.slice(from, to)}e${Number(power) - fraction.length + digits.length - to}`;
}
