/**
 * What the typed values of a table are in JSON, one rule for Parquet and Arrow: a time is ISO 8601, of a zone in UTC with
 * a Z, of no zone without one, to its last digit that is not 0; whole numbers and decimals keep their digits.
 */
import { RecordError } from './log-format.ts';
import { parseJson } from './parse-block.ts';

/** A time of day, or a time, as text; `perSecond`: the unit it is counted in. @throws RecordError outside the years 1 to 9999 */
export function timeText(value: bigint, perSecond: bigint, zoned: boolean, path: string): string {
  const [seconds, rest] = divided(value, perSecond);
  const whole = new Date(Number(seconds) * 1000);
  const text = isYear(whole) ? whole.toISOString().slice(0, 19) : beyondYears(path);
  return `${text}${fraction(rest, perSecond)}${zoned ? 'Z' : ''}`;
}

/** @throws RecordError outside the years 1 to 9999 */
export function dateText(days: number, path: string): string {
  const date = new Date(days * 86_400_000);
  return isYear(date) ? date.toISOString().slice(0, 10) : beyondYears(path);
}

export function clockText(value: bigint, perSecond: bigint): string {
  const [seconds, rest] = divided(value, perSecond);
  return `${new Date(Number(seconds) * 1000).toISOString().slice(11, 19)}${fraction(rest, perSecond)}`;
}

/** A number given by its digits, exactly. */
export function numberOf(digits: string): unknown {
  return parseJson(Buffer.from(digits));
}

/** The digits of `unscaled` · 10^−scale. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return `${unscaled}${unscaled === 0n ? '' : '0'.repeat(-scale)}`;
  const sign = unscaled < 0n ? '-' : '';
  const digits = `${unscaled < 0n ? -unscaled : unscaled}`.padStart(scale + 1, '0');
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

export function beyondYears(path: string): never {
  throw new RecordError(`${path}: is beyond the years 1 to 9999`);
}

function isYear(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

function divided(value: bigint, by: bigint): [bigint, bigint] {
  const rest = ((value % by) + by) % by;
  return [(value - rest) / by, rest];
}

function fraction(rest: bigint, perSecond: bigint): string {
  if (rest === 0n) return '';
  const digits = String(perSecond).length - 1;
  return `.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
}
