/*
 * The difference of two values estimated from the same episodes: what the two share of the luck of the
 * logs drops out.
 *
 *   Δ = V̂₁ − V̂₂,   ψ_i = ψ_1i − ψ_2i,   Var Δ = Var V̂₁ + Var V̂₂ − 2 Cov(V̂₁, V̂₂)
 */
import type { Estimate } from '../schema/estimate.ts';
import { type EstimateContext, estimateOf } from './estimate.ts';
import type { Influence } from './estimator.ts';

/** A value and whose it is. */
export interface Named {
  readonly name: string;
  readonly influence: Influence;
}

/** The influence of a difference; both of the same episodes in the same order. */
export function difference(a: Influence, b: Influence): Influence {
  return { value: a.value - b.value, psi: a.psi.map((x, i) => x - b.psi[i]!) };
}

/** The paired difference of two policies, CR1-t over tasks. */
export function differenceOf(
  a: Named,
  b: Named,
  estimator: string,
  context: Pick<EstimateContext, 'clusters' | 'level'>,
): Estimate {
  return estimateOf(
    estimator,
    'difference of two values on the same episodes',
    difference(a.influence, b.influence),
    {
      ...context,
      ess: null,
      kHat: null,
      estimand: `E[G] under "${a.name}" minus E[G] under "${b.name}", on new tasks like these`,
      range: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    },
  );
}
