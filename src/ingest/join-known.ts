import { parseExact } from '../json/exact-json.ts';
import { Episode, type EpisodeInput } from '../schema/episode.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { jsonText } from './json-text.ts';
import { joinReward, type RewardJoin } from './rewards.ts';
import { episodeEnding } from './settle.ts';

/** Episodes taken up at once. */
const BATCH = 50_000;

/**
 * Joins rewards to the episodes of a source that is in the store, as if they had been joined when it was
 * read: where a reward comes, an ending that was assumed is settled again; one that was logged stays.
 * For use within a transaction. O(episodes of the source); memory: one batch.
 * @returns how many episodes changed
 * @throws a failure naming the episode that already has another reward or task
 */
export async function joinKnown(
  store: Store,
  source: number,
  join: RewardJoin,
  prefix: string,
): Promise<number> {
  let joined = 0;
  for (let after = -1; ; ) {
    const rows = await queryRows(store, episodesSql('source = $1 AND episode > $2', BATCH), [source, after]);
    if (rows.length === 0) return joined;
    after = rows.at(-1)!.episode as number;
    joined += await joinRows(store, rows, join, prefix);
  }
}

/** The same for stored episodes of which a copy has come, by their numbers; the copy is counted by the join already. */
export async function joinCopies(
  store: Store,
  episodes: readonly number[],
  join: RewardJoin,
  prefix: string,
): Promise<number> {
  const { matchedEpisodes, unmatchedEpisodes } = join;
  const rows = await queryRows(store, episodesSql('episode IN (SELECT unnest($1))'), [episodes]);
  const joined = await joinRows(store, rows, join, prefix);
  Object.assign(join, { matchedEpisodes, unmatchedEpisodes });
  return joined;
}

async function joinRows(
  store: Store,
  rows: readonly Record<string, unknown>[],
  join: RewardJoin,
  prefix: string,
): Promise<number> {
  const changes = rows.flatMap((row) => changeOf(row, join, prefix) ?? []);
  if (changes.length > 0)
    await store.connection.run(UPDATE, [JSON.stringify(changes.map((change) => change.columns))]);
  return changes.filter((change) => change.joined).length;
}

const text = (key: string) =>
  `CASE json_type(meta, '$.${key}') WHEN 'VARCHAR' THEN meta->>'$.${key}' END AS ${key}`;
/** The whole of meta where one of the names is a number, of which the engine may not keep every digit. */
const NUMBERED = `CASE WHEN regexp_matches(coalesce(json_type(meta, '$.session_id'), '') || ' ' ||
  coalesce(json_type(meta, '$.trial_name'), ''), 'INT|DOUBLE') THEN meta END AS numbered`;
/** What `joinReward` asks of an episode; of its turns only whether they pay. */
const episodesSql = (where: string, most = Number.MAX_SAFE_INTEGER) => `
  SELECT e.*, t.paid FROM (
    SELECT episode, episode_id, task_id, ending, ending_assumed, reward, rewards, ${text('session_id')}, ${text('trial_name')}, ${NUMBERED},
      json_exists(meta, '$.exception') AS has_exception
    FROM episodes WHERE ${where} ORDER BY episode LIMIT ${most}) e
  LEFT JOIN (SELECT episode, max(abs(reward)) AS paid FROM turns WHERE reward IS NOT NULL GROUP BY episode) t USING (episode)
  ORDER BY episode`;
/** The text of meta as it is, to the last digit, with the exception at its end. */
const metaWith = (exception: string) => `CASE WHEN ${exception} IS NULL THEN meta
  WHEN meta IS NULL OR meta = '{}' THEN '{"exception":' || ${exception} || '}'
  ELSE left(meta, length(meta) - 1) || ',"exception":' || ${exception} || '}' END`;
const UPDATE = `
  UPDATE episodes SET meta = ${metaWith('c.exception')}, reward = c.reward, rewards = c.rewards, task_id = c.task_id, ending = c.ending, ending_assumed = c.ending_assumed
  FROM (SELECT unnest(from_json($1, '[{"episode": "BIGINT", "reward": "DOUBLE", "rewards": "VARCHAR", "task_id": "VARCHAR",
    "ending": "VARCHAR", "ending_assumed": "BOOLEAN", "exception": "VARCHAR"}]'), recursive := true)) c WHERE episodes.episode = c.episode`;

/** The columns of an episode once its reward is joined, and whether more than an exception came; undefined: nothing changes. */
function changeOf(
  row: Record<string, unknown>,
  join: RewardJoin,
  prefix: string,
): { readonly columns: object; readonly joined: boolean } | undefined {
  const before = stored(row, prefix);
  const after = joinReward(before, join);
  if (after === before) return undefined;
  const reward = after.reward ?? null;
  const rewards = after.rewards ?? null;
  const exception = row.has_exception === true ? undefined : after.meta?.exception;
  const ending = after.ending ?? episodeEnding(Episode.parse(after));
  const joined =
    reward !== row.reward ||
    (rewards === null) !== (row.rewards === null) ||
    after.task_id !== row.task_id ||
    ending !== row.ending;
  if (!joined && exception === undefined) return undefined;
  const columns = {
    episode: row.episode,
    reward,
    rewards: rewards === null ? null : jsonText(Episode.shape.rewards.parse(rewards)),
    task_id: after.task_id,
    ending,
    ending_assumed: after.ending === undefined,
    exception: exception === undefined ? null : jsonText(exception),
  };
  return { columns, joined };
}

/** As the log has it: the reward file knows nothing of the prefix that the store's name begins with. */
function stored(row: Record<string, unknown>, prefix: string): EpisodeInput {
  const name = row.episode_id as string;
  const numbered = (row.numbered === null ? {} : parseExact(row.numbered as string)) as Record<
    string,
    unknown
  >;
  const meta: Record<string, unknown> = {};
  for (const key of ['session_id', 'trial_name']) {
    const value = row[key] ?? numbered[key];
    if (value !== null && value !== undefined) meta[key] = value;
  }
  return {
    episode_id: name.startsWith(prefix) ? name.slice(prefix.length) : name,
    task_id: row.task_id as string | null,
    ...(row.ending_assumed === true ? {} : { ending: row.ending as Episode['ending'] & string }),
    reward: row.reward as number | null,
    rewards: row.rewards === null ? null : (JSON.parse(row.rewards as string) as Episode['rewards']),
    meta,
    turns: row.paid === null ? [] : [{ reward: row.paid as number }],
  };
}
