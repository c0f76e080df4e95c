import { z } from 'zod';
import { Warning } from './warning.ts';

export const Interval = z.strictObject({
  lo: z.number(),
  hi: z.number(),
  level: z.number().gt(0).lt(1),
  method: z.string().describe('For instance "CR1-t, 49 degrees of freedom".'),
});
export type Interval = z.infer<typeof Interval>;

/** A doubly robust value beside what it is made of: regression + correction = value. */
export const Parts = z.strictObject({
  ipw: z.number().nullable().describe('The same weights without any Q: what the weights alone say.'),
  regression: z.number().nullable().describe('V̂ at the first turn: what the regression alone says.'),
  correction: z.number().nullable().describe('The weighted errors of the regression along the logs.'),
});
export type Parts = z.infer<typeof Parts>;

/** Whether an estimate's own influence values bear its interval, whatever the audit says of the weights. */
export const OwnSupport = z.strictObject({
  verdict: z.enum(['supported', 'weak']),
  reasons: z.array(z.string()),
});
export type OwnSupport = z.infer<typeof OwnSupport>;

/** A number that carries its uncertainty, its convention and what it rests on. */
export const Estimate = z.strictObject({
  estimator: z.string(),
  value: z.number().nullable().describe('null: refused, with the reason among the warnings.'),
  se: z.number().nullable().describe('Clustered by task, CR1.'),
  seNaive: z.number().nullable().describe('Episodes taken as independent; sqrt(mean((ψ−ψ̄)²)/n).'),
  interval: Interval.nullable(),
  n: z.int().describe('Episodes.'),
  clusters: z.int().describe('Tasks; an episode without a task is its own cluster.'),
  ess: z.number().nullable().describe('(Σw)²/Σw² of the final weights.'),
  kHat: z.number().nullable().describe('Pareto tail index of the final weights; null with a reason.'),
  events: z
    .number()
    .nullable()
    .describe(
      'K/g₁² of what the tasks add to this value: about as many rare outcomes stand behind it; 0: no spread. null: no skew.',
    ),
  support: OwnSupport.nullable().describe('null: no value or no error to judge.'),
  estimand: z.string(),
  convention: z.string(),
  parts: Parts.optional().describe('Of doubly robust estimates.'),
  warnings: z.array(Warning),
});
export type Estimate = z.infer<typeof Estimate>;
