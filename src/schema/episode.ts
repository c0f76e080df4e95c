import { z } from 'zod';
import { instantOf } from './instant.ts';
import { Segment } from './segment.ts';
import { Turn } from './turn.ts';

/**
 * How a rollout ended.
 * - `terminated`: the environment or the agent ended it.
 * - `limit`: it ran into the task's own turn or token limit; terminal, never bootstrapped.
 * - `truncated`: cut from outside (a time-out of the harness, a log cut short).
 * - `aborted`: infrastructure failed; carries no reward and stays out of group statistics.
 * - `unfinished`: still running when the log was written.
 */
export const Ending = z.enum(['terminated', 'limit', 'truncated', 'aborted', 'unfinished']);
export type Ending = z.infer<typeof Ending>;
export const ENDINGS: readonly Ending[] = Ending.options;

/** One named part of the final reward. */
export const NamedReward = z.strictObject({
  score: z.number().describe('Score of this part.'),
  weight: z.number().default(1).describe('Weight of this part in the episode reward.'),
});

/** A lone surrogate has no UTF-8: two such names would be stored as one. */
const name = z
  .string()
  .refine((text) => text.isWellFormed(), { message: 'holds a lone surrogate, which no UTF-8 text can' });

/** Made to name its offset before it is checked. */
const time = z.preprocess(
  (value) => (typeof value === 'string' ? (instantOf(value) ?? value) : value),
  z.iso.datetime({ offset: true }),
) as unknown as z.ZodISODateTime;

/**
 * The canonical log record: one rollout of one policy on one task, one JSON object a line.
 * Return G = Σ_k turns[k].reward + reward.
 */
export const Episode = z.strictObject({
  episode_id: name.min(1).describe('Unique within a store.'),
  task_id: name
    .nullable()
    .default(null)
    .describe('The task, prompt or group; null or empty: its own cluster.'),
  trial: z.int().min(0).nullable().default(null).describe('Which repetition of the task.'),
  policy: name.nullable().default(null).describe('The agent or model that produced it; empty: null.'),
  version_start: z.string().nullable().default(null).describe('Policy version at the first token.'),
  version_end: z.string().nullable().default(null).describe('Policy version at the last token.'),
  ending: Ending.optional().describe('Absent: `terminated` where a reward is present, else `unfinished`.'),
  reward: z.number().nullable().default(null).describe('Paid at the end, beside the turn rewards.'),
  rewards: z.record(z.string(), NamedReward).nullable().default(null).describe('Named parts of `reward`.'),
  started_at: time.nullable().default(null).describe('ISO 8601; without a zone: UTC.'),
  ended_at: time.nullable().default(null).describe('ISO 8601; without a zone: UTC.'),
  cost: z.number().nullable().default(null).describe('Cost of the rollout, in the unit of the log.'),
  meta: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .describe(
      'Anything else; never read as state. `simulated`: the name of the world, or true, where the episode comes from a simulator.',
    ),
  turns: z.array(Turn).describe('Assistant turns in order.'),
  segments: z.array(Segment).default([]).describe('Token sequences, where the log has them.'),
});
export type Episode = z.infer<typeof Episode>;
/** What a log may write: defaults not yet filled in. */
export type EpisodeInput = z.input<typeof Episode>;
