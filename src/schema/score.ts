import { z } from 'zod';
import { TrainedOn } from './trained-on.ts';
import { LogprobKind } from './turn.ts';

/** A log-probability; JSON has no −∞, the logarithm of a probability of 0: it is written "-inf". */
const LogProbability = z.union([z.number(), z.literal('-inf').transform(() => Number.NEGATIVE_INFINITY)], {
  error: 'expected a number, or "-inf" for a probability of 0',
});

/** One line of a scores file: what a policy says of one logged turn or segment. */
export const Score = z
  .strictObject({
    policy: z.string().min(1).describe('The scored policy.'),
    trained_on: TrainedOn.default('unknown'),
    episode_id: z.string().min(1).describe('An episode of the store.'),
    turn: z.int().min(0).optional().describe('The scored turn; with `logprob` or `log_propensity`.'),
    segment: z.int().min(0).optional().describe('The scored segment; with `logprobs`.'),
    logprob: LogProbability.nullable()
      .default(null)
      .describe('Σ log π over the action tokens of the turn, nats; "-inf" for a probability of 0.'),
    log_propensity: LogProbability.nullable()
      .default(null)
      .describe('log π of the logged action class, nats; "-inf" for a probability of 0.'),
    logprobs: z
      .array(z.number().nullable())
      .nullable()
      .default(null)
      .describe('[T] of the segment, null where the mask is false.'),
    logprob_kind: LogprobKind.nullable().default(null).describe('null: unknown.'),
  })
  .refine((s) => (s.turn === undefined) !== (s.segment === undefined), {
    message: 'names both or neither of turn and segment, expected one',
  })
  .refine((s) => s.turn === undefined || (s.logprobs === null && (s.logprob ?? s.log_propensity) !== null), {
    message: 'a scored turn takes logprob or log_propensity',
  })
  .refine(
    (s) =>
      s.segment === undefined || (s.logprobs !== null && s.logprob === null && s.log_propensity === null),
    {
      message: 'a scored segment takes logprobs alone',
    },
  );
export type Score = z.infer<typeof Score>;
