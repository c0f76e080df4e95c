import { z } from 'zod';

/** The turn-level critic: ridge backward induction, cross-fitted by task. */
export const CriticConfig = z.strictObject({
  name: z.string().min(1).default('ridge').describe('Name under which turn values are kept.'),
  folds: z
    .int()
    .min(2)
    .max(50)
    .default(5)
    .describe('Folds of whole tasks; fewer where there are fewer tasks.'),
  seed: z.int().default(0).describe('Seed of the folds and of the placebo.'),
  lambda: z
    .union([z.literal('auto'), z.number().min(0)])
    .default('auto')
    .describe("λ of (X'X + λP)β = X'y. `auto`: chosen by leave-fold-out error inside the training part."),
  lambdaGrid: z
    .array(z.number().gt(0))
    .min(1)
    .default([1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100])
    .describe('What `auto` chooses from, ascending, in multiples of the training rows: λ = g · n.'),
  scale: z
    .enum(['unit-sd', 'none'])
    .default('unit-sd')
    .describe('`unit-sd`: features are divided by their standard deviation in the training part.'),
  minStageRows: z
    .int()
    .min(1)
    .default(1000)
    .describe(
      'A stage gets its own regression where every training part holds this many of its turns; later stages are pooled, with a level for each turn index.',
    ),
  interactions: z
    .enum(['auto', 'none'])
    .default('auto')
    .describe('`auto`: action class × state columns, where classes are declared and few.'),
  maxClasses: z.int().min(2).default(12).describe('More action classes than this get no interactions.'),
  maxInteractions: z
    .int()
    .min(1)
    .default(160)
    .describe('Most interaction columns; beyond it hashed n-grams, then all but `features.*`, are left out.'),
  supportQuantile: z
    .number()
    .gt(0)
    .max(1)
    .default(0.99)
    .describe('A turn is supported at or below this quantile of the training leverages.'),
  leverageSample: z
    .int()
    .min(100)
    .default(2000)
    .describe('Training rows of each fold and stage the quantile is taken over; all of them where fewer.'),
  placebos: z.int().min(1).max(1000).default(20).describe('Placebo runs with shuffled outcomes.'),
  minTasks: z.int().min(2).default(20).describe('Fewer tasks than this are warned of.'),
});
export type CriticConfig = z.infer<typeof CriticConfig>;
export type CriticConfigInput = z.input<typeof CriticConfig>;
