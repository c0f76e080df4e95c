/*
 * The logged propensities against a model of the actions, fitted to the other tasks:
 *
 *   e_m = Π_{turns of fold m} b̂^(−m)(a)/p(a),   e = mean_m e_m
 *
 * Under right propensities each e_m has mean 1 whatever the model (the other tasks are drawn independently of fold m), so
 * P(e ≥ 1/α) ≤ α. A model that lacks what the behaviour looked at predicts worse and e is near 0: nothing is said then.
 * Sees what no single cell shows, such as propensities that are off by several features at once. Cost: the fits.
 */
import type { BehaviourModel } from '../policy/behaviour-model.ts';
import { foldsByTask } from '../trajectories/split.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

export interface ModelEvidence {
  /** log₁₀ e. */
  readonly strength: number;
  /** Mean of log b̂ − log p, nats a turn. */
  readonly gain: number;
  readonly turns: number;
}

/** @param model of the same view, cross-fitted with its seed */
export function modelEvidence(t: Trajectories, model: BehaviourModel): ModelEvidence {
  const fold = foldsByTask(t, model.folds, model.config.seed);
  const logs = new Float64Array(model.folds);
  let total = 0;
  let turns = 0;
  t.index.forEach((e, i) => {
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      const gain = model.logPropensity[s]! - t.turns.behaviourLogPropensity[s]!;
      logs[fold[i]!] = logs[fold[i]!]! + gain;
      total += gain;
      turns++;
    }
  });
  const top = logs.reduce((a, b) => Math.max(a, b), -Infinity);
  const e = top + Math.log(logs.reduce((sum, x) => sum + Math.exp(x - top), 0) / logs.length);
  return { strength: e / Math.LN10, gain: total / turns, turns };
}
