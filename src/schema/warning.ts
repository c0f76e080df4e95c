import { z } from 'zod';

/** A warning is data on a result; the command line prints each once. */
export const Warning = z.strictObject({
  code: z.string().describe('Stable kebab-case name.'),
  message: z.string(),
  count: z.int().optional().describe('How many rows it concerns.'),
  episode: z.string().optional(),
  turn: z.int().optional(),
  column: z.string().optional(),
});
export type Warning = z.infer<typeof Warning>;
