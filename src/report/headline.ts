import type { Audit } from '../schema/audit.ts';
import type { Estimate } from '../schema/estimate.ts';

/** The estimator whose number stands for a target: self-normalised per decision, the weight of an ended episode carried. */
export const HEADLINE = 'WPDIS carried';

/** The headline estimate of an audit; null where there is none. */
export const headline = (audit: Audit): Estimate | null =>
  audit.evaluation?.estimates.find((e) => e.estimator === HEADLINE) ?? null;
