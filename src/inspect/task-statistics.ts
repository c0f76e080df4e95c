import { isSuccess } from '../trajectories/return.ts';
import type { Returns } from './returns.ts';

/** Per task id, over some episodes with a return. */
export interface TaskStatistics {
  readonly n: Int32Array;
  readonly sum: Float64Array;
  readonly successes: Int32Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

/**
 * @param task by row, −1 for none; codes below `tasks`
 * @param binary whether a return that is 0 or 1 within 1e-6 is taken as 0 or 1 for the smallest and largest
 */
export function perTask(
  returns: Returns,
  rows: Int32Array,
  binary: boolean,
  task: (row: number) => number = (i) => returns.task[i]!,
  tasks = returns.taskIds.length,
): TaskStatistics {
  const n = new Int32Array(tasks);
  const sum = new Float64Array(tasks);
  const successes = new Int32Array(tasks);
  const min = new Float64Array(tasks).fill(Infinity);
  const max = new Float64Array(tasks).fill(-Infinity);
  for (const i of rows) {
    const c = task(i);
    if (c < 0) continue;
    const g = returns.value[i]!;
    const success = isSuccess(g) ? 1 : 0;
    const shown = binary ? success : g;
    n[c]!++;
    sum[c]! += g;
    successes[c]! += success;
    if (shown < min[c]!) min[c] = shown;
    if (shown > max[c]!) max[c] = shown;
  }
  return { n, sum, successes, min, max };
}
