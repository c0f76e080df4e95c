import type { TrainedOn } from '../schema/trained-on.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';

/** Which measure of the action both policies' log-probabilities are of. */
export type Measure = 'logprob' | 'log_propensity';

/**
 * Per-turn log-ratios log π(a_k | s_k) − log b(a_k | s_k) of one target on one view.
 * −∞ where π = 0. Rows of turns outside the view are NaN.
 */
export interface LogRatios {
  readonly target: string;
  readonly measure: Measure;
  readonly trainedOn: TrainedOn;
  readonly trajectories: Trajectories;
  readonly values: Float64Array; // [S], aligned with the turns of `trajectories`
}
