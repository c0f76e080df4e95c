/*
 * Truncated weights (Ionides 2008; for DR: Mehrabi & Wager 2024).
 *
 *   ŵ_t = min(w_t, M)
 *
 * of the cumulative weight, in the place of w_t in any estimator. The bias is E[(w − M)⁺ …]: see how the
 * value moves with M before believing any of it.
 */
import { stageSums } from '../weights/carried.ts';
import type { Estimator } from './estimator.ts';
import { shrunkenWeights } from './shrunken-weights.ts';

/** An estimator on weights capped at M. */
export function truncated(estimator: Estimator, cap: number): Estimator {
  if (!(cap > 0)) throw new RangeError(`the cap must be positive, got ${cap}`);
  const most = Math.log(cap);
  return {
    ...estimator,
    name: `${estimator.name} truncated`,
    convention: `${estimator.convention}; cumulative weights capped at ${cap}`,
    consistent: false,
    estimate(w, _stages, given) {
      const capped = shrunkenWeights(w, (log) => Math.min(log, most));
      return { ...estimator.estimate(capped, stageSums(capped), given), noInterval: BIASED };
    },
  };
}

/** What keeps an estimate on shrunken weights from having an interval. */
export const BIASED = 'its weights are shrunk, which biases it by an amount that no standard error shows';
