import type { Finding } from '../schema/check.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { ambiguousTasks } from './instructions.ts';
import { EXAMPLES } from './rule.ts';

export const TASK_CHECK = {
  code: 'ambiguous-task',
  severity: 'warning',
  message:
    'a task id comes with different instructions in different files or policies: two tasks count as one, and are not paired',
  fix: 'Give each domain task ids of its own, for instance airline/3, or keep domains in stores of their own.',
} as const;

/** Task ids that stand for more than one task. */
export async function checkTasks(store: Store): Promise<Finding[]> {
  const tasks = await ambiguousTasks(store);
  if (tasks.length === 0) return [];
  const first = await queryRows(
    store,
    `SELECT task_id, arg_min(episode_id, episode) AS id FROM episodes WHERE list_contains($1, task_id)
     GROUP BY task_id ORDER BY min(episode)`,
    [tasks.slice(0, EXAMPLES)],
  );
  const examples = first.map((row) => ({
    episode: row.id as string,
    turn: null,
    segment: null,
    column: 'episodes.task_id',
    value: (row.task_id as string).slice(0, 120),
  }));
  return [{ ...TASK_CHECK, count: tasks.length, examples }];
}
