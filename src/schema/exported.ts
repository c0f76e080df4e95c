import { z } from 'zod';
import { SavedCritic } from './saved-critic.ts';
import { Warning } from './warning.ts';

/** What `turnwise export` wrote. */
export const Exported = z.strictObject({
  format: z.string(),
  files: z.array(
    z.strictObject({
      table: z.string(),
      path: z.string().describe('A file, or a folder of shards.'),
      rows: z.int(),
      bytes: z.int(),
    }),
  ),
  critics: z
    .array(SavedCritic)
    .describe('Where the turn values that were written come from; also in the metadata of their file.'),
  warnings: z.array(Warning),
});
export type Exported = z.infer<typeof Exported>;
