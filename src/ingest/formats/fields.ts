import { basename } from 'node:path';
import { ExactNumber } from '../../json/exact-number.ts';
import { instantOf } from '../../schema/instant.ts';
import { RecordError } from '../log-format.ts';

/** A JSON object as parsed; every field is checked before it is used. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/** The field itself, never one inherited from Object.prototype. */
export function field(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

export function asFields(value: unknown, path: string): Fields {
  if (!isFields(value)) throw wrongType(value, 'an object', path);
  return value;
}

export function asFieldsOrNull(value: unknown, path: string): Fields | null {
  return value === undefined || value === null ? null : asFields(value, path);
}

export function asList(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongType(value, 'an array', path);
  return value;
}

export function asListOrEmpty(value: unknown, path: string): readonly unknown[] {
  return value === undefined || value === null ? [] : asList(value, path);
}

export function asText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw wrongType(value, 'text', path);
  return value;
}

export function asTextOrNull(value: unknown, path: string): string | null {
  return value === undefined || value === null ? null : asText(value, path);
}

/** A name: text that is not empty, or a number, as its digits; null where there is none. */
export function asNameOrNull(value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (value instanceof ExactNumber) return value.text;
  if (typeof value !== 'string') throw wrongType(value, 'text or a number', path);
  if (value === '') throw new RecordError(`${path} is empty, expected a name`, path);
  return value;
}

/** A finite double, the nearest one; 1e999 is infinity, which no reward is. */
export function asNumber(given: unknown, path: string): number {
  const value = given instanceof ExactNumber ? Number(given.text) : given;
  if (typeof value !== 'number') throw wrongType(value, 'a number', path);
  if (!Number.isFinite(value)) throw new RecordError(`${path} is ${value}, expected a finite number`, path);
  return value;
}

export function asNumberOrNull(value: unknown, path: string): number | null {
  return value === undefined || value === null ? null : asNumber(value, path);
}

/** A whole number from 0 that fits a 32-bit column. */
export function asCount(value: unknown, path: string): number {
  const count = asNumber(value, path);
  if (Number.isInteger(count) && count >= 0 && count <= 2 ** 31 - 1) return count;
  throw new RecordError(`${path} is ${count}, expected a whole number from 0 to 2^31 − 1`, path);
}

export function asCountOrNull(value: unknown, path: string): number | null {
  return value === undefined || value === null ? null : asCount(value, path);
}

/** A date and time with its offset from UTC; one without a zone is UTC. */
export function asInstantOrNull(value: unknown, path: string): string | null {
  const text = asTextOrNull(value, path);
  const instant = text === null ? null : instantOf(text);
  if (text !== null && instant === null) throw new RecordError(`${path} is no ISO 8601 date and time`, path);
  return instant;
}

/** Name of a file without folder and extension: the stable part of ids made from it. */
export function stem(path: string): string {
  const name = basename(path).replace(/\.(gz|zst)$/i, '');
  return name.replace(/\.jsonl?$|\.ndjson$/i, '') || name || 'stdin';
}

function wrongType(value: unknown, expected: string, path: string): RecordError {
  const got = value === undefined ? 'missing' : value === null ? 'null' : describe(value);
  return new RecordError(`${path} is ${got}, expected ${expected}`, path);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (value instanceof ExactNumber) return value.text.slice(0, 40);
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : `${value}`;
}
