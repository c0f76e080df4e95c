/*
 * Sub-Gaussian importance weights (Metelli, Russo & Restelli 2021), over turns.
 *
 *   ŵ = w / (1 − λ + λ w),   ŵ ≤ 1/λ
 *
 * of the cumulative weight, in the place of w_t in any estimator. λ = 0 changes nothing, λ = 1 makes all
 * weights 1, those of 0 aside.
 */
import { stageSums } from '../weights/carried.ts';
import type { Estimator } from './estimator.ts';
import { shrunkenWeights } from './shrunken-weights.ts';
import { BIASED } from './truncated.ts';

/** An estimator on these weights. */
export function subGaussian(estimator: Estimator, lambda: number): Estimator {
  if (!(lambda >= 0 && lambda <= 1)) throw new RangeError(`λ must lie within 0 and 1, got ${lambda}`);
  // w/(1 − λ + λw) = 1/((1 − λ)/w + λ): no overflow where w is large.
  const shrink = (log: number): number =>
    lambda === 0 || log === -Infinity ? log : -Math.log((1 - lambda) * Math.exp(-log) + lambda);
  return {
    ...estimator,
    name: `${estimator.name} sub-Gaussian`,
    convention: `${estimator.convention}; cumulative weights w/(1 − λ + λw), λ = ${lambda}`,
    consistent: lambda === 0,
    estimate(w, _stages, given) {
      const shrunk = shrunkenWeights(w, shrink);
      const influence = estimator.estimate(shrunk, stageSums(shrunk), given);
      return lambda === 0 ? influence : { ...influence, noInterval: BIASED };
    },
  };
}
