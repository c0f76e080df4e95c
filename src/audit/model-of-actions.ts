import { type ModelEvidence, modelEvidence } from '../diagnostics/model-evidence.ts';
import { behaviourFeatures } from '../policy/behaviour-features.ts';
import { behaviourModel } from '../policy/behaviour-model.ts';
import type { Reason } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import type { Store } from '../store/store.ts';
import { clusters } from '../trajectories/clusters.ts';
import { filterEpisodes } from '../trajectories/view.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { withReturn } from '../weights/with-return.ts';
import { countWords } from '../weights/words.ts';
import type { Evidence } from './reasons.ts';

/** Turns above which the fits would take longer than the audit. */
export const MOST_TURNS = 50_000;
const MOST_CLASSES = 32;
/** Nats a turn below which the model is better by no more than rounding of propensities to two digits. */
const MATERIAL = 2e-4;

/** Fits the model where the logs are small enough for it; null elsewhere, and where the propensities are a model's own. */
export async function modelOfActions(
  store: Store,
  ratios: Pick<LogRatios, 'measure' | 'propensities' | 'trajectories'>,
): Promise<ModelEvidence | null> {
  if (ratios.measure !== 'log_propensity' || ratios.propensities === 'estimated') return null;
  const { turns } = ratios.trajectories;
  if (turns.turn.length > MOST_TURNS || turns.actionClass.values.length > MOST_CLASSES) return null;
  const used = withReturn(ratios.trajectories);
  const t = filterEpisodes(used, (e) => used.episodeOffsets[e + 1]! > used.episodeOffsets[e]!);
  if (clusters(t).count < 2 || turns.actionClass.values.length < 2) return null;
  for (const e of t.index)
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++)
      if (turns.actionClass.codes[s]! < 0) return null;
  return modelEvidence(t, behaviourModel(t, await behaviourFeatures(store, t)));
}

/** A model of the actions that predicts clearly better than the propensities that were logged. */
export function modelPredictsBetter({ model }: Evidence, { propensityAlpha }: AuditConfig): Reason[] {
  const limit = -Math.log10(propensityAlpha);
  if (!model || model.strength < limit || model.gain < MATERIAL) return [];
  return [
    {
      code: 'propensities-outpredicted',
      verdict: 'refused',
      message: `a model of the actions, fitted to other tasks, predicts them better than the logged propensities, by ${model.gain.toPrecision(2)} nats a turn over ${countWords(model.turns)} turns: right propensities are the best prediction there is`,
      value: model.strength,
      threshold: limit,
    },
  ];
}
