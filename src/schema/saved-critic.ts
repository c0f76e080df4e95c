import { z } from 'zod';

/** A critic whose turn values a store holds, and whether they still are of the episodes that it holds. */
export const SavedCritic = z.strictObject({
  critic: z.string().describe('Name of the turn values.'),
  values: z.int().describe('Turn values held.'),
  state: z
    .enum(['current', 'stale', 'unknown'])
    .describe(
      '`current`: fitted on the finished, rewarded episodes that the store holds now; `stale`: on others; `unknown`: the store does not say on which.',
    ),
  reason: z.string().nullable().describe('Why it is stale or unknown.'),
  fix: z.string().nullable().describe('What makes it current.'),
  method: z.string().nullable().describe('null, as all that follow: not known.'),
  config: z.record(z.string(), z.unknown()).nullable(),
  policies: z.array(z.string()).nullable().describe('Only episodes of these; null: of any policy.'),
  sources: z
    .array(z.strictObject({ path: z.string(), sha256: z.string(), episodes: z.int() }))
    .nullable()
    .describe('Files of the episodes it was fitted on.'),
  episodes: z.int().nullable().describe('Episodes it was fitted on.'),
  turns: z.int().nullable(),
  fittedAt: z.string().nullable().describe('When its values were kept, UTC.'),
  quality: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('Held-out errors and the codes of its warnings.'),
  markRule: z.string().nullable().describe('How its turns are marked.'),
});
export type SavedCritic = z.infer<typeof SavedCritic>;
