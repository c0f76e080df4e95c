import { clusterVariance } from '../math/statistics.ts';
import type { ActionAdvantage, ClusteredMean, StageAdvantage } from '../schema/credit.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import { actionContrast, turnCells } from './action-contrast.ts';
import type { CriticRows } from './critic-rows.ts';
import { clusterOf, gather } from './held-out.ts';
import { contrastMark } from './marks.ts';
import type { StageGroup } from './stages.ts';

/** Mean of A at each turn index: about 0, since A averages to 0 over the logging policy's actions. */
export function meanByStage(
  r: CriticRows,
  groups: readonly StageGroup[],
  advantage: Float64Array,
): StageAdvantage[] {
  const out: StageAdvantage[] = [];
  for (const group of groups) {
    const byStage = new Map<number, number[]>();
    for (const row of group.rows) {
      const rows = byStage.get(r.stage[row]!);
      if (rows) rows.push(row);
      else byStage.set(r.stage[row]!, [row]);
    }
    for (const stage of [...byStage.keys()].sort((a, b) => a - b)) {
      const rows = byStage.get(stage)!;
      const { tasks, ...mean } = clusteredMean(r, rows, advantage);
      out.push({ turn: stage, pooled: group.pooled, n: rows.length, tasks, advantage: mean });
    }
  }
  return out;
}

/** Each action class and each tool: its contrast within tasks, its mark, mean A and δ of its turns. */
export function meanByAction(
  r: CriticRows,
  actions: SparseRows,
  v: Float64Array,
  advantage: Float64Array,
  delta: Float64Array,
): ActionAdvantage[] {
  const rowsOf = new Map<number, number[]>();
  actions.names.forEach((name, j) => {
    if (/^(class|tool)=/.test(name)) rowsOf.set(j, []);
  });
  for (const row of r.rows)
    for (let i = actions.offsets[row]!; i < actions.offsets[row + 1]!; i++)
      if (actions.values[i] !== 0) rowsOf.get(actions.indices[i]!)?.push(row);
  // A class whose turns all call one tool, and no other turn does: one action under two names.
  const named = new Map<string, { names: string[]; rows: number[] }>();
  for (const [j, rows] of rowsOf) {
    if (rows.length === 0) continue;
    const same = named.get(rows.join());
    if (same) same.names.push(actions.names[j]!);
    else named.set(rows.join(), { names: [actions.names[j]!], rows });
  }
  const cells = turnCells(r, v);
  const placeOf = new Int32Array(r.place.length);
  r.rows.forEach((row, i) => {
    placeOf[row] = i;
  });
  const out: Omit<ActionAdvantage, 'mark'>[] = [];
  for (const { names, rows } of named.values()) {
    const taken = new Uint8Array(r.rows.length);
    for (const row of rows) taken[placeOf[row]!] = 1;
    // The spread of A and δ over tasks holds the fitted critic fixed: no error of these means.
    const { tasks, mean } = clusteredMean(r, rows, advantage);
    out.push({
      action: names.join(', '),
      n: rows.length,
      tasks,
      advantage: { mean, se: null },
      delta: { mean: clusteredMean(r, rows, delta).mean, se: null },
      contrast: actionContrast(cells, taken, r.clusters),
    });
  }
  const looked = out.filter((a) => a.contrast.mean !== null).length;
  return out
    .map((a) => ({ ...a, mark: contrastMark(a.contrast, looked) }))
    .sort((a, b) => (b.contrast.mean ?? 0) - (a.contrast.mean ?? 0) || b.delta.mean - a.delta.mean);
}

function clusteredMean(
  r: CriticRows,
  rows: readonly number[],
  x: Float64Array,
): ClusteredMean & { readonly tasks: number } {
  const values = gather(rows.length, (i) => x[rows[i]!]!);
  const of = clusterOf(r, rows);
  const { se, clusters } = clusterVariance(values, of, r.clusters);
  return {
    mean: values.reduce((a, b) => a + b, 0) / values.length,
    se: Number.isNaN(se) ? null : se,
    tasks: clusters,
  };
}
