import { least } from '../math/extremes.ts';
/**
 * The known name that a mistyped one most likely stands for: within a third of its letters by edits, else one
 * that it begins or ends with (`metadata` for `meta`) or that ends with it (`logprob` for `behaviour_logprob`), else
 * one that begins with it (`task` for `task_id`).
 * undefined: none, or several as good.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  const limit = Math.max(1, Math.floor(given.length / 3));
  const distances = known.map((k) => edits(given, plain(k)));
  const nearest = least(distances);
  if (nearest <= limit) return only(known.filter((_, i) => distances[i] === nearest));
  const within = (long: string, short: string) =>
    short.length >= 3 && (long.startsWith(short) || long.endsWith(`_${short}`));
  const ends = (k: string) => given.length >= 3 && k.endsWith(`_${given}`);
  const begins = (k: string) => given.length >= 3 && k.startsWith(`${given}_`);
  return only(known.filter((k) => within(given, k) || ends(k))) ?? only(known.filter(begins));
}

function only(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}

/** As snake case: `episodeId`, `Episode-Id`. */
function plain(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s.-]+/g, '_')
    .toLowerCase();
}

/** Letters put in, left out or exchanged: Levenshtein's distance. O(|a| |b|). */
function edits(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    above = row;
  }
  return above[b.length]!;
}
