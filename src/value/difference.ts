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

/** The estimator of the paired difference, of one target as of several. */
export const DEFAULT_ESTIMATOR = 'WPDIS carried';

/** Relative to the values: what rounding alone makes of a standard error. */
const ROUNDING = 1e-12;

/**
 * What a target adds to the logging policy: its value minus the mean logged return. Far narrower than the two
 * intervals side by side suggest. null where the target has no value; without spread, no interval, and why.
 * @param isLogging whether the target gives every logged action the logged probability: then exactly 0
 */
export function fromLogging(
  target: string,
  value: Influence,
  logged: Influence,
  isLogging: boolean,
  context: Pick<EstimateContext, 'clusters' | 'level'>,
): Estimate | null {
  if (!Number.isFinite(value.value)) return null;
  const own = isLogging ? logged : value;
  const found = differenceOf(
    { name: target, influence: own },
    { name: 'behaviour', influence: logged },
    DEFAULT_ESTIMATOR,
    context,
  );
  const scale = Math.max(Math.abs(value.value), Math.abs(logged.value));
  if (found.se === null || found.se > ROUNDING * scale) return found;
  const message = isLogging
    ? `"${target}" is the logging policy on these turns: the difference is 0 by construction and tests nothing`
    : 'the difference does not vary between episodes, so these logs show no error of it';
  const others = found.warnings.filter((w) => w.code !== 'no-spread');
  return { ...found, interval: null, warnings: [...others, { code: 'no-spread', message }] };
}
