import { z } from 'zod';

/** What `turnwise import` read. */
export const Imported = z.strictObject({
  store: z.string(),
  tables: z.array(
    z.strictObject({
      table: z.string(),
      path: z.string().describe('A file, or a folder of shards.'),
      format: z.enum(['parquet', 'arrow']),
      rows: z.int(),
    }),
  ),
});
export type Imported = z.infer<typeof Imported>;
