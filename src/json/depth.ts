/**
 * Objects and arrays of a record may lie in each other so deep: far beyond what logs hold, and far below what
 * JSON.stringify and the recursion of any reader can take, so that what is stored can be read by every command.
 */
export const MAX_DEPTH = 512;

/** The arguments of a call lie two levels deep in the column of calls, a list of objects. */
export const MAX_ARGUMENTS_DEPTH = MAX_DEPTH - 2;

export class TooDeepError extends RangeError {
  constructor() {
    super(`nested deeper than ${MAX_DEPTH} levels`);
    this.name = 'TooDeepError';
  }
}

/** Whether objects and arrays lie in each other deeper than `limit`. O(values). */
export function isTooDeep(value: unknown, limit = MAX_DEPTH): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (isTooDeep(value[i], limit - 1)) return true;
    return false;
  }
  for (const key in value)
    if (Object.hasOwn(value, key) && isTooDeep((value as Record<string, unknown>)[key], limit - 1))
      return true;
  return false;
}
