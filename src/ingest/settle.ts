import type { Ending, Episode } from '../schema/episode.ts';
import type { Turn } from '../schema/turn.ts';

/** An absent ending is `terminated` where any reward is present, else `unfinished`. */
export function episodeEnding(episode: Episode): Ending {
  if (episode.ending !== undefined) return episode.ending;
  const rewarded = episode.reward !== null || episode.turns.some((t) => t.reward !== null);
  return rewarded ? 'terminated' : 'unfinished';
}

/** Failed calls of a turn: as logged, else counted where every call says; null: unknown. */
export function toolErrors(turn: Turn): number | null {
  if (turn.tool_errors !== null) return turn.tool_errors;
  if (turn.tool_calls === null) return null;
  let errors = 0;
  for (const call of turn.tool_calls) {
    if (call.error === null) return null;
    if (call.error) errors++;
  }
  return errors;
}
