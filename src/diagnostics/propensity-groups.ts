import type { BehaviourTable } from '../policy/behaviour-table.ts';
import type { BalanceRow, Overlap } from '../schema/diagnostics.ts';
import { featureOf } from '../trajectories/feature-columns.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { balance } from './balance.ts';
import { overlap } from './overlap.ts';

/** Rows of a love plot that are kept. */
const SHOWN = 20;

/** Propensity of a class at some turns, and which of them took it. */
interface Group {
  readonly actionClass: string;
  readonly g: Float64Array;
  readonly taken: Uint8Array;
}

/** Overlap of each class's propensity at the turns of a stage. O(rows log rows × classes). */
export function overlaps(t: Trajectories, behaviour: BehaviourTable, rows: Int32Array): Overlap[] {
  return groups(t, behaviour, rows).flatMap(({ actionClass, g, taken }) => {
    const found = overlap(g, taken);
    return found === null ? [] : [{ actionClass, ...found }];
  });
}

/** Balance of the state features, or of the logged ones where there are none. O(rows × classes × covariates). */
export function balanceRows(
  t: Trajectories,
  behaviour: BehaviourTable,
  rows: Int32Array,
  states?: SparseRows,
): BalanceRow[] {
  const covariates = states === undefined ? loggedFeatures(t, rows) : stateColumns(states, rows);
  return groups(t, behaviour, rows)
    .flatMap(({ actionClass, g, taken }) =>
      covariates.flatMap(({ name, values }) => {
        const found = balance(values, taken, g);
        return found === null ? [] : [{ actionClass, covariate: name, ...found }];
      }),
    )
    .sort((a, b) => Math.abs(b.smdRaw) - Math.abs(a.smdRaw))
    .slice(0, SHOWN);
}

/** One class against the rest; of two classes the second, the first being its mirror. */
function groups(t: Trajectories, { classes, probabilities }: BehaviourTable, rows: Int32Array): Group[] {
  const C = classes.length;
  return classes
    .map((actionClass, a) => ({
      actionClass,
      g: Float64Array.from(rows, (s) => probabilities[s * C + a]!),
      taken: Uint8Array.from(rows, (s) => (t.turns.actionClass.codes[s] === a ? 1 : 0)),
    }))
    .slice(C === 2 ? 1 : 0);
}

function loggedFeatures(t: Trajectories, rows: Int32Array): { name: string; values: Float64Array }[] {
  if (t.features === null) return [];
  let width = Infinity;
  for (const s of rows) width = Math.min(width, t.features.offsets[s + 1]! - t.features.offsets[s]!);
  return Array.from({ length: Number.isFinite(width) ? width : 0 }, (_, k) => ({
    name: `features.${k}`,
    values: Float64Array.from(rows, (s) => featureOf(t, s, k)),
  }));
}

function stateColumns(x: SparseRows, rows: Int32Array): { name: string; values: Float64Array }[] {
  const columns = x.names.map((name) => ({ name, values: new Float64Array(rows.length) }));
  rows.forEach((s, i) => {
    for (let k = x.offsets[s]!; k < x.offsets[s + 1]!; k++) columns[x.indices[k]!]!.values[i] = x.values[k]!;
  });
  return columns;
}
