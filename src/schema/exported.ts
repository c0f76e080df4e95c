import { z } from 'zod';

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
});
export type Exported = z.infer<typeof Exported>;
