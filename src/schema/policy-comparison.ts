import { z } from 'zod';
import { Reason, Verdict } from './audit.ts';
import { Estimate, Interval } from './estimate.ts';
import { Warning } from './warning.ts';

/** One of the numbers that are compared. */
export const ComparedValue = z.strictObject({
  policy: z.string(),
  against: z.string().nullable().describe('null: the value itself; else what it is the difference from.'),
  estimate: Estimate.describe('Its interval is for this number alone.'),
  simultaneous: Interval.nullable().describe('Holds together with all others of the family.'),
  bonferroni: Interval.nullable().describe('The same by Bonferroni, for comparison.'),
});
export type ComparedValue = z.infer<typeof ComparedValue>;

/** Values of several policies on the same episodes and their differences, with intervals that hold together. */
export const PolicyBand = z.strictObject({
  estimator: z.string(),
  convention: z.string(),
  behaviour: Estimate.describe('Mean logged return, on the same episodes.'),
  values: z.array(ComparedValue).describe('Values, differences from the behaviour, pairwise differences.'),
  compared: z.int().describe('How many intervals hold together.'),
  level: z.number().gt(0).lt(1).describe('Chance that all of them hold.'),
  critical: z.number().nullable().describe('Standard errors on each side; null with fewer than two tasks.'),
  bonferroni: z.number().nullable(),
  single: z.number().nullable().describe('Of one interval alone.'),
  method: z.string(),
  episodes: z.int().describe('With a return, that none of the policies was trained on.'),
  clusters: z.int().describe('Tasks; an episode without a task is its own cluster.'),
  warnings: z.array(Warning),
});
export type PolicyBand = z.infer<typeof PolicyBand>;

/** What `turnwise evaluate` with several targets prints. */
export const PolicyComparison = z.strictObject({
  policies: z.array(
    z.strictObject({
      policy: z.string(),
      verdict: Verdict,
      reasons: z.array(Reason).describe('Refusals first.'),
    }),
  ),
  band: PolicyBand.nullable().describe('Of the policies that are not refused; null where none is left.'),
  warnings: z.array(Warning),
});
export type PolicyComparison = z.infer<typeof PolicyComparison>;
