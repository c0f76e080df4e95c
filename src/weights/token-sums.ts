import { scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { numbersOf } from '../trajectories/column-copy.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { isStandInSql, STAND_IN_SQL } from './stand-in.ts';

/**
 * Σ over the action tokens of a turn, where every one of them has its log-probability. Where one is above 0
 * that one instead, and where one is a stand-in STAND_IN, so that the turn is refused for it: a sum with the others
 * would hide it.
 */
export const SUM_OF_TOKENS = `CASE WHEN count(*) = count(lp) THEN CASE WHEN max(lp) > 1e-6 THEN max(lp)::DOUBLE
  WHEN bool_or(${isStandInSql('lp')}) THEN ${STAND_IN_SQL} ELSE sum(lp::DOUBLE) END END`;

/** log b of each turn from its tokens. */
export const SUMS = `
  SELECT episode, turn, ${SUM_OF_TOKENS} AS logprob
  FROM (
    SELECT episode, unnest(token_turn) AS turn, unnest(action_mask) AS action, unnest(behaviour_logprobs) AS lp
    FROM segments WHERE behaviour_logprobs IS NOT NULL AND token_turn IS NOT NULL
  ) WHERE action AND turn IS NOT NULL
  GROUP BY episode, turn`;

/**
 * The trajectories with the behaviour's turn log-probabilities taken from the tokens where the log
 * gives them token by token only. What the log says of a turn itself stays.
 */
export async function withTokenLogprobs(store: Store, t: Trajectories): Promise<Trajectories> {
  const behaviourLogprob = Float64Array.from(t.turns.behaviourLogprob);
  const rowOf = episodeRows(t);
  let filled = 0;
  for await (const chunk of scan(store, SUMS)) {
    const episode = numbersOf(chunk.columns, 'episode').values;
    const turn = numbersOf(chunk.columns, 'turn').values;
    const sum = numbersOf(chunk.columns, 'logprob').values;
    for (let i = 0; i < chunk.rows; i++) {
      const e = rowOf.get(episode[i]!);
      const s = e === undefined ? -1 : turnRow(t, e, turn[i]!);
      if (s < 0 || !Number.isNaN(behaviourLogprob[s]!) || Number.isNaN(sum[i]!)) continue;
      behaviourLogprob[s] = sum[i]!;
      filled++;
    }
  }
  return filled === 0 ? t : { ...t, turns: { ...t.turns, behaviourLogprob } };
}

/** Row of the episode columns by the store's number. */
export function episodeRows(t: Trajectories): Map<number, number> {
  const rows = new Map<number, number>();
  for (let e = 0; e < t.episodes.episode.length; e++) rows.set(t.episodes.episode[e]!, e);
  return rows;
}

/** Row of a numbered turn; −1 where the episode has none. Turns lie in order, mostly without gaps. */
export function turnRow(t: Trajectories, e: number, turn: number): number {
  const first = t.episodeOffsets[e]!;
  const end = t.episodeOffsets[e + 1]!;
  if (first + turn < end && t.turns.turn[first + turn] === turn) return first + turn;
  for (let s = first; s < end; s++) if (t.turns.turn[s] === turn) return s;
  return -1;
}
