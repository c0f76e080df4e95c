import { z } from 'zod';
import { TrainedOn } from '../schema/trained-on.ts';

const Matched = z.union([z.number(), z.string(), z.array(z.union([z.number(), z.string()])).min(1)]);

/**
 * A declared tabular policy: rules over what is known before the turn; the first rule whose `when`
 * matches gives π(· | s) over declared action classes. Keys of `when`: `turn`, `features.K`,
 * `task_id`; a value or a list of values.
 */
export const PolicyFile = z.strictObject({
  policy: z.string().min(1).describe('Name of the target policy.'),
  trained_on: TrainedOn,
  logprob_kind: z.literal('propensity').default('propensity').describe('Probabilities of action classes.'),
  rules: z
    .array(
      z.strictObject({
        when: z.record(z.string(), Matched).default({}).describe('Empty: always.'),
        probabilities: z
          .record(z.string(), z.number().min(0).max(1))
          .describe('Action class → π; sums to 1; absent: 0.'),
      }),
    )
    .min(1),
});
export type PolicyFile = z.infer<typeof PolicyFile>;
