/*
 * SWITCH-DR (Wang, Agarwal & Dudík 2017), with the logged action's weight, over turns.
 *
 *   ψ_i = V̂_1 + Σ_t 1{w_t ≤ τ} w_t (r_t + V̂_{t+1} − Q̂_t)
 *
 * τ = ∞ is DR, τ = 0 is DM. One turn is the bandit form.
 *
 * Departures: the switch looks at the cumulative weight of the logged actions; the paper's SWITCH without
 * the correction needs the behaviour's probability of every action: see switch.ts.
 */
import type { Estimator } from './estimator.ts';
import { onShrunken } from './on-shrunken.ts';

export function switchDr(tau: number): Estimator {
  if (!(tau >= 0)) throw new RangeError(`τ must be at least 0, got ${tau}`);
  const most = Math.log(tau);
  return onShrunken(
    'SWITCH-DR',
    `DR where the cumulative weight is at most τ = ${tau}, the regression beyond`,
    (log) => (log <= most ? log : -Infinity),
  );
}
