import { ActionConfig, type ActionConfigInput } from '../schema/action-config.ts';
import type { Episode } from '../schema/episode.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { Store } from '../store/store.ts';
import { actionRows } from './action-rows.ts';
import type { SparseRows } from './sparse.ts';
import { scanTexts, walkTexts } from './texts.ts';
import type { Trajectories } from './trajectories.ts';

/**
 * Features of the action of each turn, [S rows], for all turns of the columns whatever the view:
 * its class, its tools, its text and arguments. Results and errors of its calls come after it and
 * are none of them. No intercept. Text is streamed once. O(characters).
 */
export async function actionFeatures(
  store: Store,
  t: Trajectories,
  config: ActionConfigInput = {},
): Promise<SparseRows> {
  const rows = actionRows(t, parseConfig(ActionConfig, config, 'action feature settings'));
  await scanTexts(store, t, rows.visit);
  return rows.finish();
}

/** The same for trajectories built in memory. */
export function actionFeaturesFromEpisodes(
  episodes: readonly Episode[],
  t: Trajectories,
  config: ActionConfigInput = {},
): SparseRows {
  const rows = actionRows(t, parseConfig(ActionConfig, config, 'action feature settings'));
  walkTexts(episodes, t, rows.visit);
  return rows.finish();
}
