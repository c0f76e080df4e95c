import { z } from 'zod';

/** Parts of the description of an action; nothing of what came back. */
export const ActionPart = z.enum([
  'class',
  'calls',
  'repeat',
  'action_length',
  'action_tokens',
  'ngrams',
  'tools',
]);
export type ActionPart = z.infer<typeof ActionPart>;

/** What the action features of a turn are made of: the action itself, not its results or errors. */
export const ActionConfig = z.strictObject({
  include: z
    .array(ActionPart)
    .default([...ActionPart.options])
    .describe('Parts to build; their order does not matter.'),
  tools: z
    .union([z.literal('auto'), z.array(z.string())])
    .default('auto')
    .describe('Tools with a column of their own; `auto`: the most frequent in the logs.'),
  maxTools: z.int().min(1).default(16).describe('How many tools `auto` takes; the rest share `other`.'),
  ngramDims: z.int().min(1).max(1_048_576).default(64).describe('Columns the hashed n-grams fall into.'),
});
export type ActionConfig = z.infer<typeof ActionConfig>;
export type ActionConfigInput = z.input<typeof ActionConfig>;
