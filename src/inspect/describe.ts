import type { Description } from '../schema/describe.ts';
import type { Warning } from '../schema/warning.ts';
import type { Store } from '../store/store.ts';
import { unusableReturnsIn } from '../trajectories/unusable-returns.ts';
import { describeReward } from './describe-reward.ts';
import { describeTables } from './describe-tables.ts';
import { readReturns } from './returns.ts';
import { savedCritics, staleWarnings } from './saved-critics.ts';
import { simulatedWarnings } from './simulated.ts';
import { toolErrorsBy } from './tool-errors.ts';

/** What is in a store: counts by SQL, returns by one streaming scan. Cost: linear in rows. */
export async function describe(store: Store): Promise<Description> {
  const tables = await describeTables(store);
  const calls = await toolErrorsBy(store, 'e.policy');
  const reward = describeReward(await readReturns(store, tables.episodes), calls);
  const critics = await savedCritics(store);
  const description = { store: store.path, ...tables, ...reward, critics, notes: NOTES };
  return {
    ...description,
    warnings: [
      ...(await simulatedWarnings(store)),
      ...warnings(description),
      ...(await unusableReturnsIn(store)),
      ...staleWarnings(critics),
    ],
  };
}

const NOTES = [
  'A return is the sum of the turn rewards and the episode reward; it is undefined for aborted episodes and for episodes without any reward, and those are out of the reward statistics (both counts are shown).',
  'Ending `limit` is part of the task and counts like `terminated`; `truncated` and `unfinished` episodes with a reward count with what was logged.',
  'Standard errors: for new tasks clustered by task (CR1); for these very tasks from the spread within them, the tasks held fixed; of episodes alone as if they were independent. Intervals are withheld below 4 degrees of freedom: with 2 tasks an interval for a share can be [−2, 3].',
  'Quantiles are of type 7 (linear interpolation at (n − 1)q).',
];

function warnings(d: Omit<Description, 'warnings'>): Warning[] {
  const list: Warning[] = [];
  const warn = (code: string, message: string, count?: number, column?: string): void => {
    list.push({ code, message, ...(count === undefined ? {} : { count }), ...(column ? { column } : {}) });
  };
  if (d.episodes === 0) {
    warn('no-episodes', 'The store holds no episode.');
    return list;
  }
  const r = d.reward;
  if (r === null)
    warn('no-reward', 'No episode has a return: nothing can be said about how good the policy is.');
  else {
    if (r.withoutReward > 0)
      warn(
        'without-reward',
        'Episodes without any reward are out of the reward statistics, not counted as 0.',
        r.withoutReward,
      );
    if (r.aborted > 0)
      warn(
        'aborted',
        'Aborted episodes are out of the reward statistics. If hard tasks abort more often, the mean is too high.',
        r.aborted,
      );
    if (r.missingTask > 0)
      warn(
        'missing-task',
        'Episodes without a task id count as tasks of their own; if they share tasks, the standard error is too small.',
        r.missingTask,
        'task_id',
      );
    if (r.clusters < 20)
      warn(
        'few-clusters',
        r.interval === null
          ? `With fewer than 5 tasks (here ${r.clusters}) there is no interval for new tasks, and the standard error is a guess.`
          : 'With fewer than 20 tasks the clustered standard error and its interval are rough.',
        r.clusters,
      );
  }
  const cut = d.endings.truncated + d.endings.unfinished;
  if (cut > 0)
    warn(
      'cut-short',
      'Truncated or unfinished episodes: what they would still have earned is missing from their return.',
      cut,
      'ending',
    );
  if (d.rejects.count > 0)
    warn('rejects', 'Records that could not be read are not in these numbers.', d.rejects.count);
  if (d.policies.length > 1)
    warn(
      'mixed-policies',
      `${d.policies.length} policies are in this store; the mean return is of their mix.`,
      d.policies.length,
      'policy',
    );
  return list;
}
