/*
 * Doubly robust with optimistic shrinkage, DRos (Su, Dimakopoulou, Krishnamurthy & Dudík 2020), over turns.
 *
 *   ŵ = λ w / (w² + λ)
 *   ψ_i = V̂_1 + Σ_t ŵ_t (r_t + V̂_{t+1} − Q̂_t),   ŵ of the cumulative weight
 *
 * λ = 0 is DM, λ = ∞ is DR. One turn is the bandit form; its λ minimises a bound of the squared error there.
 */
import type { Estimator } from './estimator.ts';
import { onShrunken } from './on-shrunken.ts';

export function dros(lambda: number): Estimator {
  if (!(lambda >= 0)) throw new RangeError(`λ must be at least 0, got ${lambda}`);
  const log = Math.log(lambda);
  const shrink = (logWeight: number): number =>
    lambda === Infinity ? logWeight : log + logWeight - logAdd(2 * logWeight, log);
  return onShrunken('DRos', `DR with cumulative weights λw/(w² + λ), λ = ${lambda}`, (w) =>
    w === -Infinity || lambda === 0 ? -Infinity : shrink(w),
  );
}

/** log(eᵃ + eᵇ) */
function logAdd(a: number, b: number): number {
  const top = Math.max(a, b);
  return top === -Infinity ? top : top + Math.log1p(Math.exp(-Math.abs(a - b)));
}
