import { z } from 'zod';

/** How well predicted propensities agree with what was done. */
export const Calibration = z.strictObject({
  turns: z.int(),
  brier: z.number().describe('Mean over turns of Σ_a (g_a − 1{A = a})².'),
  brierConstant: z.number().describe('Of the class frequencies at every turn, in sample.'),
  logLoss: z.number().nullable().describe('Mean −log g of the logged class; null where one had g = 0.'),
  logLossConstant: z.number().describe('Of the class frequencies: their entropy.'),
  sumError: z.number().describe('Largest |Σ_a g − 1|.'),
  classes: z.array(
    z.strictObject({
      actionClass: z.string(),
      taken: z.int(),
      meanPredicted: z.number(),
      observed: z.number().describe('Share of the turns.'),
      error: z.number().describe('Mean over turns of |observed − predicted| of the turn’s bin.'),
      bins: z
        .array(
          z.strictObject({
            from: z.number(),
            to: z.number(),
            turns: z.int(),
            predicted: z.number().describe('Mean of the bin.'),
            observed: z.number(),
          }),
        )
        .describe('Reliability: ten equal bins of the predicted propensity, empty ones left out.'),
    }),
  ),
  stages: z.array(
    z.strictObject({
      turn: z.int().describe('From 0.'),
      turns: z.int(),
      brier: z.number(),
      logLoss: z.number().nullable(),
      logLossConstant: z.number().describe('Of the class frequencies at this turn.'),
    }),
  ),
});
export type Calibration = z.infer<typeof Calibration>;
