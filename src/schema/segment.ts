import { z } from 'zod';

/** One contiguous token sequence (append-only context). All arrays have the same length T. */
export const Segment = z.strictObject({
  token_ids: z.array(z.int()).describe('[T]'),
  action_mask: z
    .array(z.union([z.boolean(), z.literal(0), z.literal(1)]))
    .describe('[T] true where the policy sampled it.'),
  behaviour_logprobs: z
    .array(z.number().nullable())
    .nullable()
    .default(null)
    .describe('[T] null where the mask is false.'),
  versions: z
    .array(z.int().nullable())
    .nullable()
    .default(null)
    .describe('[T] policy version of each token.'),
  token_turn: z
    .array(z.int().nullable())
    .nullable()
    .default(null)
    .describe('[T] the turn each token belongs to.'),
});
export type Segment = z.infer<typeof Segment>;
