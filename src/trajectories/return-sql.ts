/*
 * The return of trajectories/return.ts as SQL, for what reads a store without loading it. Rewards are summed
 * in the order of turns, so that the sum does not hang on threads.
 */
import { LARGEST_REWARD } from './return.ts';

/** Whether a reward can be summed; null, which counts as 0, can. NaN is above every number in DuckDB. */
export const usableSql = (reward: string): string => `coalesce(abs(${reward}) <= ${LARGEST_REWARD}, true)`;

/** A column of rewards in which NaN, a value that was logged and says nothing, is told from null. */
export const rewardSql = (reward: string): string =>
  `CASE WHEN isnan(${reward}) THEN 'infinity'::DOUBLE ELSE ${reward} END`;

/** Of the turns of each episode, as columns of a query that groups `turns` by episode. */
export const PAID = `
  sum(CASE WHEN ${usableSql('reward')} THEN reward END ORDER BY turn) AS r, count(reward) AS paid,
  coalesce(bool_and(${usableSql('reward')}), true) AS usable`;

const total = '(coalesce(t.r, 0) + coalesce(e.reward, 0))';

/**
 * G of an episode e with the columns PAID of its turns under t: null where it is undefined, NaN where a reward
 * or the sum is no number of reasonable size.
 */
export const RETURN = `
  CASE WHEN e.ending <> 'aborted' AND (e.reward IS NOT NULL OR t.paid > 0) THEN
    CASE WHEN coalesce(t.usable, true) AND ${usableSql('e.reward')} AND abs${total} <= ${LARGEST_REWARD}
      THEN ${total} ELSE 'nan'::DOUBLE END END`;

/** G by episode, with all columns of the episodes that `where` keeps. */
export const returnsSql = (where = 'true'): string => `
  SELECT e.*, ${RETURN} AS g FROM episodes e
  LEFT JOIN (SELECT episode, ${PAID} FROM turns GROUP BY episode) t USING (episode) WHERE ${where}`;
