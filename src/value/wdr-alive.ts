/*
 * Weighted doubly robust, WDR (Thomas & Brunskill 2016), alive convention.
 *
 *   V̂ = Σ_t Σ_i { w̄_it (r_it − Q̂_it) + w̄_{i,t−1} V̂_it },   w̄_it = w_it / Σ_j w_jt,  w̄_{i0} = 1/n
 * each stage normalised over the episodes still alive at it. Not the value of the target when episodes differ
 * in length; shown because others print it.
 *
 * A V̂_{t+1} has the weight of turn t, normalised as turn t is: WPDIS of the residuals
 * δ_t = r_t + V̂_{t+1} − Q̂_t, plus the mean of V̂_1. ψ is the linearisation of the ratios, Q̂ taken as known.
 */
import { mean } from '../math/statistics.ts';
import type { Estimator } from './estimator.ts';
import { requireNuisances } from './nuisances.ts';
import { withResiduals } from './residuals.ts';
import { wpdisAlive } from './wpdis-alive.ts';

export const wdrAlive: Estimator = {
  name: 'WDR alive',
  requires: ['behaviour log-probabilities', 'turn rewards', 'q-values'],
  convention: 'alive: each denominator sums the episodes still alive; not consistent when lengths differ',
  consistent: false,
  estimate(w, stages, given = {}) {
    requireNuisances(wdrAlive, given);
    const corrected = withResiduals(w, given.q!.logged, given.q!.v);
    const { value, psi } = wpdisAlive.estimate(corrected, stages);
    const regression = mean(corrected.unconditional);
    const ipw = wpdisAlive.estimate(w, stages).value;
    return { value, psi, parts: { ipw, regression, correction: value - regression } };
  },
};
