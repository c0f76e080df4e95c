import { ENDINGS } from '../schema/episode.ts';
import type { Warning } from '../schema/warning.ts';
import { type Parameters, queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { episodeReturn, isUsable, LARGEST_REWARD } from './return.ts';
import { returnsSql, usableSql } from './return-sql.ts';
import type { Trajectories } from './trajectories.ts';

const ABORTED = ENDINGS.indexOf('aborted');

/** That episodes of the view have a reward, or a sum of rewards, that is no number of reasonable size: left out. */
export function unusableReturns(t: Trajectories): Warning[] {
  const G = episodeReturn(t);
  let count = 0;
  let first = -1;
  t.index.forEach((e, i) => {
    if (!Number.isNaN(G[i]!) || t.episodes.ending[e] === ABORTED || !isPaid(t, e)) return;
    if (count++ === 0) first = e;
  });
  if (count === 0) return [];
  const s = turnsOf(t, first).find((k) => !isUsable(t.turns.reward[k]!));
  return [warning(count, t.episodes.id[first]!, s === undefined ? null : t.turns.turn[s]!)];
}

/** The same of the episodes e of a store that `where` keeps, without loading them. */
export async function unusableReturnsIn(
  store: Store,
  where = 'true',
  parameters?: Parameters,
): Promise<Warning[]> {
  if (await allSmall(store)) return [];
  const [row] = await queryRows(
    store,
    `SELECT count(*) AS n, min(episode) AS episode, arg_min(episode_id, episode) AS id
     FROM (${returnsSql(where)}) WHERE isnan(g)`,
    parameters,
  );
  if (row!.n === 0) return [];
  const [turn] = await queryRows(
    store,
    `SELECT min(turn) AS turn FROM turns WHERE episode = $1 AND NOT ${usableSql('reward')}`,
    [row!.episode as number],
  );
  return [warning(row!.n as number, row!.id as string, turn!.turn as number | null)];
}

/** Whether all rewards are so small beside the limit that no sum of them passes it: then no sum need be formed. */
export async function allSmall(store: Store): Promise<boolean> {
  const limit = LARGEST_REWARD / 1e10; // No episode has so many turns.
  const [row] = await queryRows(
    store,
    `SELECT coalesce((SELECT max(abs(reward)) FROM episodes) <= ${limit}, true)
       AND coalesce((SELECT max(abs(reward)) FROM turns) <= ${limit}, true) AS small`,
  );
  return row!.small === true;
}

function warning(count: number, episode: string, turn: number | null): Warning {
  const place = `episode ${episode}${turn === null ? '' : ` turn ${turn}`}`;
  const which =
    count === 1
      ? `1 episode is left out (${place}): its`
      : `${count} episodes are left out (${place} the first): their`;
  return {
    code: 'return-not-finite',
    message: `${which} reward or the sum of its rewards is NaN, infinite or beyond ${LARGEST_REWARD} in size`,
    count,
    episode,
    ...(turn === null ? {} : { turn }),
    column: 'reward',
  };
}

/** Whether an episode has a reward anywhere, of whatever size. */
export function isPaid(t: Trajectories, e: number): boolean {
  return !Number.isNaN(t.episodes.reward[e]!) || turnsOf(t, e).some((s) => !Number.isNaN(t.turns.reward[s]!));
}

const turnsOf = ({ episodeOffsets: at }: Trajectories, e: number): number[] =>
  Array.from({ length: at[e + 1]! - at[e]! }, (_, k) => at[e]! + k);
