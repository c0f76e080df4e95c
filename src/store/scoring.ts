import { engineFailure } from './engine-failure.ts';
import { targetOf } from './literal-path.ts';
import { canTryAgain, queryRows } from './query.ts';
import type { Store } from './store.ts';
import { writtenWhole } from './whole-file.ts';

/*
 * What a scorer needs to say how probable another policy finds the logged actions (teacher forcing): JSON Lines, one
 * object an episode, so that a long conversation is written once and not once a turn.
 *
 *   {"episode_id", "task_id", "policy",
 *    "messages": [{"role", "content", "tool_calls"}],     as chat servers take them; tool_calls only where there are some
 *    "turns": [{"turn", "message", "action_class"}],      messages[message] is the action of the turn, what is before it the context
 *    "segments": [{"segment", "token_ids", "action_mask", "token_turn"}]}   where the log holds tokens: the exact sequence
 *
 * An observation is one message of the user, whatever it was made of: the log keeps what came in since the last action as
 * one text. Where the exact tokens matter, score the segments.
 */
const CALLS = `list_transform(from_json(tool_calls, '["JSON"]'), (c, i) -> {
  'id': 'call_' || turn || '_' || i, 'type': 'function',
  'function': {'name': c->>'$.name', 'arguments': coalesce(c->>'$.arguments', '{}')}})`;

const SQL = `
WITH said AS (
  SELECT episode, turn, action_class,
    list_filter([
      CASE WHEN observation IS NOT NULL THEN json_object('role', 'user', 'content', observation) END,
      CASE WHEN json_array_length(tool_calls) > 0
        THEN json_object('role', 'assistant', 'content', coalesce(action, ''), 'tool_calls', ${CALLS})
        ELSE json_object('role', 'assistant', 'content', coalesce(action, '')) END],
      m -> m IS NOT NULL) AS messages
  FROM turns),
placed AS (
  SELECT *, (sum(len(messages)) OVER (PARTITION BY episode ORDER BY turn))::BIGINT - 1 AS message FROM said),
talks AS (
  SELECT episode, flatten(list(messages ORDER BY turn)) AS messages,
    list({'turn': turn, 'message': message, 'action_class': action_class} ORDER BY turn) AS turns
  FROM placed GROUP BY episode),
whole AS (
  SELECT episode, segment, flatten(list(token_ids ORDER BY piece)) AS token_ids,
    flatten(list(action_mask ORDER BY piece)) AS action_mask, flatten(list(token_turn ORDER BY piece)) AS token_turn
  FROM segments GROUP BY episode, segment),
tokens AS (
  SELECT episode, list({'segment': segment, 'token_ids': token_ids, 'action_mask': action_mask,
    'token_turn': token_turn} ORDER BY segment) AS segments
  FROM whole GROUP BY episode)
SELECT episode_id, task_id, policy, coalesce(messages, []) AS messages, coalesce(turns, []) AS turns,
  coalesce(segments, []) AS segments
FROM episodes LEFT JOIN talks USING (episode) LEFT JOIN tokens USING (episode) ORDER BY episode`;

/** Writes contexts and actions of all episodes for a scorer, whole or not at all; numbers in arguments keep their digits. */
export async function exportScoring(
  store: Store,
  path: string,
  options: { readonly replace?: boolean | undefined } = {},
): Promise<{ readonly rows: number }> {
  for (;;)
    try {
      return await writtenWhole(
        path,
        async (part) => {
          const write = `COPY (${SQL}) TO ${targetOf(part)} (FORMAT json, ARRAY false, USE_TMP_FILE false)`;
          const [row] = await queryRows(store, write);
          return { rows: Number(Object.values(row!)[0]) };
        },
        { replace: options.replace, inputs: store.file ? [store.file.path] : [] },
      );
    } catch (error) {
      if (!(await canTryAgain(store, error))) throw engineFailure(path, error);
    }
}
