import { ExactNumber } from '../json/exact-number.ts';

/** Columns that hold a name, at any depth of a record outside its free forms. */
export const NAMES: ReadonlySet<string> = new Set([
  ...['episode_id', 'task_id', 'policy', 'version_start', 'version_end', 'version', 'action_class'],
  ...['sources', 'tasks'],
]);
/** Columns of any form: what is in them stays as it was written. */
const FREE: ReadonlySet<string> = new Set(['meta', 'arguments']);

/**
 * A canonical record or score with its numbers as the columns take them: a name that was written as a number is
 * its digits as text, and in a column of doubles a number is the nearest double. The record itself where nothing
 * changes. O(values outside of `meta` and `arguments`).
 */
export function settled(record: unknown): unknown {
  return settledAt(record, '');
}

function settledAt(value: unknown, column: string): unknown {
  if (typeof value === 'number') return NAMES.has(column) ? String(value) : value;
  if (value instanceof ExactNumber) return NAMES.has(column) ? value.text : Number(value.text);
  if (value === null || typeof value !== 'object' || FREE.has(column)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => settledAt(item, column));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, inner]) => [key, settledAt(inner, key)] as const);
  const changed = entries.some(([key, inner]) => inner !== (value as Record<string, unknown>)[key]);
  return changed ? Object.fromEntries(entries) : value;
}
