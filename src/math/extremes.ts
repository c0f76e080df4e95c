/** The greatest of any number of values; −Infinity of none, NaN where one is. `Math.max(...values)` fails from 120,000 on. */
export function greatest(values: Iterable<number>): number {
  let found = -Infinity;
  for (const value of values) found = Math.max(found, value);
  return found;
}

/** The least of any number of values; Infinity of none, NaN where one is. */
export function least(values: Iterable<number>): number {
  let found = Infinity;
  for (const value of values) found = Math.min(found, value);
  return found;
}
