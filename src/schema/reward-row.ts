import { z } from 'zod';
import { NamedReward } from './episode.ts';

/**
 * One row of a reward file: a line of JSONL, an element of a JSON array, a row of CSV under a header with these
 * names, or the value under the name of the episode in a JSON object. Other columns are ignored.
 */
export const RewardRow = z.looseObject({
  episode_id: z
    .string()
    .optional()
    .describe('The episode; one of this, session_id and trial_name is needed.'),
  session_id: z.string().optional().describe('Met by `meta.session_id` of the episode as well.'),
  trial_name: z.string().optional().describe('Met by `meta.trial_name` of the episode as well.'),
  reward: z
    .number()
    .nullable()
    .optional()
    .describe(
      'Paid at the end; null: none. Absent: the weighted sum of `rewards`. An empty cell of CSV is null.',
    ),
  rewards: z
    .record(z.string(), z.union([z.number(), NamedReward]))
    .nullable()
    .optional()
    .describe('Named parts of `reward`; not in CSV.'),
  task_id: z.string().nullable().optional().describe('Fills in a task the log does not name.'),
  task_name: z.string().nullable().optional().describe('The same, in the words of Harbor.'),
  verifier_result: z
    .looseObject({ rewards: z.record(z.string(), z.number()).nullable().optional() })
    .nullable()
    .optional()
    .describe("Harbor's result of a trial, in place of `reward`."),
});
export type RewardRow = z.infer<typeof RewardRow>;
