import { z } from 'zod';
import { Calibration } from './calibration.ts';
import { TokenRatios } from './token-ratios.ts';

export const Positivity = z.strictObject({
  from: z
    .enum(['all probabilities', 'logged actions'])
    .describe('`logged actions`: estimated by reweighting, blind to actions that no log shows.'),
  below: z
    .array(z.strictObject({ alpha: z.number(), share: z.number() }))
    .describe('Mean over the alive of Σ_a π(a | h) 1{b(a | h) < α}.'),
  quantiles: z
    .array(z.strictObject({ q: z.number(), propensity: z.number() }))
    .describe('Of Σ_a π(a | h) b(a | h) over the alive, type 7.'),
});
export type Positivity = z.infer<typeof Positivity>;

export const Overlap = z.strictObject({
  actionClass: z.string(),
  taken: z.int(),
  others: z.int(),
  auc: z.number().describe('Of the propensity, takers against others; near 1: the two hardly meet.'),
  overlapCoefficient: z.number().describe('Σ of the smaller of the two shares over 20 equal bins.'),
  commonSupport: z.tuple([z.number(), z.number()]).nullable().describe('null: empty.'),
});
export type Overlap = z.infer<typeof Overlap>;

export const BalanceRow = z.strictObject({
  actionClass: z.string(),
  covariate: z.string(),
  smdRaw: z.number(),
  smdIptw: z.number().nullable(),
  smdOverlap: z.number().nullable().describe('Under overlap weights.'),
  varianceRatio: z.number().nullable(),
});
export type BalanceRow = z.infer<typeof BalanceRow>;

export const DiagnosticStage = z.strictObject({
  turn: z.int().describe('From 0.'),
  alive: z.int(),
  followers: z.int(),
  kishDeff: z.number().nullable().describe('n/ESS of the carried weights.'),
  essPerFollower: z.number().nullable().describe('ESS of the carried weights over the followers.'),
  positivity: Positivity.nullable(),
  overlap: z.array(Overlap).describe('One class against the rest; with two classes, of the second.'),
  balance: z.array(BalanceRow).describe('The largest raw differences first.'),
});
export type DiagnosticStage = z.infer<typeof DiagnosticStage>;

export const TruncationPoint = z.strictObject({
  quantileOfPositive: z.number().nullable(),
  cap: z.number(),
  truncated: z.int(),
  ipw: z.number(),
  ipwSe: z.number().describe('Single episodes, denominator n.'),
  hajek: z.number(),
  hajekSe: z.number(),
  ess: z.number(),
  meanWeight: z.number(),
});
export type TruncationPoint = z.infer<typeof TruncationPoint>;

const Moves = z.enum(['up', 'down']).nullable();
export const TruncationCurve = z.strictObject({
  points: z.array(TruncationPoint).describe('From no cap to the tightest.'),
  moves: z
    .strictObject({ ipw: Moves, hajek: Moves })
    .describe(
      'Set where the value moves one way along the whole curve by more than its uncapped SE. Without negative returns `ipw` can only go down: mind `hajek`.',
    ),
});
export type TruncationCurve = z.infer<typeof TruncationCurve>;

export const RealisticSet = z.strictObject({
  alpha: z.number(),
  meanSize: z.number().describe('Classes with propensity ≥ α, mean over turns.'),
  excluded: z.number().describe('Mean over turns of the target’s probability outside.'),
  wantedExcluded: z.number().describe('Share of turns where the target’s most probable class is outside.'),
  value: z.number().nullable().describe('WIS of the target restricted to these actions: another policy.'),
  se: z.number().nullable().describe('CR1 over tasks.'),
  ess: z.number(),
});
export type RealisticSet = z.infer<typeof RealisticSet>;

export const UnsupportedBounds = z.strictObject({
  mass: z.number().describe('Expected number of times per episode that the target leaves the logs.'),
  byTurn: z.array(z.number()),
  supported: z.number().describe('What the supported paths contribute to the value.'),
  lo: z.number(),
  hi: z.number(),
  rangeOf: z.enum(['remaining value', 'return']),
});
export type UnsupportedBounds = z.infer<typeof UnsupportedBounds>;

export const FeatureCoverage = z.strictObject({
  columns: z.int(),
  lambda: z.number(),
  underTarget: z.number().nullable().describe('Mean of φᵀΛ⁻¹φ over turns, weighted to the target.'),
  underBehaviour: z.number().nullable().describe('The same unweighted.'),
  largest: z.number().nullable().describe('At a turn that the target can reach.'),
  amplification: z
    .number()
    .nullable()
    .describe('Largest generalised eigenvalue of the target’s second moments against the logs’.'),
});
export type FeatureCoverage = z.infer<typeof FeatureCoverage>;

export const UnsupportedRule = z.strictObject({
  rule: z
    .string()
    .describe('For instance "turn ≥ 6 and last_tool = refund: 0 of 214 logged turns take refund".'),
  conditions: z.array(z.string()),
  actionClass: z.string().describe('What the target does there and the logs hardly ever.'),
  taken: z.int(),
  turns: z.int().describe('Logged turns where the conditions hold.'),
  mass: z.number().describe('Times per episode that the target does it there without support.'),
  share: z.number().describe('Of all its unsupported or barely supported mass.'),
  purity: z.number().describe('Share of these turns at which the class is unsupported.'),
});
export type UnsupportedRule = z.infer<typeof UnsupportedRule>;

/** Coverage of a target by the logs, beyond what the verdict rests on. */
export const Diagnostics = z.strictObject({
  propensities: z.enum(['logged', 'estimated']),
  behaviour: z.strictObject({
    probabilities: z
      .enum(['declared', 'estimated'])
      .nullable()
      .describe('Where those of all classes come from.'),
    reason: z.string().nullable().describe('Why they are not there, and with them what needs them.'),
  }),
  stages: z.array(DiagnosticStage),
  truncation: TruncationCurve,
  realistic: z.array(RealisticSet).nullable(),
  unsupportedBounds: UnsupportedBounds.nullable().describe('Before sampling error.'),
  calibration: Calibration.nullable(),
  features: FeatureCoverage.nullable(),
  tokens: TokenRatios.nullable(),
  rules: z.array(UnsupportedRule).nullable(),
  findings: z.array(z.strictObject({ code: z.string(), message: z.string() })).describe('What stands out.'),
});
export type Diagnostics = z.infer<typeof Diagnostics>;
