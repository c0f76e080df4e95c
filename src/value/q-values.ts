import { failure } from '../schema/error.ts';
import type { QColumns, QValues } from '../schema/q-values.ts';
import type { LogRatios, TargetTable } from '../weights/ratios.ts';

/**
 * What Q̂ says of a target: its value at the logged action, and V = Σ_a π(a | s) Q̂(s, a). O(S · A).
 * @throws where the target's probabilities are not known for all actions, where Q̂ lacks a class that
 * the target takes, or holds no number for an action that it takes
 */
export function qValues(ratios: LogRatios, columns: QColumns): QValues {
  const { trajectories: t, values, target } = ratios;
  const table = tableOf(ratios);
  const S = values.length;
  checkShape(columns, S);
  const place = placesOf(table, columns, target);
  const expected = meanUnder(table, columns, place);
  const A = columns.classes.length;
  const logged = new Float64Array(S).fill(Number.NaN);
  const v = new Float64Array(S).fill(Number.NaN);
  const { codes } = t.turns.actionClass;
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      if (Number.isNaN(values[s]!)) continue; // an episode without a return
      const row = columns.row[s]!;
      if (row < 0)
        throw failure({
          subject: `Q-values (${columns.label})`,
          wrong: `have no row for episode ${t.episodes.id[e]} turn ${t.turns.turn[s]}`,
        });
      v[s] = expected(s);
      const q = columns.q[row * A + place[codes[s]!]!]!;
      // Where π = 0 the weight is 0 from here on, and the value is never used.
      if (values[s]! > -Infinity) logged[s] = q;
      if (!Number.isFinite(v[s]!) || (values[s]! > -Infinity && !Number.isFinite(q)))
        throw failure({
          subject: `Q-values (${columns.label})`,
          wrong: `are no number at episode ${t.episodes.id[e]} turn ${t.turns.turn[s]} for an action that "${target}" takes`,
        });
    }
  return { ...columns, target, logged, v };
}

/** By how much V may miss Σ_a π Q̂, relative to the largest |Q̂| there. */
const ROUNDING = 1e-9;

/**
 * Refuses a V that is not Σ_a π(a | s) Q̂(s, a) of this Q̂ under this target. O(S · A).
 * @throws naming the first turn where they differ
 */
export function requireOwnV(ratios: LogRatios, q: QValues): void {
  const { trajectories: t, values, target } = ratios;
  const table = tableOf(ratios);
  checkShape(q, values.length);
  const expected = meanUnder(table, q, placesOf(table, q, target));
  const A = q.classes.length;
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      if (Number.isNaN(values[s]!)) continue;
      const own = expected(s);
      if (q.v[s] === own) continue;
      let scale = 0;
      for (let a = 0; a < A; a++) scale = Math.max(scale, Math.abs(q.q[q.row[s]! * A + a]!) || 0);
      if (!(Math.abs(q.v[s]! - own) <= ROUNDING * Math.max(scale, 1e-300)))
        throw failure({
          subject: `Q-values (${q.label})`,
          wrong: `V at episode ${t.episodes.id[e]} turn ${t.turns.turn[s]} is not the mean of Q̂ under "${target}"`,
          got: q.v[s]!,
          expected: `Σ π Q̂ = ${own}`,
          fix: 'Form it with qValues(); a V fitted on its own belongs in the V-only form.',
        });
    }
}

/** Σ_a π Q̂ at a turn; once for each row of Q̂ that meets the same cell again. */
function meanUnder(
  { cell, probabilities, classes }: TargetTable,
  { q, row, classes: own }: QColumns,
  place: Int32Array,
): (s: number) => number {
  const rows = q.length / own.length;
  const cellOf = new Int32Array(rows).fill(-1);
  const known = new Float64Array(rows);
  return (s) => {
    const x = row[s]!;
    if (cellOf[x] === cell[s]) return known[x]!;
    const at = cell[s]! * classes.length;
    const from = x * own.length;
    let v = 0;
    for (let a = 0; a < classes.length; a++) {
      const pi = probabilities[at + a]!;
      // Selected, not multiplied: an action that is never taken needs no value.
      if (pi > 0) v += pi * q[from + place[a]!]!;
    }
    cellOf[x] = cell[s]!;
    known[x] = v;
    return v;
  };
}

/** Place of each class of the table among those of Q̂, [classes]; −1 where neither logs nor target need it. */
function placesOf(table: TargetTable, { classes, label }: QColumns, target: string): Int32Array {
  const A = table.classes.length;
  return Int32Array.from(table.classes, (name, a) => {
    const at = classes.indexOf(name);
    if (at < 0)
      for (let c = 0; c < table.cells.length; c++)
        if (table.probabilities[c * A + a]! > 0)
          throw failure({
            subject: `Q-values (${label})`,
            wrong: `lack action class "${name}", which "${target}" takes in ${table.cells[c]}`,
          });
    return at;
  });
}

function tableOf({ table, target }: LogRatios): TargetTable {
  if (table !== null) return table;
  throw failure({
    subject: `target "${target}"`,
    wrong: 'has recorded scores of logged actions only, so V = Σ_a π(a | s) Q(s, a) cannot be formed for it',
    fix: 'Declare it as a policy file over action classes, or use the V-only form, which needs state values.',
  });
}

function checkShape({ q, row, classes, label }: QColumns, S: number): void {
  if (row.length !== S || q.length % classes.length !== 0)
    throw failure({
      subject: `Q-values (${label})`,
      wrong: 'do not fit the turns',
      got: `${row.length} rows of ${classes.length} classes`,
      expected: `${S} turns`,
    });
}
