import { z } from 'zod';
import { Estimate } from './estimate.ts';
import { TrainedOn } from './trained-on.ts';
import { Warning } from './warning.ts';

/** Limits of the return of an episode. */
export const ReturnRange = z.strictObject({
  lo: z.number(),
  hi: z.number(),
  source: z
    .enum(['declared', 'logs'])
    .describe('`declared`: returns cannot leave it. `logs`: the smallest and largest seen, no guarantee.'),
});
export type ReturnRange = z.infer<typeof ReturnRange>;

/** An interval for the value that holds without good overlap. */
export const ValueBounds = z.strictObject({
  lo: z.number(),
  hi: z.number(),
  level: z.number().gt(0).lt(1).describe('Both sides together.'),
  range: ReturnRange,
  method: z.string().describe('With how many returns of episodes missing or cut short count as unknown.'),
});
export type ValueBounds = z.infer<typeof ValueBounds>;

export const IntervalKind = z.enum([
  'cr1-t',
  'bootstrap-percentile',
  'bootstrap-bca',
  'bootstrap-t',
  'empirical-bernstein',
  'hoeffding',
]);
export type IntervalKind = z.infer<typeof IntervalKind>;

export const EvaluationConfig = z.strictObject({
  level: z.number().gt(0).lt(1).default(0.95).describe('Of intervals and bounds.'),
  discount: z.number().gt(0).max(1).default(1).describe('γ; 1 is the value of a whole episode.'),
  range: z
    .tuple([z.number(), z.number()])
    .nullable()
    .default(null)
    .describe('Declared limits of the return; null: taken from the logs, and labelled so.'),
  interval: IntervalKind.default('cr1-t').describe(
    'How intervals are made, over tasks. The bootstraps resample tasks and every sum with them; the last two need `range`, and for weighted returns `maxWeight`.',
  ),
  replicates: z
    .int()
    .min(100)
    .max(1_000_000)
    .default(2000)
    .describe('How often a bootstrap resamples the tasks.'),
  seed: z.int().default(0).describe('Seed of everything random: a bootstrap, the folds.'),
  maxWeight: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('Declared limit of the weight of an episode, for intervals that need one.'),
});
export type EvaluationConfig = z.infer<typeof EvaluationConfig>;

/** Off-policy value of one target, all estimators side by side. */
export const Evaluation = z.strictObject({
  target: z.string(),
  measure: z.enum(['logprob', 'log_propensity']),
  trainedOn: TrainedOn,
  episodes: z.strictObject({
    used: z.int().describe('With a return, on held-out tasks.'),
    withoutReturn: z.int().describe('Aborted or without any reward; left out of both averages.'),
    aborted: z.int().describe('Of these, aborted; the others may be missing for how they went.'),
    missingWeight: z
      .number()
      .nullable()
      .describe(
        'Share of the target’s weight on episodes without a return that were not aborted: what the value leaves out. null: no weight.',
      ),
    cutShort: z.int().describe('Of those used, truncated or unfinished: with what they had earned so far.'),
    cutShortWeight: z
      .number()
      .nullable()
      .describe('Their share of the summed weight: of the target’s episodes that the logs cut short.'),
    trainedOn: z.int().describe('Left out: the target was trained on their tasks.'),
    total: z.int(),
  }),
  clusters: z.int().describe('Tasks; an episode without a task is its own cluster.'),
  turns: z.int(),
  behaviour: Estimate.describe('Mean logged return: the value of the behaviour on the same episodes.'),
  difference: Estimate.nullable().describe(
    'The target’s value minus the mean logged return, paired on the same episodes: WPDIS carried, CR1-t over tasks. null where refused or where the target has no value.',
  ),
  estimates: z.array(Estimate),
  bounds: ValueBounds.nullable(),
  warnings: z.array(Warning),
  config: EvaluationConfig,
});
export type Evaluation = z.infer<typeof Evaluation>;
