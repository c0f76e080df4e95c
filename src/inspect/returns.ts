import type { ColumnData } from '../store/batch.ts';
import { scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { returnsSql } from '../trajectories/return-sql.ts';

/** Return, task and policy of every episode, [E], in the order of ingestion. */
export interface Returns {
  /** NaN where undefined: aborted, no reward anywhere, or none that can be summed. */
  readonly value: Float64Array;
  /** Whether there is a reward of an episode that was not aborted; its return is NaN where it cannot be summed. */
  readonly defined: Uint8Array;
  readonly aborted: Uint8Array;
  /** Codes into `taskIds`; −1 without a task. */
  readonly task: Int32Array;
  readonly taskIds: readonly string[];
  /** Codes into `policyNames`. */
  readonly policy: Int32Array;
  readonly policyNames: readonly (string | null)[];
}

const SQL = `SELECT task_id AS task, policy, ending = 'aborted' AS aborted, g FROM (${returnsSql()}) ORDER BY episode`;

/** One streaming scan; holds 18 bytes an episode and each distinct task id once. */
export async function readReturns(store: Store, episodes: number): Promise<Returns> {
  const value = new Float64Array(episodes).fill(Number.NaN);
  const defined = new Uint8Array(episodes);
  const aborted = new Uint8Array(episodes);
  const task = new Int32Array(episodes);
  const policy = new Int32Array(episodes);
  const tasks = new Map<string, number>();
  const policies = new Map<string | null, number>();
  let at = 0;
  for await (const { rows, columns } of scan(store, SQL)) {
    const g = columns.g as Extract<ColumnData, { kind: 'f64' }>;
    const ends = columns.aborted as Extract<ColumnData, { kind: 'bool' }>;
    const taskIds = (columns.task as Extract<ColumnData, { kind: 'text' }>).values;
    const names = (columns.policy as Extract<ColumnData, { kind: 'text' }>).values;
    for (let i = 0; i < rows; i++, at++) {
      aborted[at] = ends.values[i]!;
      defined[at] = g.valid && g.valid[i] === 0 ? 0 : 1;
      if (defined[at]) value[at] = g.values[i]!;
      const id = taskIds[i]!;
      task[at] = id === null ? -1 : codeOf(tasks, id);
      policy[at] = codeOf(policies, names[i]!);
    }
  }
  return {
    value,
    defined,
    aborted,
    task,
    taskIds: [...tasks.keys()],
    policy,
    policyNames: [...policies.keys()],
  };
}

function codeOf<T>(codes: Map<T, number>, value: T): number {
  let code = codes.get(value);
  if (code === undefined) codes.set(value, (code = codes.size));
  return code;
}
