import type { ComparedPolicy } from '../schema/compare.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { Selection } from './compare-selector.ts';
import { toolErrors, toolErrorsBy } from './tool-errors.ts';

const SHOWN = 20;

/** Counts of one side's episodes, by SQL. */
export async function comparedPolicy(
  store: Store,
  { selector, where, parameters }: Selection,
): Promise<ComparedPolicy> {
  const [row] = await queryRows(
    store,
    `SELECT count(*) AS episodes, count(*) FILTER (e.ending = 'aborted') AS aborted,
      count(*) FILTER (e.ending IN ('truncated', 'unfinished')) AS cut_short,
      count(*) FILTER (e.ending <> 'aborted' AND e.task_id IS NULL) AS without_task,
      count(DISTINCT e.task_id) FILTER (e.ending <> 'aborted') AS tasks
     FROM episodes e WHERE ${where}`,
    parameters,
  );
  const distinct = async (sql: string, from = ''): Promise<unknown[]> => {
    const rows = await queryRows(
      store,
      `SELECT DISTINCT ${sql} AS x FROM episodes e ${from} WHERE ${where} ORDER BY x LIMIT ${SHOWN}`,
      parameters,
    );
    return rows.map((r) => r.x);
  };
  const calls = await toolErrorsBy(store, 'NULL', `(${where}) AND e.ending <> 'aborted'`, parameters);
  const versions = await distinct('coalesce(e.version_start, e.version_end)');
  return {
    selector,
    policies: (await distinct('e.policy')) as (string | null)[],
    versions: versions.filter((v) => v !== null) as string[],
    sources: (await distinct('s.path', 'JOIN sources s USING (source)')) as string[],
    episodes: row!.episodes as number,
    aborted: row!.aborted as number,
    cutShort: row!.cut_short as number,
    withoutTask: row!.without_task as number,
    tasks: row!.tasks as number,
    toolErrors: calls.get(null) ?? toolErrors([]),
  };
}
