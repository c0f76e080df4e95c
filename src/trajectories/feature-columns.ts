import { failure } from '../schema/error.ts';
import { pushEntry, type SparseBuilder } from './sparse-builder.ts';
import type { Trajectories } from './trajectories.ts';

/** At most this many distinct values get a column each. */
const FEW = 16;

/** How one logged feature is laid out: its distinct values, or one numeric column. */
interface Layout {
  readonly column: number;
  readonly values: readonly number[] | null;
  /** Column that marks turns without it; −1 where every turn has it. */
  readonly missing: number;
}

/** Columns of the logged `features`, relative to the first of them. */
export interface FeatureColumns {
  readonly names: readonly string[];
  readonly layouts: readonly Layout[];
}

/**
 * Lays out the DOUBLE[] column `features` over all turns of the columns: feature K is one numeric
 * column `features.K`, or a column `features.K=v` for each of its values where they are few.
 * `features.K.missing` marks turns that lack it, where there are any. An infinite value fails.
 */
export function featureColumns(t: Trajectories, oneHot: 'auto' | 'never'): FeatureColumns {
  const names: string[] = [];
  const layouts: Layout[] = [];
  const { features } = t;
  if (features === null) return { names, layouts };
  const S = features.offsets.length - 1;
  let width = 0;
  for (let s = 0; s < S; s++) width = Math.max(width, features.offsets[s + 1]! - features.offsets[s]!);
  for (let k = 0; k < width; k++) {
    const column = names.length;
    const found = scanFeature(t, k);
    const few = oneHot === 'auto' && found.distinct !== null ? found.distinct : null;
    if (few === null) names.push(`features.${k}`);
    else for (const v of few) names.push(`features.${k}=${v}`);
    if (found.missing) names.push(`features.${k}.missing`);
    layouts.push({ column, values: few, missing: found.missing ? names.length - 1 : -1 });
  }
  return { names, layouts };
}

/** Writes the entries of one turn from column `base` on. */
export function writeFeatures(
  columns: FeatureColumns,
  t: Trajectories,
  s: number,
  out: SparseBuilder,
  base: number,
): void {
  for (let k = 0; k < columns.layouts.length; k++) {
    const { column, values, missing } = columns.layouts[k]!;
    const x = featureOf(t, s, k);
    if (Number.isNaN(x)) pushEntry(out, base + missing, 1);
    else if (values === null) pushEntry(out, base + column, x);
    else pushEntry(out, base + column + values.indexOf(x), 1);
  }
}

/** Feature k of a turn; NaN where it has none. */
export function featureOf(t: Trajectories, s: number, k: number): number {
  if (t.features === null) return Number.NaN;
  const i = t.features.offsets[s]! + k;
  return i < t.features.offsets[s + 1]! ? t.features.values[i]! : Number.NaN;
}

function scanFeature(t: Trajectories, k: number): { distinct: number[] | null; missing: boolean } {
  const distinct = new Set<number>();
  let missing = false;
  const S = t.turns.turn.length;
  for (let s = 0; s < S; s++) {
    const x = featureOf(t, s, k);
    if (Number.isNaN(x)) missing = true;
    else if (!Number.isFinite(x))
      throw failure({
        subject: `turns, column features, feature ${k}`,
        wrong: 'not a finite number',
        got: x,
        fix: 'Leave it out (null) where it is unknown.',
      });
    else if (distinct.size <= FEW) distinct.add(x);
  }
  return { distinct: distinct.size > FEW ? null : [...distinct].sort((a, b) => a - b), missing };
}
