import { z } from 'zod';
import { AuditConfig } from './audit-config.ts';
import { BehaviourCoverage } from './behaviour-coverage.ts';
import { Diagnostics } from './diagnostics.ts';
import { Evaluation } from './evaluation.ts';
import { TrainedOn } from './trained-on.ts';
import { Warning } from './warning.ts';

export const Verdict = z.enum(['supported', 'weak', 'refused']);
export type Verdict = z.infer<typeof Verdict>;

/** Why a verdict is not `supported`. */
export const Reason = z.strictObject({
  code: z.string().describe('Stable kebab-case name.'),
  verdict: Verdict.exclude(['supported']).describe('What this reason alone makes of it.'),
  message: z.string(),
  turn: z.int().optional().describe('From 0.'),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
});
export type Reason = z.infer<typeof Reason>;

/** Coverage at one turn; weights are of the target over the behaviour. */
export const Stage = z.strictObject({
  turn: z.int().describe('From 0.'),
  alive: z.int().describe('Episodes with such a turn.'),
  followers: z.int().describe('Alive with a weight above 0.'),
  followerTasks: z.int().describe('Distinct tasks among them.'),
  targetShare: z
    .number()
    .nullable()
    .describe(
      'Estimated share of the target’s episodes that reach this turn: mean of w before it, over the alive; above 1 by sampling error.',
    ),
  essStagewise: z.number().describe('(Σρ)²/Σρ² of this turn’s ratios alone, among the alive.'),
  essCarried: z.number().describe('Of the cumulative weights, ended episodes keep theirs.'),
  essAlive: z.number().describe('Of the cumulative weights among the alive.'),
  meanWeight: z.number().nullable().describe('Of the carried weights; 1 when all is well.'),
  meanWeightSe: z.number().nullable().describe('CR1 over tasks.'),
  z: z.number().nullable().describe('(mean − 1)/SE; null without spread.'),
  skewness: z
    .number()
    .nullable()
    .describe('Of the carried weights, over episodes (m₃/m₂^{3/2}); null without spread.'),
  largestShare: z.number().describe('Of the total carried weight, on one episode.'),
  topPercentShare: z.number().describe('Of the total carried weight, on the ⌈n/100⌉ heaviest episodes.'),
  kHat: z.number().nullable().describe('Pareto tail index of the carried weights.'),
  kHatReason: z.string().nullable().describe('Why it is null.'),
  unsupported: z
    .number()
    .nullable()
    .describe('Chance that the target leaves the logs at this turn; null as in `unsupported.reason`.'),
});
export type Stage = z.infer<typeof Stage>;

export const WeightSummary = z.strictObject({
  ess: z.number().describe('(Σw)²/Σw² of the final weights.'),
  essShare: z.number().describe('Of the episodes.'),
  essByTask: z.number().describe('The same of the tasks’ summed weights.'),
  followers: z.int().describe('Episodes with a weight above 0.'),
  meanWeight: z.number().nullable(),
  largestWeight: z.number().nullable(),
  largestShare: z.number().describe('Of the total weight, on one episode.'),
  topPercentShare: z.number().describe('Of the total weight, on the ⌈n/100⌉ heaviest episodes.'),
  kHat: z.number().nullable().describe('Pareto tail index of the weights.'),
  kHatReason: z.string().nullable().describe('Why it is null.'),
  kHatReturn: z.number().nullable().describe('Of |w · G|.'),
  kHatReturnReason: z.string().nullable(),
  kHatThreshold: z.number().nullable(),
  events: z
    .number()
    .nullable()
    .describe(
      'K/g₁²: tasks over the squared population skewness (m₃/m₂^{3/2}) of what they add to WIS: about as many rare outcomes stand behind the value; 0 where all returns are alike. null: no skew, or nothing to compute it from, which the reason `no-standard-error` then says.',
    ),
});
export type WeightSummary = z.infer<typeof WeightSummary>;

export const UnsupportedMass = z.strictObject({
  mass: z
    .number()
    .nullable()
    .describe(
      'Expected number of times per episode that the target takes an action that the logs never show there and, by their propensities, cannot show.',
    ),
  reason: z.string().nullable().describe('Why it is null.'),
  cells: z
    .array(
      z.strictObject({
        cell: z.string(),
        actions: z
          .array(z.string())
          .describe('Given probability by the target, impossible in this cell by the logs.'),
        mass: z.number(),
      }),
    )
    .describe('The heaviest first.'),
  open: z
    .strictObject({
      mass: z
        .number()
        .describe('The same of actions that could have been logged there and by chance were not.'),
      expected: z
        .number()
        .describe('As much of it as chance leaves: Σ of the mass times (1 − b)ⁿ over actions and cells.'),
      excess: z.number().nullable().describe('(mass − expected) in standard errors.'),
      beyondChance: z.boolean().describe('Whether that is above 3.'),
      bound: z
        .number()
        .describe(
          'Upper 95 % limit of what of it is truly unsupported: 1 − mean weight + 1.645 SE, at most `mass`.',
        ),
    })
    .nullable()
    .describe('null where `mass` is.'),
});
export type UnsupportedMass = z.infer<typeof UnsupportedMass>;

/** Something that `check` finds in the logs, and what it makes of this verdict. */
export const AuditFinding = z.strictObject({
  code: z.string().describe('As in `check`.'),
  effect: z.enum(['refused', 'weak', 'nothing']),
  message: z.string(),
  because: z.string().describe('Why a verdict rests on it.'),
  count: z.int(),
  share: z.number().describe('Of `of`.'),
  of: z.enum(['episodes', 'turns']),
  fix: z.string(),
});
export type AuditFinding = z.infer<typeof AuditFinding>;

/** Whether the logs cover a target well enough to say what it is worth. */
export const Audit = z.strictObject({
  target: z.string(),
  trainedOn: TrainedOn.nullable().describe('null: the target was not looked at.'),
  verdict: Verdict,
  reasons: z.array(Reason).describe('Refusals first.'),
  findings: z
    .array(AuditFinding)
    .describe(
      'What `check` finds that a verdict may rest on; empty where only columns in memory were audited.',
    ),
  next: z.array(z.string()).describe('What to collect next.'),
  usableHorizon: z
    .int()
    .nullable()
    .describe('Turns from the start up to which enough rollouts stand for the target.'),
  stages: z.array(Stage),
  weights: WeightSummary.nullable(),
  unsupported: UnsupportedMass.nullable(),
  evaluation: Evaluation.nullable().describe('Without intervals where refused; its bounds remain.'),
  diagnostics: Diagnostics.optional().describe('Coverage in detail; the verdict does not rest on it.'),
  behaviour: BehaviourCoverage,
  warnings: z.array(Warning),
  config: AuditConfig,
});
export type Audit = z.infer<typeof Audit>;
