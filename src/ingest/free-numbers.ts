import { NAMES } from './settled-numbers.ts';

/**
 * Whether a canonical record, as JSON.parse reads it, holds a number whose digits are kept: in a column of any form,
 * or as a name. All its other numbers are doubles, and most records hold no other. O(values outside of token arrays).
 */
export function hasFreeNumber(record: unknown): boolean {
  if (!isObject(record)) return false;
  const { meta, turns } = record;
  if (namedByNumber(record) || holdsNumber(meta)) return true;
  if (!Array.isArray(turns)) return true;
  return turns.some((turn) => {
    if (!isObject(turn) || namedByNumber(turn)) return true;
    const { tool_calls } = turn;
    if (tool_calls === undefined || tool_calls === null) return false;
    return (
      !Array.isArray(tool_calls) || tool_calls.some((call) => !isObject(call) || holdsNumber(call.arguments))
    );
  });
}

function namedByNumber(columns: Readonly<Record<string, unknown>>): boolean {
  for (const name of NAMES) if (typeof columns[name] === 'number') return true;
  return false;
}

function holdsNumber(value: unknown): boolean {
  if (typeof value === 'number') return true;
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some(holdsNumber);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
