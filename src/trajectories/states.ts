import type { Episode } from '../schema/episode.ts';
import { parseConfig } from '../schema/parse-config.ts';
import { StateConfig, type StateConfigInput } from '../schema/state-config.ts';
import type { Store } from '../store/store.ts';
import type { SparseRows } from './sparse.ts';
import { stateRows } from './state-rows.ts';
import { scanTexts, walkTexts } from './texts.ts';
import type { Trajectories } from './trajectories.ts';

/**
 * Declared features of the state before each turn, [S rows], for all turns of the columns whatever
 * the view: the observation the turn answers, and the episode's turns before it. Never the turn's
 * own action, calls, results or reward, a later turn, the number of turns, or fenced fields.
 *
 * Which tools get a column and which logged features get one for each value is chosen over all
 * turns of the columns; the value of a column in a row depends on nothing after it. There is no
 * intercept. Text is streamed once; memory is the result and one chunk. O(characters).
 */
export async function stateFeatures(
  store: Store,
  t: Trajectories,
  config: StateConfigInput = {},
): Promise<SparseRows> {
  const rows = stateRows(t, parseConfig(StateConfig, config, 'state feature settings'));
  await scanTexts(store, t, rows.visit);
  return rows.finish();
}

/** The same for trajectories built in memory. */
export function stateFeaturesFromEpisodes(
  episodes: readonly Episode[],
  t: Trajectories,
  config: StateConfigInput = {},
): SparseRows {
  const rows = stateRows(t, parseConfig(StateConfig, config, 'state feature settings'));
  walkTexts(episodes, t, rows.visit);
  return rows.finish();
}
