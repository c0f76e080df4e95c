import { z } from 'zod';

/** How the behaviour's propensities are estimated where the logs do not hold them. */
export const BehaviourModelConfig = z.strictObject({
  folds: z.int().min(2).default(5).describe('By task; a turn is predicted by a fit on the other folds.'),
  lambda: z
    .number()
    .min(0)
    .default(1)
    .describe('Ridge penalty on coefficients of standardised features; 0: maximum likelihood.'),
  seed: z.int().default(0).describe('Of the folds.'),
});
export type BehaviourModelConfig = z.infer<typeof BehaviourModelConfig>;
