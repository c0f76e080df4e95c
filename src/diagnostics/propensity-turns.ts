import type { Trajectories } from '../trajectories/trajectories.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import {
  addPropensities,
  FEATURES_LOOKED_AT,
  type PropensityCells,
  type PropensityTurns,
  propensityCells,
} from './propensity-cells.ts';

/** The sums of loaded logs: of the episodes with a return that the target was not trained on. O(turns · partitions). */
export function propensitySums(ratios: LogRatios, { trajectories: t }: EpisodeWeights): PropensityCells {
  const { turns, episodes } = t;
  const withClasses = ratios.measure === 'log_propensity' && turns.actionClass.values.length > 0;
  const rule = ratios.table?.rule ?? null;
  const features = featureColumns(t);
  const sums = propensityCells({
    classes: withClasses ? turns.actionClass.values.length : 0,
    rules: rule !== null,
    features: features.length,
    tasks: episodes.task.values.length,
  });
  addPropensities(sums, {
    episodes: episodesOf(t),
    logP: turns.behaviourLogPropensity,
    logRatios: ratios.values,
    actionClass: withClasses ? turns.actionClass.codes : null,
    rule,
    features,
  });
  return sums;
}

function* episodesOf({ index, episodeOffsets, episodes }: Trajectories): PropensityTurns['episodes'] {
  for (const e of index) yield [episodeOffsets[e]!, episodeOffsets[e + 1]!, episodes.task.codes[e]!];
}

/** The first features of every turn as columns, [features][S]. */
function featureColumns({ features, turns }: Trajectories): Float64Array[] {
  if (features === null) return [];
  const { offsets, values } = features;
  const S = turns.turn.length;
  let width = 0;
  for (let s = 0; s < S; s++) width = Math.max(width, offsets[s + 1]! - offsets[s]!);
  return Array.from({ length: Math.min(width, FEATURES_LOOKED_AT) }, (_, k) =>
    Float64Array.from({ length: S }, (_, s) =>
      offsets[s]! + k < offsets[s + 1]! ? values[offsets[s]! + k]! : Number.NaN,
    ),
  );
}
