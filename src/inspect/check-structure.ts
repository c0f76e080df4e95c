/*
 * Rows that refer to what is not there, or stand where they should not: the store was written in part, by
 * another program, or is damaged. Numbers over such rows are wrong, or other commands refuse them.
 */
import { offending, type Rule } from './rule.ts';

const DAMAGED = 'Ingest the logs into a new store; this one was not written whole.';

/** Each turn with the row before it, in the order of the table. */
const inOrder = `(SELECT episode, turn, lag(episode) OVER () AS before, lag(turn) OVER () AS last FROM turns)`;
const OUT_OF_ORDER = `FROM ${inOrder} WHERE episode < before OR (episode = before AND turn < last)`;

/** Rows of a table whose episode is not there. */
const orphans = (table: string, of: { readonly turn?: string; readonly segment?: string }): Rule => ({
  code: `${table.slice(0, -1)}-without-episode`,
  severity: 'error',
  column: `${table}.episode`,
  message: `rows of ${table} belong to an episode that is not in the store`,
  fix: DAMAGED,
  sql: offending({
    ...of,
    value: "'episode number ' || episode",
    from: `FROM ${table} ANTI JOIN episodes USING (episode)`,
  }),
});

export const STRUCTURE_RULES: readonly Rule[] = [
  {
    code: 'episode-repeated',
    severity: 'error',
    column: 'episodes.episode_id',
    message: 'episodes share an episode_id or a number: their turns cannot be told apart',
    fix: DAMAGED,
    sql: offending({
      value: "episode_id || ', number ' || episode",
      from: `FROM episodes WHERE episode_id IN (SELECT episode_id FROM episodes GROUP BY episode_id HAVING count(*) > 1)
        OR episode IN (SELECT episode FROM episodes GROUP BY episode HAVING count(*) > 1)`,
    }),
  },
  orphans('turns', { turn: 'turn' }),
  {
    code: 'turn-repeated',
    severity: 'error',
    column: 'turns.turn',
    message: 'a turn of an episode is there twice',
    fix: DAMAGED,
    sql: offending({
      turn: 'turn',
      value: "'turn ' || turn || ' again'",
      n: 'again',
      // In order, the same turn stands beside itself; only out of order need all turns be counted.
      from: `FROM (SELECT episode, turn, count(*) AS again FROM ${inOrder}
          WHERE episode = before AND turn = last AND NOT EXISTS (${OUT_OF_ORDER}) GROUP BY episode, turn
        UNION ALL SELECT episode, turn, count(*) - 1 FROM turns
          WHERE EXISTS (${OUT_OF_ORDER}) GROUP BY episode, turn HAVING count(*) > 1)`,
    }),
  },
  {
    code: 'turn-order',
    severity: 'error',
    column: 'turns.turn',
    message: 'turns do not lie in the order of their episodes and numbers',
    fix: DAMAGED,
    sql: offending({
      turn: 'turn',
      value: "'after turn ' || last || CASE WHEN episode = before THEN '' ELSE ' of a later episode' END",
      from: OUT_OF_ORDER,
    }),
  },
  orphans('segments', { segment: 'segment' }),
  {
    code: 'segment-missing',
    severity: 'warning',
    column: 'turns.segment',
    message: 'turns name a segment that the episode does not have',
    fix: 'Log the segment, or leave `segment` out: the tokens of the turn are not there.',
    sql: offending({
      turn: 'turn',
      value: "'segment ' || segment",
      from: 'FROM turns ANTI JOIN segments USING (episode, segment) WHERE segment IS NOT NULL',
    }),
  },
  {
    code: 'segment-broken',
    severity: 'error',
    column: 'segments.piece',
    message: 'token sequences are not whole: pieces of them are missing, or there twice',
    fix: DAMAGED,
    sql: offending({
      segment: 'segment',
      value: "count(*) || ' pieces, numbered ' || min(piece) || ' to ' || max(piece)",
      from: `FROM segments GROUP BY episode, segment
        HAVING min(piece) <> 0 OR max(piece) <> count(*) - 1 OR count(DISTINCT piece) <> count(*)`,
    }),
  },
  orphans('scores', { turn: 'turn', segment: 'segment' }),
  {
    code: 'score-of-nothing',
    severity: 'error',
    column: 'scores.turn',
    message: 'scores are of a turn or a segment that the episode does not have, or of neither',
    fix: 'Score what the log holds: turns by their number, segments by theirs.',
    sql: offending({
      turn: 'turn',
      segment: 'segment',
      value: `policy || CASE WHEN turn IS NOT NULL THEN ' turn ' || turn WHEN segment IS NOT NULL THEN ' segment ' || segment
        ELSE ': neither a turn nor a segment' END`,
      from: `FROM scores s WHERE coalesce(piece, 0) = 0 AND episode IN (SELECT episode FROM episodes) AND CASE
        WHEN turn IS NOT NULL THEN NOT EXISTS (FROM turns t WHERE t.episode = s.episode AND t.turn = s.turn)
        WHEN segment IS NOT NULL THEN NOT EXISTS (FROM segments g WHERE g.episode = s.episode AND g.segment = s.segment)
        ELSE true END`,
    }),
  },
];
