import { mean } from '../math/statistics.ts';
import type { Estimator } from './estimator.ts';
import { requireNuisances } from './nuisances.ts';
import { pdis } from './pdis.ts';
import { withResiduals } from './residuals.ts';
import { type Shrinkage, shrunkenWeights } from './shrunken-weights.ts';
import { BIASED } from './truncated.ts';

/** DR with ŵ_t = f(w_t): V̂_1 + Σ_t ŵ_t (r_t + V̂_{t+1} − Q̂_t). */
export function onShrunken(name: string, convention: string, shrink: Shrinkage): Estimator {
  const requires = ['behaviour log-probabilities', 'turn rewards', 'q-values'] as const;
  return {
    name,
    requires,
    convention,
    consistent: false,
    estimate(w, stages, given = {}) {
      requireNuisances({ name, requires }, given);
      // δ first: a shrunken weight may be 0 at one turn and not at the next.
      const corrected = withResiduals(w, given.q!.logged, given.q!.v);
      const { value, psi } = pdis.estimate(shrunkenWeights(corrected, shrink), stages);
      const regression = mean(corrected.unconditional);
      const ipw = pdis.estimate(shrunkenWeights(w, shrink), stages).value;
      return { value, psi, parts: { ipw, regression, correction: value - regression }, noInterval: BIASED };
    },
  };
}
