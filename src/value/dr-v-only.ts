/*
 * The doubly robust form that needs no action values, for actions that cannot be listed (free text).
 *
 *   ψ_i = V̂(s_1) + Σ_t w_t (r_t + V̂(s_{t+1}) − V̂(s_t))
 *
 * DR with Q̂(s, a) = V̂(s) for every a, so that V̂ = Σ_a π Q̂ whatever π: unbiased for any V̂ fitted on
 * other tasks, that of the behaviour among them. It takes out the differences between states, not
 * those between actions.
 */
import { mean } from '../math/statistics.ts';
import type { Estimator } from './estimator.ts';
import { resampledMean } from './intervals/resampled.ts';
import { requireNuisances } from './nuisances.ts';
import { pdis } from './pdis.ts';
import { withResiduals } from './residuals.ts';

export const drVOnly: Estimator = {
  name: 'DR V-only',
  requires: ['behaviour log-probabilities', 'turn rewards', 'state-values'],
  convention: 'V(s₁) + Σ_t w_t (r_t + V(s_{t+1}) − V(s_t)), any V',
  consistent: true,
  resampled: resampledMean,
  estimate(w, stages, given = {}) {
    requireNuisances(drVOnly, given);
    const { stateValue } = given.stateValues!;
    const corrected = withResiduals(w, stateValue, stateValue);
    const { value, psi } = pdis.estimate(corrected, stages);
    const regression = mean(corrected.unconditional);
    const ipw = pdis.estimate(w, stages).value;
    return { value, psi, parts: { ipw, regression, correction: value - regression } };
  },
};
