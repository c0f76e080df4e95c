import { offending, type Rule } from './rule.ts';

/** What a reader of chats could not settle, as it stands in meta and in the turns. */
export const CALL_RULES: readonly Rule[] = [
  {
    code: 'results-orphaned',
    severity: 'warning',
    column: 'episodes.meta',
    message: 'tool results belong to no call of the log: they are observed, and no call has their outcome',
    fix: 'Log the id of the call with each result; look for calls that were cut from the log.',
    sql: offending({
      value: "n || CASE WHEN n = 1 THEN ' result' ELSE ' results' END",
      n: 'n',
      from: `FROM (SELECT episode, TRY_CAST(meta ->> 'orphaned_results' AS BIGINT) AS n FROM episodes WHERE meta IS NOT NULL)
        WHERE n > 0`,
    }),
  },
  {
    code: 'calls-unread',
    severity: 'warning',
    column: 'turns.tool_calls',
    message: 'calls of turns are written in a shape that could not be read: calls and tool errors are null',
    fix: 'Log them as tool_calls; "turnwise ingest" names the shape.',
    sql: offending({
      turn: 'turn',
      value: 'left(action, 120)',
      from: 'FROM turns WHERE tool_calls IS NULL AND tool_errors IS NULL',
    }),
  },
  {
    code: 'logprob-stand-in',
    severity: 'warning',
    column: 'turns.behaviour_logprob',
    message:
      'token log-probabilities are −9999, −1e308 or the like, or 0.0 on every token: stand-ins for what was not measured, so the turn has no sum',
    fix: 'Log the log-probability of each sampled token, from the server that sampled it.',
    sql: offending({
      turn: 'turn',
      from: `FROM (SELECT episode, unnest(from_json(meta -> 'stand_in_logprob_turns', '["INTEGER"]')) AS turn FROM episodes
          WHERE json_type(meta -> 'stand_in_logprob_turns') = 'ARRAY')
        WHERE turn IS NOT NULL`,
    }),
  },
];
