/*
 * Rollouts that stand in the logs more than once under other names and other tasks. They count as independent, so that a
 * log copied eight times has errors a third of what they should be, and nothing in the weights shows it.
 *
 * Two rollouts are alike where all that was observed, said, done, paid and logged as probability is the same; names and
 * times are left out. Short rollouts over few states are alike by chance, so pairs are counted against
 *
 *   E = Σ_i (n_{s(i)} − 1) p_i / 2       n_s rollouts that begin in the same state as i (observation and features of its
 *                                        first turn), p_i = Π_t p(a_t): at most so many pairs of independent rollouts
 *                                        take the same actions, and fewer are alike in all else
 *
 * They are copies where pairs are more than 1.25 E by ten pairs or more, and at least five rollouts have a copy under
 * another task. Where no probabilities are logged p_i is 1 for what is short, and 0 where 200 characters or more were
 * written by the agent, which nobody writes twice. Missed: copies among rollouts that are alike by chance just as often, as
 * those of a deterministic policy are. O(turns) in the engine.
 */
import type { Finding } from '../schema/check.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { EXAMPLES, VALUE_LENGTH } from './rule.ts';

export const COPIES = 'copied-episode';

/** What is known of the copies in a store. */
export interface Copies {
  /** Episodes that repeat another one under another task, the first of each left out. */
  readonly extra: number;
  readonly episodes: number;
  /** Σ k²/n over groups of k alike: how many times too small the variance of a mean is taken to be. */
  readonly inflation: number;
  readonly examples: Finding['examples'];
}

const WRITTEN = 200;

/** Of the whole action where the log holds it, else of its class: as likely to come again as what is compared. */
const LOG_P = `CASE WHEN action IS NULL AND segment IS NULL THEN behaviour_log_propensity
  ELSE coalesce(behaviour_logprob, behaviour_log_propensity) END`;

const SQL = `
WITH parts AS (
  SELECT episode,
    bit_xor(hash(turn, observation, action, tool_calls, action_class, features, reward, process_reward,
      behaviour_logprob, behaviour_log_propensity)) AS said,
    max(CASE WHEN first THEN hash(observation, features) END) AS start,
    sum(${LOG_P}) AS log_p, count(${LOG_P}) AS with_p, count(*) AS turns,
    sum(coalesce(length(action), 0)) AS written
  FROM (SELECT *, row_number() OVER (PARTITION BY episode ORDER BY turn) = 1 AS first FROM turns) GROUP BY episode),
tokens AS (SELECT episode, bit_xor(hash(segment, piece, token_ids)) AS ids FROM segments GROUP BY episode),
whole AS (
  SELECT e.episode, e.episode_id, coalesce(e.task_id, 'episode ' || e.episode) AS task, p.start,
    hash(p.said, p.turns, k.ids, e.reward, e.ending) AS content,
    CASE WHEN p.with_p = p.turns THEN exp(p.log_p) WHEN p.written >= ${WRITTEN} THEN 0 ELSE 1 END AS p
  FROM episodes e JOIN parts p USING (episode) LEFT JOIN tokens k USING (episode)),
starts AS (SELECT start, count(*) AS n FROM whole GROUP BY start),
alike AS (
  SELECT content, count(*) AS k, count(DISTINCT task) AS tasks, min(episode) AS first, list_sort(list(episode))[2:] AS others
  FROM whole GROUP BY content)
SELECT (SELECT count(*) FROM whole)::INTEGER AS episodes,
  (SELECT coalesce(sum(k * (k - 1) / 2), 0) FROM alike)::DOUBLE AS pairs,
  (SELECT coalesce(sum((s.n - 1) * w.p / 2), 0) FROM whole w JOIN starts s ON w.start IS NOT DISTINCT FROM s.start)::DOUBLE AS expected,
  (SELECT coalesce(sum(k - 1), 0) FROM alike WHERE tasks > 1)::INTEGER AS extra,
  (SELECT coalesce(sum(k * k), 0) FROM alike WHERE tasks > 1)::DOUBLE
    + (SELECT coalesce(sum(k), 0) FROM alike WHERE tasks = 1)::DOUBLE AS squares,
  (SELECT list({'first': a.first, 'other': a.others[1]} ORDER BY a.first)[:${EXAMPLES}] FROM alike a WHERE tasks > 1)::JSON::VARCHAR AS shown`;

/** The copies of a store; null where none stand out. */
export async function copiesIn(store: Store): Promise<Copies | null> {
  const [row] = await queryRows(store, SQL);
  const { episodes, pairs, expected, extra, squares } = row as Record<string, number>;
  if (extra! < 5 || pairs! < 1.25 * expected! + 10) return null;
  const shown = JSON.parse(row!.shown as string) as { first: number; other: number }[];
  const names = new Map(
    (
      await queryRows(store, 'SELECT episode, episode_id FROM episodes WHERE list_contains($1, episode)', [
        shown.flatMap((x) => [x.first, x.other]),
      ])
    ).map((r) => [r.episode as number, r.episode_id as string]),
  );
  return {
    extra: extra!,
    episodes: episodes!,
    inflation: squares! / episodes!,
    examples: shown.map(({ first, other }) => ({
      episode: names.get(other) ?? null,
      turn: null,
      segment: null,
      column: 'episodes.episode_id',
      value: `like ${names.get(first)}`.slice(0, VALUE_LENGTH),
    })),
  };
}

export async function checkCopies(store: Store): Promise<Finding[]> {
  const found = await copiesIn(store);
  if (found === null) return [];
  return [
    {
      code: COPIES,
      severity: 'error',
      message: `episodes repeat another one in all but names and times, under another task: they count as independent, and variances are taken to be ${found.inflation.toFixed(1)} times too small`,
      count: found.extra,
      examples: [...found.examples],
      fix: 'Ingest each rollout once, or give the copies the task of the first.',
    },
  ];
}
