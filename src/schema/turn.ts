import { z } from 'zod';

/** `raw`: of the model's own distribution. `processed`: after temperature, top-p and top-k. */
export const LogprobKind = z.enum(['raw', 'processed']);
export type LogprobKind = z.infer<typeof LogprobKind>;

export const Sampling = z.strictObject({
  temperature: z.number().min(0).nullable().default(null),
  top_p: z.number().min(0).max(1).nullable().default(null),
  top_k: z.int().nullable().default(null),
});

/** One call of a tool within a turn, with what came back. */
export const ToolCall = z.strictObject({
  name: z.string(),
  arguments: z
    .unknown()
    .default(null)
    .describe('As logged: an object, or the text the model wrote; null: none, or not logged.'),
  result: z
    .string()
    .nullable()
    .default(null)
    .describe('What the tool answered; part of the next observation.'),
  error: z.boolean().nullable().default(null).describe('Whether the call failed; null: unknown.'),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** One assistant turn = one macro-action a_k, taken after `observation` was seen. */
export const Turn = z.strictObject({
  turn: z.int().min(0).optional().describe('Counted from 0; absent: its place in the array.'),
  segment: z.int().min(0).nullable().default(null).describe('The segment that holds its tokens.'),
  observation: z
    .string()
    .nullable()
    .default(null)
    .describe('What came in since the previous action: user, tools.'),
  action: z.string().nullable().default(null).describe('What the agent wrote.'),
  tool_calls: z
    .array(ToolCall)
    .nullable()
    .default([])
    .describe('null: it may have made calls, which the reader of the log could not read.'),
  tool_errors: z.int().min(0).nullable().default(null).describe('Absent: counted from `tool_calls[].error`.'),
  reward: z
    .number()
    .nullable()
    .default(null)
    .describe('Paid after this action; null counts as 0 in the return.'),
  process_reward: z
    .number()
    .nullable()
    .default(null)
    .describe('A judgement of the turn; never in the return.'),
  behaviour_logprob: z.number().nullable().default(null).describe('Σ log b over its action tokens, nats.'),
  behaviour_log_propensity: z
    .number()
    .nullable()
    .default(null)
    .describe('log b of its declared action class, nats.'),
  n_action_tokens: z.int().min(0).nullable().default(null),
  version: z.string().nullable().default(null),
  sampling: Sampling.nullable().default(null),
  logprob_kind: LogprobKind.nullable().default(null).describe('null: unknown.'),
  action_class: z.string().nullable().default(null).describe('Declared abstraction of the action.'),
  features: z
    .array(z.number())
    .nullable()
    .default(null)
    .describe('Declared state features, known before the action.'),
});
export type Turn = z.infer<typeof Turn>;
