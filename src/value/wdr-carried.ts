/*
 * Weighted doubly robust, WDR (Thomas & Brunskill 2016), carried convention.
 *
 *   V̂ = Σ_t Σ_i { w̄_it (r_it − Q̂_it) + w̄_{i,t−1} V̂_it },   w̄_it = w_it / Σ_j w_jt,  w̄_{i0} = 1/n
 * with w_it = w_iT for t beyond the end of episode i (its weight is carried forward)
 *
 * A V̂_{t+1} has the weight of turn t, normalised as turn t is: WPDIS of the residuals
 * δ_t = r_t + V̂_{t+1} − Q̂_t, plus the mean of V̂_1. ψ is the linearisation of the ratios, Q̂ taken as known.
 */
import { mean } from '../math/statistics.ts';
import type { Estimator } from './estimator.ts';
import { requireNuisances } from './nuisances.ts';
import { withResiduals } from './residuals.ts';
import { wpdisCarried } from './wpdis-carried.ts';

export const wdrCarried: Estimator = {
  name: 'WDR carried',
  requires: ['behaviour log-probabilities', 'turn rewards', 'q-values'],
  convention: 'carried: an ended episode keeps its weight in later denominators; = WDR as published',
  consistent: true,
  estimate(w, stages, given = {}) {
    requireNuisances(wdrCarried, given);
    const corrected = withResiduals(w, given.q!.logged, given.q!.v);
    const { value, psi } = wpdisCarried.estimate(corrected, stages);
    const regression = mean(corrected.unconditional);
    const ipw = wpdisCarried.estimate(w, stages).value;
    return { value, psi, parts: { ipw, regression, correction: value - regression } };
  },
};
