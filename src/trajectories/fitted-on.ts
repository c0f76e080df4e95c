/*
 * Which episodes a critic is fitted on, as SQL, and a fingerprint by which they are known again.
 *
 *   names    = Σ_e h(episode_id)
 *   contents = Σ_e h(episode_id, task, policy, ending, reward, Σ_t h(turn, rewards, class, features, texts, calls))
 *
 * h: the lower 64 bits of the MD5, which stay the same from one version of the engine to the next. Sums of 128 bits
 * do not hang on the order in which episodes came, nor on their numbers in the store.
 */
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { PAID, RETURN } from './return-sql.ts';

export interface FittedOn {
  /** Only episodes of these; null: of any policy. */
  readonly policies: readonly string[] | null;
  readonly episodes: number;
  readonly turns: number;
  readonly names: string;
  readonly contents: string;
}

/** An episode of the source, or several. */
export interface FittedSource {
  readonly path: string;
  readonly sha256: string;
  readonly episodes: number;
}

/** A text of any length as 64 bits, a null told from the empty text. */
const digest = (text: string): string => `coalesce(md5_number_lower(${text})::VARCHAR, '-')`;
const value = (column: string): string => `coalesce(${column}::VARCHAR, '-')`;
const together = (parts: readonly string[]): string =>
  `md5_number_lower(concat_ws(',', ${parts.join(', ')}))`;

const TURN = together([
  ...['turn', 'reward', 'tool_errors', 'n_action_tokens', 'features'].map(value),
  ...['action_class', 'observation', 'action', 'tool_calls'].map(digest),
]);
const EPISODE = together([
  ...['episode_id', 'task_id', 'policy', 'ending'].map(digest),
  ...['reward', 'digest'].map(value),
]);

/** Finished episodes with a return and at least one turn, as `criticRows` takes them; with the digest of their turns. */
const fittedSql = (policies: readonly string[] | null): string => `
  SELECT * FROM (
    SELECT e.*, t.n, t.digest, ${RETURN} AS g FROM episodes e
    JOIN (SELECT episode, count(*) AS n, sum(${TURN}) AS digest, ${PAID} FROM turns GROUP BY episode) t USING (episode)
    WHERE e.ending IN ('terminated', 'limit')${policies === null ? '' : ' AND e.policy IN (SELECT unnest($1))'})
  WHERE g IS NOT NULL AND NOT isnan(g)`;

const parameters = (policies: readonly string[] | null) => (policies === null ? undefined : [policies]);

/**
 * The finished, rewarded episodes that a store holds now. One aggregate query over `episodes` and `turns`:
 * O(turns + characters), about 2 s for a million turns of 1,000 characters on two cores.
 */
export async function fittedOn(store: Store, policies: readonly string[] | null = null): Promise<FittedOn> {
  const [row] = await queryRows(
    store,
    `SELECT count(*) AS episodes, coalesce(sum(n), 0)::BIGINT AS turns,
       coalesce(sum(md5_number_lower(episode_id)), 0)::VARCHAR AS names, coalesce(sum(${EPISODE}), 0)::VARCHAR AS contents
     FROM (${fittedSql(policies)})`,
    parameters(policies),
  );
  return { policies, ...(row as Omit<FittedOn, 'policies'>) };
}

/** The files that they came from. O(turns). */
export async function fittedSources(
  store: Store,
  policies: readonly string[] | null = null,
): Promise<FittedSource[]> {
  const rows = await queryRows(
    store,
    `SELECT s.path, s.sha256, count(*) AS episodes FROM (${fittedSql(policies)}) JOIN sources s USING (source)
     GROUP BY source, s.path, s.sha256 ORDER BY source`,
    parameters(policies),
  );
  return rows as unknown as FittedSource[];
}
