import { ENDINGS } from '../schema/episode.ts';
import type { Warning } from '../schema/warning.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

const ABORTED = ENDINGS.indexOf('aborted');

/** That aborted episodes of the view carry a reward: infrastructure failed, so it is of no policy and not used. */
export function abortedRewards({ index, episodeOffsets, episodes, turns }: Trajectories): Warning[] {
  let count = 0;
  let first = -1;
  for (const e of index) {
    if (episodes.ending[e] !== ABORTED) continue;
    let paid = !Number.isNaN(episodes.reward[e]!);
    for (let s = episodeOffsets[e]!; s < episodeOffsets[e + 1]! && !paid; s++)
      paid = !Number.isNaN(turns.reward[s]!);
    if (!paid) continue;
    count++;
    if (first < 0) first = e;
  }
  return count === 0 ? [] : [warning(count, episodes.id[first]!)];
}

/** The same of all episodes of a store, without loading them. */
export async function abortedRewardsIn(store: Store): Promise<Warning[]> {
  const aborted = "SELECT episode FROM episodes WHERE ending = 'aborted'";
  const paid = `SELECT episode FROM turns WHERE reward IS NOT NULL AND episode IN (${aborted})`;
  const [row] = await queryRows(
    store,
    `SELECT count(*) AS n, arg_min(episode_id, episode) AS first FROM episodes
     WHERE ending = 'aborted' AND (reward IS NOT NULL OR episode IN (${paid}))`,
  );
  return row!.n === 0 ? [] : [warning(row!.n as number, row!.first as string)];
}

const warning = (count: number, episode: string): Warning => ({
  code: 'reward-on-aborted',
  message: `${count === 1 ? '1 aborted episode carries a reward' : `${count} aborted episodes carry a reward`} (episode ${episode}${count === 1 ? '' : ' the first'}): it is not used, since what infrastructure cut off says nothing of a policy`,
  count,
  episode,
  column: 'reward',
});
