import { z } from 'zod';

const Quantiles = z.strictObject({
  q05: z.number().nullable(),
  q25: z.number().nullable(),
  q50: z.number().nullable(),
  q75: z.number().nullable(),
  q95: z.number().nullable(),
});

export const TokenGroup = z.strictObject({
  group: z.string(),
  episodes: z.int(),
  tokens: z.int(),
  logProduct: Quantiles.describe(
    'Of Σ log ρ over the action tokens of an episode: what its weight is made of.',
  ),
  logGeometricMean: Quantiles.describe('Of the mean log ρ: drift per token; never a weight.'),
});
export type TokenGroup = z.infer<typeof TokenGroup>;

/** Whether a policy re-scored through the same path gives its own log-probabilities. */
export const AaCheck = z.strictObject({
  ok: z.boolean(),
  tokens: z.int(),
  meanAbs: z.number().nullable().describe('Mean |log ρ| per token.'),
  beyond: z.number().describe('Share of the tokens with |log ρ| over the threshold.'),
  threshold: z.number(),
  largest: z.number().nullable(),
  slope: z
    .number()
    .nullable()
    .describe('Of the target’s log-probabilities on the logged ones; 1 when alike.'),
  correlation: z.number().nullable(),
  finding: z.string().nullable(),
  causes: z.array(z.string()).describe('The likeliest first.'),
});
export type AaCheck = z.infer<typeof AaCheck>;

/** Ratios of the target to the behaviour token by token; masked tokens are never counted. */
export const TokenRatios = z.strictObject({
  tokens: z.int().describe('Action tokens with a log-probability of both.'),
  uncompared: z.int().describe('Action tokens that lack one of the two.'),
  impossible: z.int().describe('Of the tokens, those the target gives probability 0.'),
  meanAbs: z.number().nullable(),
  beyond: z.number().describe('Share of the tokens with |log ρ| over 0.1.'),
  largest: z.number().nullable(),
  all: TokenGroup,
  byLength: z.array(TokenGroup).describe('By action tokens of the episode.'),
  byTask: z.array(TokenGroup).describe('The ten tasks whose median drift per token is largest.'),
  byLag: z.array(TokenGroup).describe('By version_end − version_start, where both end in a number.'),
  turns: z.strictObject({ logProduct: Quantiles, logGeometricMean: Quantiles }),
  aa: AaCheck.nullable().describe('Where the target is the policy that made the logs.'),
});
export type TokenRatios = z.infer<typeof TokenRatios>;
