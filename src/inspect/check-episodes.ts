import { LARGEST_REWARD } from '../trajectories/return.ts';
import { returnsSql, usableSql } from '../trajectories/return-sql.ts';
import { offending, type Rule } from './rule.ts';

/** Key names under which logs keep the right answer. */
const GOLD =
  "'gold', 'golds', 'goal', 'goals', 'gt', 'gts', 'ground_truth', 'groundtruth', 'expected_actions', 'expected_output', 'gold_actions', 'gold_answer', 'reference_answer', 'correct_answer', 'answer_key', 'solution'";
/** A fenced text shorter than this may stand in an observation by chance or by right. */
const LEAK_LENGTH = 40;
/** Episodes with less text than this may coincide by chance. */
const DUPLICATE_TEXT = 500;
const DUPLICATE_TOKENS = 64;
const LONG_RESPONSE = 200;

const turnsPerEpisode =
  'SELECT episode, count(*) AS n, min(turn) AS first, max(turn) AS last FROM turns GROUP BY episode';
const paid = `SELECT episode, sum(reward) AS total, count(reward) AS n, arg_max(reward, turn) AS last FROM turns
  WHERE reward IS NOT NULL GROUP BY episode`;

/** What can be wrong with whole episodes, their tasks, rewards, times and versions. */
export const EPISODE_RULES: readonly Rule[] = [
  {
    code: 'no-turns',
    severity: 'warning',
    column: 'episodes.n_turns',
    message: 'episodes hold no turn: there is no action to learn from',
    fix: 'Drop them, or check that the assistant messages were recognised.',
    sql: offending({
      episode: 'e.episode',
      value: "'0'",
      from: 'FROM episodes e ANTI JOIN turns t USING (episode)',
    }),
  },
  {
    code: 'turn-count',
    severity: 'error',
    column: 'episodes.n_turns',
    message: 'n_turns is not the number of turns in the store',
    fix: 'Ingest the log again; the store was written in part.',
    sql: offending({
      episode: 'e.episode',
      value: "e.n_turns || ' for ' || coalesce(t.n, 0)",
      from: `FROM episodes e LEFT JOIN (${turnsPerEpisode}) t USING (episode) WHERE e.n_turns <> coalesce(t.n, 0)`,
    }),
  },
  {
    code: 'agent-exception',
    severity: 'warning',
    column: 'episodes.meta',
    message: 'episodes whose agent died with an exception count with the reward they were given all the same',
    fix: 'Decide whether that is a failure of the agent or of the infrastructure; of the latter, log the ending as aborted.',
    sql: offending({
      value:
        "coalesce(json_extract_string(meta, '$.exception.exception_type'), json_extract_string(meta, '$.exception'))",
      from: "FROM episodes WHERE ending NOT IN ('aborted', 'limit') AND json_type(meta, '$.exception') <> 'NULL'",
    }),
  },
  {
    code: 'turn-gap',
    severity: 'note',
    column: 'turns.turn',
    message: 'turns are not numbered 0, 1, 2, …: some were left out of the log',
    fix: 'Stages are taken in order of the turn number; make sure that nothing the policy did is missing.',
    sql: offending({
      value: "'first ' || first || ', last ' || last || ', ' || n || ' turns'",
      from: `FROM (${turnsPerEpisode}) WHERE first <> 0 OR last <> n - 1`,
    }),
  },
  {
    code: 'missing-task',
    severity: 'warning',
    column: 'episodes.task_id',
    message:
      'episodes without a task id count as tasks of their own: standard errors are too small if they share tasks',
    fix: 'Log the task, prompt or group of every rollout as task_id.',
    sql: offending({ from: 'FROM episodes WHERE task_id IS NULL' }),
  },
  {
    code: 'reward-missing',
    severity: 'note',
    column: 'episodes.reward',
    message: 'episodes without any reward are out of every value, not counted as 0',
    fix: 'Join the scores at ingest with --rewards, or log 0 where 0 was earned.',
    sql: offending({
      episode: 'e.episode',
      value: 'e.ending',
      from: `FROM episodes e LEFT JOIN (${paid}) p USING (episode)
        WHERE e.reward IS NULL AND p.n IS NULL AND e.ending <> 'aborted'`,
    }),
  },
  {
    code: 'reward-on-aborted',
    severity: 'warning',
    column: 'episodes.reward',
    message: 'aborted episodes carry a reward; it is not used',
    fix: 'If the environment ended them, log another ending; if infrastructure failed, log no reward.',
    sql: offending({
      episode: 'e.episode',
      value: 'coalesce(e.reward, p.total)',
      from: `FROM episodes e LEFT JOIN (${paid}) p USING (episode)
        WHERE e.ending = 'aborted' AND (e.reward IS NOT NULL OR p.n > 0)`,
    }),
  },
  {
    code: 'reward-twice',
    severity: 'warning',
    column: 'episodes.reward',
    message:
      'the reward of the episode repeats that of its last turn, or the sum of its turns: it may be counted twice',
    fix: 'The return is the turn rewards plus the episode reward; log what is paid at the end once.',
    sql: offending({
      episode: 'e.episode',
      value: 'e.reward',
      from: `FROM episodes e JOIN (${paid}) p USING (episode)
        WHERE e.reward <> 0 AND (e.reward = p.last OR e.reward = p.total)`,
    }),
  },
  {
    code: 'reward-not-finite',
    severity: 'error',
    column: 'episodes.reward',
    message: `rewards are NaN, infinite or beyond ${LARGEST_REWARD} in size: the episode is left out of every value`,
    fix: 'Log null where a reward is unknown.',
    sql: offending({ value: 'reward', from: `FROM episodes WHERE NOT ${usableSql('reward')}` }),
  },
  {
    code: 'return-not-finite',
    severity: 'error',
    column: 'episodes.reward',
    message: `rewards sum to more than ${LARGEST_REWARD} in size: the episode is left out of every value`,
    fix: 'Bring rewards to a scale of about 1.',
    sql: offending({
      value: "'each of its rewards can be used, their sum cannot'",
      from: `FROM (${returnsSql()}) WHERE isnan(g) AND ${usableSql('reward')}
        AND episode NOT IN (SELECT episode FROM turns WHERE NOT ${usableSql('reward')})`,
    }),
  },
  {
    code: 'time-reversed',
    severity: 'error',
    column: 'episodes.ended_at',
    message: 'episodes end before they start',
    fix: 'Check the clocks and time zones of the log.',
    sql: offending({
      value: "started_at || ' to ' || ended_at",
      from: 'FROM episodes WHERE ended_at < started_at',
    }),
  },
  {
    code: 'version-lag',
    severity: 'note',
    column: 'episodes.version_end',
    message: 'the policy changed while the episode ran',
    fix: 'Ratios are against the version of each turn or token: log it there.',
    sql: offending({
      value: "version_start || ' to ' || version_end",
      from: 'FROM episodes WHERE version_end <> version_start',
    }),
  },
  {
    code: 'version-reversed',
    severity: 'warning',
    column: 'episodes.version_end',
    message: 'the last version of an episode is older than its first',
    fix: 'Check which version numbers the log holds.',
    sql: offending({
      value: "version_start || ' to ' || version_end",
      from: 'FROM episodes WHERE try_cast(version_end AS BIGINT) < try_cast(version_start AS BIGINT)',
    }),
  },
  {
    code: 'gold-in-meta',
    severity: 'warning',
    column: 'episodes.meta',
    message: 'meta holds fields that look like the right answer',
    fix: 'Move them out of meta, so that no export or feature can pick them up.',
    sql: offending({
      episode: 'e.episode',
      value: 'any_value(j.fullkey)',
      from: `FROM episodes e, json_tree(e.meta) j
        WHERE e.meta IS NOT NULL AND (lower(j.key) IN (${GOLD}) OR (e.fenced IS NOT NULL AND j.type = 'VARCHAR'
          AND length(j.atom->>'$') >= ${LEAK_LENGTH} AND contains(e.fenced::VARCHAR, j.atom::VARCHAR)))
        GROUP BY e.episode`,
    }),
  },
  {
    code: 'gold-in-observation',
    severity: 'warning',
    column: 'turns.observation',
    message:
      'observations hold a fenced field (a gold answer or a hidden instruction) word for word: the state knows it',
    fix: 'Take it out of the prompt, or do not use these episodes to compare policies.',
    sql: offending({
      episode: 't.episode',
      turn: 't.turn',
      value: 'any_value(f.gold)',
      from: `FROM turns t JOIN (
          SELECT e.episode, j.atom->>'$' AS gold FROM episodes e, json_tree(e.fenced) j
          WHERE e.fenced IS NOT NULL AND j.type = 'VARCHAR' AND length(j.atom->>'$') >= ${LEAK_LENGTH}
        ) f USING (episode)
        WHERE contains(t.observation, f.gold) GROUP BY t.episode, t.turn`,
    }),
  },
  {
    code: 'duplicate-episode',
    severity: 'note',
    column: 'episodes.episode_id',
    message:
      'episodes repeat another one of their task word for word under another id: they count twice, within one cluster',
    fix: 'Ingest each rollout once. At temperature 0 repetitions are to be expected, and add no information.',
    sql: offending({
      episode: 'unnest(list_sort(repeats)[2:])',
      value: "'like episode number ' || list_min(repeats)",
      from: `FROM (SELECT list(episode) AS repeats FROM (
          SELECT episode, bit_xor(hash(turn, observation, action, tool_calls)) AS text, count(*) AS turns,
            sum(coalesce(length(action), 0) + coalesce(length(observation), 0)) AS size FROM turns GROUP BY episode)
        JOIN episodes USING (episode) WHERE size >= ${DUPLICATE_TEXT}
        GROUP BY task_id, text, turns HAVING count(*) > 1)`,
    }),
  },
  {
    code: 'duplicate-tokens',
    severity: 'warning',
    column: 'segments.token_ids',
    message: 'segments repeat the tokens of another episode: they count twice',
    fix: 'Ingest each rollout once; of forks that share a prefix, mask all but one copy.',
    sql: offending({
      episode: 'unnest(list_sort(repeats)[2:])',
      value: "'like episode number ' || list_min(repeats)",
      from: `FROM (SELECT list(DISTINCT episode) AS repeats FROM (
          SELECT episode, bit_xor(hash(piece, token_ids)) AS ids, sum(len(token_ids)) AS n FROM segments
          GROUP BY episode, segment HAVING n >= ${DUPLICATE_TOKENS})
        GROUP BY ids, n HAVING count(DISTINCT episode) > 1)`,
    }),
  },
  {
    code: 'duplicate-response',
    severity: 'note',
    column: 'turns.action',
    message: 'the same long response stands in five turns or more, of three tasks or more',
    fix: 'A template, a refusal, or a log copied over itself; look at them.',
    sql: offending({
      episode: 'min(t.episode)',
      turn: 'arg_min(t.turn, t.episode::HUGEINT * 4294967296 + t.turn)',
      value: "count(*) || ' times: ' || any_value(left(t.action, 80))",
      n: 'count(*)',
      from: `FROM turns t JOIN episodes e USING (episode) WHERE length(t.action) >= ${LONG_RESPONSE}
        GROUP BY hash(t.action) HAVING count(*) >= 5 AND count(DISTINCT e.task_id) >= 3`,
    }),
  },
];
