import { z } from 'zod';

/** Parts of the state of a turn; each is known before the turn. */
export const StatePart = z.enum([
  'turn',
  'calls',
  'last_call',
  'repeat',
  'observation_length',
  'action_length',
  'features',
  'ngrams',
  'last_tool',
]);
export type StatePart = z.infer<typeof StatePart>;

/** What the state features of a turn are made of: what came before the turn, and nothing else. */
export const StateConfig = z.strictObject({
  include: z
    .array(StatePart)
    .default([...StatePart.options])
    .describe('Parts to build; their order does not matter.'),
  tools: z
    .union([z.literal('auto'), z.array(z.string())])
    .default('auto')
    .describe('Tools with a column of their own; `auto`: the most frequent in the logs.'),
  maxTools: z.int().min(1).default(16).describe('How many tools `auto` takes; the rest share `other`.'),
  ngramDims: z.int().min(1).max(1_048_576).default(64).describe('Columns the hashed n-grams fall into.'),
  oneHotFeatures: z
    .enum(['auto', 'never'])
    .default('auto')
    .describe('`auto`: a logged feature of at most 16 distinct values gets a column for each value.'),
});
export type StateConfig = z.infer<typeof StateConfig>;
export type StateConfigInput = z.input<typeof StateConfig>;
