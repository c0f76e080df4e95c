import type { ColumnData } from '../store/batch.ts';
import { queryRows, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { isBinary, isUsable } from '../trajectories/return.ts';
import { PAID } from '../trajectories/return-sql.ts';
import { OUTCOMES, type Outcome } from './compare-outcomes.ts';
import { bothParameters, type Selection } from './compare-selector.ts';
import { fillTask, type TaskTable, taskTable } from './compare-task.ts';

/** Episodes without a task, as they come: n, mean and Σ(x − x̄)² (Welford 1962). */
export interface Moments {
  n: number;
  mean: number;
  squares: number;
}

/** One outcome of both policies; index 0 is A, 1 is B. */
export interface ScannedOutcome {
  readonly table: TaskTable;
  readonly withoutTask: readonly [Moments, Moments];
  readonly missing: [number, number];
  readonly invalid: [number, number];
  /** Every value of both is 0 or 1, within 1e-6. */
  binary: boolean;
  /** Every value of both is 0 or 1 to the last bit. */
  exact: boolean;
  min: number;
  max: number;
}

export interface Scanned {
  /** Task ids, in the order of the rows of each table. */
  readonly tasks: readonly string[];
  /** Whether a task has an episode of A (1), of B (2) or of both (3) that was not aborted. */
  readonly holds: Uint8Array;
  /** By place in OUTCOMES. */
  readonly outcomes: readonly ScannedOutcome[];
}

/** What becomes of aborted episodes. */
export type Aborted = 'left out' | 'counted';

const among = (aborted: Aborted): string => (aborted === 'counted' ? '' : " AND e.ending <> 'aborted'");

const SQL = (a: Selection, b: Selection, outcomes: readonly Outcome[], aborted: Aborted): string => `
  WITH chosen AS (
    SELECT e.episode, e.task_id, e.ending, e.reward, e.n_turns, e.cost, e.started_at, e.ended_at, (${b.where}) AS of_b FROM episodes e
    WHERE ((${a.where}) OR (${b.where}))${among(aborted)}
  ), sums AS (
    SELECT episode, ${PAID},
      sum(tool_errors)::DOUBLE AS errors, count(tool_errors) AS told
    FROM turns WHERE episode IN (SELECT episode FROM chosen) GROUP BY episode
  )
  SELECT e.task_id AS task, coalesce(e.of_b, false) AS of_b,
    ${outcomes.map((o, k) => `(${o.sql})::DOUBLE AS x${k}`).join(', ')}
  FROM chosen e LEFT JOIN sums t USING (episode) ORDER BY e.task_id, e.episode`;

/**
 * One streaming scan in the order of tasks, sorted by the engine (which spills). Held: the trials of one
 * task, and 56 bytes a task and outcome. Time: n log n in the episodes.
 */
export async function scanOutcomes(
  store: Store,
  pair: readonly [Selection, Selection],
  measured: readonly Outcome[] = OUTCOMES,
  aborted: Aborted = 'left out',
  unpaired: ReadonlySet<string> = new Set(),
): Promise<Scanned> {
  const [a, b] = pair;
  const parameters = bothParameters(pair);
  const [row] = await queryRows(
    store,
    `SELECT count(DISTINCT e.task_id) AS tasks FROM episodes e
     WHERE ((${a.where}) OR (${b.where}))${among(aborted)}`,
    parameters,
  );
  const outcomes = measured.map(() => scannedOutcome(row!.tasks as number));
  const holds = new Uint8Array(row!.tasks as number);
  const trials = measured.map(() => [growing(), growing()] as const);
  const tasks: string[] = [];
  const endTask = (): void => {
    if (tasks.length === 0) return;
    for (let k = 0; k < outcomes.length; k++) {
      const [x, y] = trials[k]!;
      fillTask(outcomes[k]!.table, tasks.length - 1, x.values.subarray(0, x.n), y.values.subarray(0, y.n));
      x.n = y.n = 0;
    }
  };
  let current: string | null = null;
  for await (const { rows, columns } of scan(store, SQL(a, b, measured, aborted), parameters)) {
    // An id that stands for several tasks is none: its episodes count for their policy, not in pairs.
    const task = (columns.task as Extract<ColumnData, { kind: 'text' }>).values.map((id) =>
      id !== null && unpaired.has(id) ? null : id,
    );
    const ofB = (columns.of_b as Extract<ColumnData, { kind: 'bool' }>).values;
    const xs = measured.map((_, k) => columns[`x${k}`] as Extract<ColumnData, { kind: 'f64' }>);
    for (let i = 0; i < rows; i++) {
      const side = ofB[i] as 0 | 1;
      if (task[i] !== null && task[i] !== current) {
        endTask();
        current = task[i]!;
        tasks.push(current);
      }
      if (task[i] !== null) holds[tasks.length - 1]! |= side + 1;
      for (let k = 0; k < xs.length; k++) {
        const x = xs[k]!;
        const o = outcomes[k]!;
        if (x.valid && x.valid[i] === 0) o.missing[side]++;
        else if (unusable(x.values[i]!, measured[k]!)) o.invalid[side]++;
        else {
          note(o, x.values[i]!);
          if (task[i] === null) addMoment(o.withoutTask[side], x.values[i]!);
          else push(trials[k]![side], x.values[i]!);
        }
      }
    }
  }
  endTask();
  return { tasks, holds, outcomes };
}

const scannedOutcome = (tasks: number): ScannedOutcome => ({
  table: taskTable(tasks),
  withoutTask: [
    { n: 0, mean: 0, squares: 0 },
    { n: 0, mean: 0, squares: 0 },
  ],
  missing: [0, 0],
  invalid: [0, 0],
  binary: true,
  exact: true,
  min: Infinity,
  max: -Infinity,
});

/**
 * The successes of returns that are 0 or 1 within 1e-6: every number from whole counts. As it is where all are
 * 0 or 1 to the last bit.
 */
export function successes(o: ScannedOutcome): ScannedOutcome {
  if (o.exact) return o;
  const { n, mean } = o.table;
  const K = o.table.difference.length;
  const table = taskTable(K);
  const counts = ([0, 1] as const).map((k) => mean[k].map((m, c) => Math.round(n[k][c]! * m)));
  for (let c = 0; c < K; c++) {
    for (const k of [0, 1] as const) {
      const own = n[k][c]!;
      table.n[k][c] = own;
      if (own === 0) continue;
      const share = counts[k]![c]! / own;
      table.mean[k][c] = share;
      table.squares[k][c] = own * share * (1 - share);
    }
    const [a, b] = [table.mean[0][c]!, table.mean[1][c]!];
    table.difference[c] = b - a;
    table.higher[c] = b * (1 - a) + (a * b + (1 - a) * (1 - b)) / 2;
  }
  const alone = (m: Moments): Moments => {
    const share = m.n === 0 ? 0 : Math.round(m.n * m.mean) / m.n;
    return { n: m.n, mean: share, squares: m.n * share * (1 - share) };
  };
  const withoutTask = [alone(o.withoutTask[0]), alone(o.withoutTask[1])] as const;
  return { ...o, table, withoutTask, exact: true, min: Math.round(o.min), max: Math.round(o.max) };
}

/** NaN and what is beyond any size say nothing, and no episode ends before it begins. */
const unusable = (x: number, { name }: Outcome): boolean =>
  Number.isNaN(x) || !isUsable(x) || (name === 'latency' && x < 0);

function note(o: ScannedOutcome, x: number): void {
  if (!isBinary(x)) o.binary = false;
  if (x !== 0 && x !== 1) o.exact = false;
  if (x < o.min) o.min = x;
  if (x > o.max) o.max = x;
}

function addMoment(m: Moments, x: number): void {
  m.n++;
  const step = x - m.mean;
  m.mean += step / m.n;
  m.squares += step * (x - m.mean);
}

interface Growing {
  n: number;
  values: Float64Array;
}

const growing = (): Growing => ({ n: 0, values: new Float64Array(16) });

function push(g: Growing, x: number): void {
  if (g.n === g.values.length) {
    const wider = new Float64Array(2 * g.n);
    wider.set(g.values);
    g.values = wider;
  }
  g.values[g.n++] = x;
}
