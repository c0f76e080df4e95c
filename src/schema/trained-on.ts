import { z } from 'zod';

/**
 * What a target policy was trained on. Evaluating a policy on its own training logs gives a wrong
 * value with a mean weight of exactly 1, so every target must say.
 * - `none`: written by hand or trained elsewhere.
 * - `unknown`: the verdict is held at weak.
 */
export const TrainedOn = z.union(
  [
    z.literal('none'),
    z.literal('unknown'),
    z.strictObject({
      sources: z.array(z.string()).default([]).describe('Path or sha256 of ingested files.'),
      tasks: z.array(z.string()).default([]).describe('Task ids.'),
    }),
  ],
  { error: 'expected "none", "unknown" or {"sources": […], "tasks": […]}' },
);
export type TrainedOn = z.infer<typeof TrainedOn>;
