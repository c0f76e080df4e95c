import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { behaviourAt, bothPolicies } from './both-policies.ts';

/** Turns alike in every covariate, taken together: what a rule counts costs groups, not turns. */
export interface Groups {
  readonly count: number;
  /** [covariates] left out where it would make too many groups. */
  readonly kept: readonly boolean[];
  readonly codes: readonly Int32Array[]; // [covariates][groups]
  readonly turns: Float64Array; // [groups]
  readonly mass: Float64Array; // [groups × A] of class a without support
  readonly unsupported: Float64Array; // [groups × A] turns at which a has none
  readonly taken: Float64Array; // [groups × A]
}

/** The search costs conditions × groups. */
const MOST = 50_000;

/** O(turns × (covariates + A)). */
export function groupTurns(
  ratios: LogRatios,
  w: EpisodeWeights,
  rows: Int32Array,
  codes: readonly Int32Array[],
  sizes: readonly number[],
  alpha: number,
): Groups {
  const { cell, classes, probabilities } = ratios.table!;
  const A = classes.length;
  const group = new Int32Array(rows.length);
  const kept = codes.map(() => true);
  let count = rows.length > 0 ? 1 : 0;
  codes.forEach((code, c) => {
    // At most MOST groups times the codes of one column: exact, and no table of all that could be.
    const place = new Map<number, number>();
    const keyOf = (k: number): number => group[k]! * sizes[c]! + code[k]!;
    for (let k = 0; k < rows.length && place.size <= MOST; k++)
      if (!place.has(keyOf(k))) place.set(keyOf(k), place.size);
    kept[c] = place.size <= MOST;
    if (!kept[c]) return;
    for (let k = 0; k < rows.length; k++) group[k] = place.get(keyOf(k))!;
    count = place.size;
  });
  const supported = supportOf(ratios, rows, alpha);
  const ownClass = ratios.trajectories.turns.actionClass.codes;
  const out = {
    count,
    kept,
    codes: codes.map(() => new Int32Array(count)),
    turns: new Float64Array(count),
    mass: new Float64Array(count * A),
    unsupported: new Float64Array(count * A),
    taken: new Float64Array(count * A),
  };
  for (let i = 0; i < w.n; i++) {
    let before = 1; // w_{t−1}
    for (let k = w.offsets[i]!, t = 0; k < w.offsets[i + 1]!; k++, t++) {
      const s = rows[k]!;
      const g = group[k]!;
      out.turns[g] = out.turns[g]! + 1;
      const own = g * A + ownClass[s]!;
      out.taken[own] = out.taken[own]! + 1;
      for (let a = 0; a < A; a++) {
        if (supported(s, a)) continue;
        const at = g * A + a;
        out.unsupported[at] = out.unsupported[at]! + 1;
        if (before > 0) out.mass[at] = out.mass[at]! + (before * probabilities[cell[s]! * A + a]!) / w.n;
      }
      before = w.weights[k]! * Math.exp(w.shift[t]!);
      for (let c = 0; c < codes.length; c++) out.codes[c]![g] = codes[c]![k]!;
    }
  }
  return out;
}

/** Whether a class is supported at a turn: by the behaviour's probabilities, else by the cell's own logs. */
function supportOf(ratios: LogRatios, rows: Int32Array, alpha: number): (s: number, a: number) => boolean {
  const both = bothPolicies(ratios);
  if (typeof both !== 'string')
    return (s, a) => behaviourAt(both, s, a) >= alpha && behaviourAt(both, s, a) > 0;
  const { cell, cells, classes } = ratios.table!;
  const A = classes.length;
  const seen = new Uint8Array(cells.length * A);
  for (const s of rows) seen[cell[s]! * A + ratios.trajectories.turns.actionClass.codes[s]!] = 1;
  return (s, a) => seen[cell[s]! * A + a] === 1;
}
