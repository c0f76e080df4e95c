/**
 * What an action does to the return, by comparing turns of the same task at the same turn index.
 *
 *   θ̂ = Σᵢ x̃ᵢ yᵢ / Σᵢ x̃ᵢ²,  x = 1{the turn takes the action},  y = G − V̂(s), V̂ held out by task
 *
 * x̃ is x less its mean over the cell (task × turn index), and less its slope on V̂ within the cells:
 * with the tasks' levels go all differences between kinds of task, with the turn index the length of
 * the episode so far, with V̂ what the observed state foretells (Frisch and Waugh 1933). θ is 0 where
 * actions do nothing, however bad V̂ is, as long as within a cell only V̂ links action and return.
 *
 * Error: CR2 by task (Bell and McCaffrey 2002) for one regressor, task scores uₖ = Σ x̃ᵢ (yᵢ − ȳ_cell − θ̂ x̃ᵢ):
 *   SE² = Σₖ uₖ² / (1 − hₖ) / (Σ x̃²)²,  hₖ = Σ_{i in k} x̃ᵢ² / Σ x̃²
 * t with 1/Σₖ hₖ² − 1 degrees of freedom: tasks count by how much they tell of the action.
 *
 * Departures: the degrees of freedom are those of the effective number of tasks, not Satterthwaite's of
 * the whole design; the loss of a degree for the slope on V̂ is ignored.
 */
import type { ActionContrast } from '../schema/credit.ts';
import type { CriticRows } from './critic-rows.ts';

/** Task × turn index of every fitted turn: equal numbers, equal cells. O(turns). */
export interface TurnCells {
  readonly cell: Int32Array; // [R] by place in the rows
  readonly task: Int32Array; // [R]
  readonly cells: number;
  readonly y: Float64Array; // [R] G − V̂, less its cell's mean
  readonly v: Float64Array; // [R] V̂, less its cell's mean
  readonly size: Float64Array; // [cells] turns
}

/**
 * @param after y = what comes after the turn less V̂ of the next state, for the turns `rows` that have a
 *   next one; its contrast is 0 where V̂(s′) sees all that the action did
 */
export function turnCells(r: CriticRows, v: Float64Array, rows = r.rows, after = false): TurnCells {
  const R = rows.length;
  const task = rows.map((row) => r.cluster[r.place[row]!]!);
  let stages = 0;
  for (const row of rows) stages = Math.max(stages, r.stage[row]! + 1);
  const codes = new Map<number, number>();
  const cell = new Int32Array(R);
  for (let i = 0; i < R; i++) {
    const key = task[i]! * stages + r.stage[rows[i]!]!;
    const code = codes.get(key) ?? codes.size;
    if (code === codes.size) codes.set(key, code);
    cell[i] = code;
  }
  const size = new Float64Array(codes.size);
  for (let i = 0; i < R; i++) size[cell[i]!]!++;
  const y = Float64Array.from(rows, (row) =>
    after ? r.toGo[row + 1]! - v[row + 1]! : r.toGo[row]! - v[row]!,
  );
  const centredV = Float64Array.from(rows, (row) => v[row]!);
  centre(y, cell, size);
  centre(centredV, cell, size);
  return { cell, task, cells: codes.size, y, v: centredV, size };
}

/**
 * @param taken [R] 1 where the turn takes the action, by place in the rows of the cells
 * @param tasks number of task codes
 */
export function actionContrast(c: TurnCells, taken: Uint8Array, tasks: number): ActionContrast {
  const none = (reason: string): ActionContrast => ({ mean: null, se: null, tasks: 0, df: null, reason });
  const R = taken.length;
  const x = Float64Array.from(taken);
  centre(x, c.cell, c.size);
  let spread = 0;
  for (let i = 0; i < R; i++) spread += x[i]! ** 2;
  if (!(spread > 1e-9))
    return none(
      'no task has trials that differ in this action at the same turn: there is nothing to compare',
    );
  // Cells whose turns all take the action, or none, have nothing to compare: they stay out of everything.
  const varies = new Uint8Array(c.cells);
  const told = new Uint8Array(tasks);
  for (let i = 0; i < R; i++)
    if (Math.abs(x[i]!) > 1e-9) {
      varies[c.cell[i]!] = 1;
      told[c.task[i]!] = 1;
    }
  let xv = 0;
  let vv = 0;
  for (let i = 0; i < R; i++) {
    if (varies[c.cell[i]!] === 0) continue;
    xv += x[i]! * c.v[i]!;
    vv += c.v[i]! ** 2;
  }
  const slope = vv > 1e-12 * R ? xv / vv : 0;
  const xx = new Float64Array(tasks);
  let total = 0;
  let xy = 0;
  for (let i = 0; i < R; i++) {
    if (varies[c.cell[i]!] === 0) continue;
    const e = x[i]! - slope * c.v[i]!;
    x[i] = e;
    xx[c.task[i]!]! += e * e;
    total += e * e;
    xy += e * c.y[i]!;
  }
  if (!(total > 1e-6 * spread))
    return none('V̂ tells exactly which turns take the action: no like turns to compare');
  const theta = xy / total;
  const score = new Float64Array(tasks);
  for (let i = 0; i < R; i++) score[c.task[i]!]! += x[i]! * (c.y[i]! - theta * x[i]!);
  let variance = 0;
  let squares = 0;
  const informative = told.reduce((n, yes) => n + yes, 0);
  for (let k = 0; k < tasks; k++) {
    const h = xx[k]! / total;
    squares += h * h;
    if (h < 1) variance += score[k]! ** 2 / (1 - h);
  }
  const df = 1 / squares - 1;
  if (df < 1)
    return none(
      `${informative === 1 ? 'one task alone tells' : 'hardly more than one task tells'} of this action: an error needs several`,
    );
  return { mean: theta, se: Math.sqrt(variance) / total, tasks: informative, df };
}

/** Takes each cell's mean away, in place. */
function centre(x: Float64Array, cell: Int32Array, size: Float64Array): void {
  const sum = new Float64Array(size.length);
  for (let i = 0; i < x.length; i++) sum[cell[i]!]! += x[i]!;
  for (let i = 0; i < x.length; i++) x[i]! -= sum[cell[i]!]! / size[cell[i]!]!;
}
