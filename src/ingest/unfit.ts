import { isTooDeep, MAX_DEPTH } from '../json/depth.ts';

/**
 * Why a value of any form cannot be stored as JSON, with its path, or undefined: objects and arrays nested deeper
 * than `limit`, or a number that is not finite, which columns of tables hold and JSON text does not. O(values).
 */
export function unfit(value: unknown, path: string, limit = MAX_DEPTH): string | undefined {
  if (isTooDeep(value, limit)) return `${path}: is nested deeper than ${limit} levels`;
  const at = nonFinite(value, path);
  return at && `${at}: is not a finite number`;
}

/** Path of the first number that is not finite, or undefined. */
function nonFinite(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (value === null || typeof value !== 'object') return undefined;
  const isArray = Array.isArray(value);
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    if (inner === null || (typeof inner !== 'object' && typeof inner !== 'number')) continue;
    const found = nonFinite(inner, isArray ? `${path}[${key}]` : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
