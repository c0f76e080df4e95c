import type { ActionAdvantage } from '../schema/credit.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import { actionContrast, turnCells } from './action-contrast.ts';
import type { CriticRows } from './critic-rows.ts';
import { contrastMark } from './marks.ts';

/**
 * Actions whose effect V̂(s′) does not see: the return after the turn, less V̂ of the next state, differs
 * between turns with the action and turns without it, of the same task at the same turn. Such an effect
 * is credited to later turns. Limit: two-sided 5 % of t over the actions looked at. O(turns × actions).
 */
export function unseenActions(
  r: CriticRows,
  actions: SparseRows,
  v: Float64Array,
  listed: readonly Pick<ActionAdvantage, 'action'>[],
): string[] {
  const rows = r.rows.filter((row) => r.last[row] === 0);
  if (rows.length === 0) return [];
  const cells = turnCells(r, v, rows, true);
  const placeOf = new Int32Array(r.place.length).fill(-1);
  rows.forEach((row, i) => {
    placeOf[row] = i;
  });
  const found = listed.map(({ action }) => {
    const column = actions.names.indexOf(action.split(', ')[0]!);
    const taken = new Uint8Array(rows.length);
    for (const row of rows)
      for (let k = actions.offsets[row]!; k < actions.offsets[row + 1]!; k++)
        if (actions.indices[k] === column && actions.values[k] !== 0) taken[placeOf[row]!] = 1;
    return { action, contrast: actionContrast(cells, taken, r.clusters) };
  });
  const looked = found.filter((f) => f.contrast.mean !== null).length;
  return found.filter((f) => contrastMark(f.contrast, looked) !== null).map((f) => f.action);
}
