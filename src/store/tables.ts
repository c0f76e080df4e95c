/** Column types of the store, as DuckDB spells them. */
export type ColumnType =
  | 'VARCHAR'
  | 'DOUBLE'
  | 'INTEGER'
  | 'BIGINT'
  | 'BOOLEAN'
  | 'TIMESTAMP'
  | 'JSON'
  | 'DOUBLE[]'
  | 'FLOAT[]'
  | 'INTEGER[]'
  | 'BOOLEAN[]';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly required?: true;
  readonly doc: string;
}

export type TableName =
  | 'sources'
  | 'episodes'
  | 'turns'
  | 'segments'
  | 'scores'
  | 'turn_values'
  | 'critics'
  | 'rejects'
  | 'censored';

/** Raised whenever a table changes; a store of another version is migrated or refused by name. */
export const STORE_VERSION = 3;

const column = (name: string, type: ColumnType, doc: string): Column => ({ name, type, doc });
const required = (name: string, type: ColumnType, doc: string): Column => ({
  name,
  type,
  required: true,
  doc,
});

/**
 * The tables of a store. Rows of `episodes`, `turns` and `segments` lie in the order of
 * (episode, turn) and (episode, segment, piece), so that a scan in insertion order is a scan by episode.
 * `episode` is the store's own dense number of a rollout; `episodes.episode_id` is the log's name.
 */
export const TABLES: Readonly<Record<TableName, readonly Column[]>> = {
  sources: [
    required('source', 'INTEGER', 'Number of the ingested file.'),
    required('path', 'VARCHAR', 'Path as given.'),
    required('sha256', 'VARCHAR', 'Of the bytes as stored.'),
    column(
      'content_sha256',
      'VARCHAR',
      'Of the decompressed bytes: a log is known by it, compressed or not.',
    ),
    required('format', 'VARCHAR', 'Log format.'),
    required('bytes', 'BIGINT', 'Size as read from disk.'),
    required('episodes', 'INTEGER', 'Episodes added.'),
    required('turns', 'BIGINT', 'Turns added.'),
    required('rejects', 'INTEGER', 'Records that could not be read.'),
    required('ingested_at', 'TIMESTAMP', 'When, UTC.'),
  ],
  episodes: [
    required('episode', 'BIGINT', 'Number in this store, dense from 0 in order of ingestion.'),
    required('episode_id', 'VARCHAR', 'Name in the log, unique in the store.'),
    required('source', 'INTEGER', 'The file it came from.'),
    column('task_id', 'VARCHAR', 'Task, prompt or group.'),
    column('trial', 'INTEGER', 'Repetition of the task.'),
    column('policy', 'VARCHAR', 'Agent or model.'),
    column('version_start', 'VARCHAR', 'Policy version at the first token.'),
    column('version_end', 'VARCHAR', 'Policy version at the last token.'),
    required('ending', 'VARCHAR', 'terminated, limit, truncated, aborted, unfinished.'),
    column(
      'ending_assumed',
      'BOOLEAN',
      'The log does not say: `terminated` where rewarded, else `unfinished`.',
    ),
    column('reward', 'DOUBLE', 'Paid at the end, beside the turn rewards.'),
    column('rewards', 'JSON', 'Named parts {name: {score, weight}}.'),
    required('n_turns', 'INTEGER', 'Assistant turns.'),
    column('started_at', 'TIMESTAMP', 'UTC.'),
    column('ended_at', 'TIMESTAMP', 'UTC.'),
    column('cost', 'DOUBLE', 'In the unit of the log.'),
    column('meta', 'JSON', 'Anything else.'),
    column('fenced', 'JSON', 'Gold answers and other fields fenced off at ingest; never read as state.'),
  ],
  turns: [
    required('episode', 'BIGINT', 'Number of the rollout.'),
    required('turn', 'INTEGER', 'From 0.'),
    column('segment', 'INTEGER', 'The segment that holds its tokens.'),
    column('observation', 'VARCHAR', 'What came in since the previous action.'),
    column('action', 'VARCHAR', 'What the agent wrote.'),
    column('tool_calls', 'JSON', '[{name, arguments, result, error}]; null: could not be read.'),
    column('tool_errors', 'INTEGER', 'Failed calls; null: unknown.'),
    column('reward', 'DOUBLE', 'Paid after the action; null counts as 0 in the return.'),
    column('process_reward', 'DOUBLE', 'A judgement of the turn; never in the return.'),
    column('behaviour_logprob', 'DOUBLE', 'Sum of log b over its action tokens, nats.'),
    column('behaviour_log_propensity', 'DOUBLE', 'log b of its declared action class, nats.'),
    column('n_action_tokens', 'INTEGER', 'Sampled tokens.'),
    column('version', 'VARCHAR', 'Policy version.'),
    column('temperature', 'DOUBLE', 'Sampling.'),
    column('top_p', 'DOUBLE', 'Sampling.'),
    column('top_k', 'INTEGER', 'Sampling.'),
    column('logprob_kind', 'VARCHAR', 'raw, processed; null: unknown.'),
    column('action_class', 'VARCHAR', 'Declared abstraction of the action.'),
    column('features', 'DOUBLE[]', 'Declared state features, known before the action.'),
  ],
  segments: [
    required('episode', 'BIGINT', 'Number of the rollout.'),
    required('segment', 'INTEGER', 'From 0.'),
    required('token_ids', 'INTEGER[]', '[T]'),
    required('action_mask', 'BOOLEAN[]', '[T] true where the policy sampled the token.'),
    column('behaviour_logprobs', 'FLOAT[]', '[T] null where the mask is false.'),
    column('versions', 'INTEGER[]', '[T]'),
    column('token_turn', 'INTEGER[]', '[T] the turn a token belongs to.'),
    required(
      'piece',
      'INTEGER',
      'From 0: a row holds at most 1,024 tokens, the next ones follow in the next row.',
    ),
  ],
  scores: [
    required('policy', 'VARCHAR', 'The scored policy.'),
    required('source', 'INTEGER', 'The file it came from.'),
    required('trained_on', 'JSON', '"none", "unknown" or {sources, tasks}.'),
    required('episode', 'BIGINT', 'Number of the rollout.'),
    column('turn', 'INTEGER', 'The scored turn; null for a scored segment.'),
    column('segment', 'INTEGER', 'The scored segment; null for a scored turn.'),
    column('logprob', 'DOUBLE', 'Sum of log π over the action tokens of the turn, nats.'),
    column('log_propensity', 'DOUBLE', 'log π of the logged action class, nats.'),
    column('logprobs', 'FLOAT[]', '[T] of a segment, null where the mask is false.'),
    column('logprob_kind', 'VARCHAR', 'raw, processed; null: unknown.'),
    column('piece', 'INTEGER', 'As in segments; null for a scored turn.'),
  ],
  turn_values: [
    required('critic', 'VARCHAR', 'Name of the critic.'),
    required('episode', 'BIGINT', 'Number of the rollout.'),
    required('turn', 'INTEGER', 'From 0.'),
    column('q', 'DOUBLE', 'Q(s, a).'),
    column('v', 'DOUBLE', 'V(s).'),
    column('advantage', 'DOUBLE', 'Q − V.'),
    column('delta', 'DOUBLE', 'r + V(s′) − V(s).'),
    column('supported', 'BOOLEAN', 'Whether the logs hold turns like this one.'),
    column('advantage_se', 'DOUBLE', 'Standard error of the advantage; null: none is known.'),
    column('mark', 'VARCHAR', 'helpful, harmful; null: not marked, by the rule in critics.'),
  ],
  critics: [
    required('critic', 'VARCHAR', 'Name under which turn_values holds its values.'),
    required('method', 'VARCHAR', 'What was fitted.'),
    required('config', 'JSON', 'Its configuration.'),
    column('policies', 'JSON', 'Only episodes of these; null: of any.'),
    required('sources', 'JSON', '[{path, sha256, episodes}] of the episodes it was fitted on.'),
    required('episodes', 'BIGINT', 'Episodes it was fitted on.'),
    required('turns', 'BIGINT', 'Their turns, each with a row in turn_values.'),
    required('names', 'VARCHAR', 'Fingerprint of the names of the episodes.'),
    required('contents', 'VARCHAR', 'Fingerprint of what the episodes hold.'),
    required('fitted_at', 'TIMESTAMP', 'When it was kept, UTC.'),
    required('quality', 'JSON', 'Held-out errors and the codes of its warnings.'),
    required('mark_rule', 'VARCHAR', 'How its turns are marked.'),
  ],
  rejects: [
    required('source', 'INTEGER', 'The file it came from.'),
    column('line', 'BIGINT', 'From 1; null where the format has no lines.'),
    column('byte_offset', 'BIGINT', 'Of the record, in the decompressed file.'),
    required('reason', 'VARCHAR', 'What is wrong, with the column.'),
    column('excerpt', 'VARCHAR', 'The first characters of the record.'),
  ],
  censored: [
    required('episode_id', 'VARCHAR', 'Name in the log.'),
    column('task_id', 'VARCHAR', 'Task.'),
    column('lag', 'INTEGER', 'Policy versions behind.'),
    required('reason', 'VARCHAR', 'stale, filtered, aborted, zero-variance.'),
  ],
};
