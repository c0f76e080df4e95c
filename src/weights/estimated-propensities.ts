import type { BehaviourModel } from '../policy/behaviour-model.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { LogRatios } from './ratios.ts';

/**
 * The trajectories with the model's propensities in the place of logged ones. Log-probabilities of
 * whole actions are left out, so that weights can only be of the measure that was estimated.
 */
export function withEstimatedPropensities(t: Trajectories, model: BehaviourModel): Trajectories {
  return {
    ...t,
    turns: {
      ...t.turns,
      behaviourLogPropensity: model.logPropensity,
      behaviourLogprob: new Float64Array(model.logPropensity.length).fill(Number.NaN),
    },
  };
}

/** Says on the ratios that the behaviour in them is a model. */
export function labelEstimated(ratios: LogRatios, model: BehaviourModel): LogRatios {
  return {
    ...ratios,
    propensities: 'estimated',
    behaviour: model,
    warnings: [
      ...ratios.warnings.filter((w) => w.code !== 'constant-propensity'),
      ...model.warnings,
      {
        code: 'estimated-propensities',
        message: `the behaviour’s propensities are estimated (multinomial logistic, ${model.features.length} features, ${model.folds} folds by task), not logged: what drove its actions beyond these features confounds the value, its standard errors leave the fit out, and a mean weight of 1 says little`,
      },
    ],
  };
}
