/** `Did you mean "audit"?` where one of the names is a slip away from what was typed. */
export function didYouMean(typed: string, names: Iterable<string>, prefix = ''): string | undefined {
  let best = '';
  let least = Infinity;
  for (const name of names) {
    const d = name.startsWith(typed) && typed.length > 1 ? 1 : distance(typed.toLowerCase(), name);
    if (d < least) [best, least] = [name, d];
  }
  return least <= Math.max(1, Math.floor(typed.length / 3)) ? `Did you mean "${prefix}${best}"?` : undefined;
}

/** Insertions, removals, changes and swaps of neighbours between two words (optimal string alignment). */
function distance(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const change = d[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swap =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? d[i - 2]![j - 2]! + 1 : Infinity;
      d[i]![j] = Math.min(d[i - 1]![j]! + 1, d[i]![j - 1]! + 1, change, swap);
    }
  return d[a.length]![b.length]!;
}
