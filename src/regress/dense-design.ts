import type { Design } from './design.ts';

/** A design of a few full columns, [columns][rows]. */
export function denseDesign(columns: readonly ArrayLike<number>[], names?: readonly string[]): Design {
  return {
    columns: columns.length,
    names: names ?? columns.map((_, j) => `x${j}`),
    maxEntries: columns.length,
    gather(row, indices, values) {
      for (let j = 0; j < columns.length; j++) {
        indices[j] = j;
        values[j] = columns[j]![row]!;
      }
      return columns.length;
    },
  };
}
