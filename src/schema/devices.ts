import { z } from 'zod';

/** What tensors can run on here. */
export const Devices = z.strictObject({
  taken: z
    .string()
    .nullable()
    .describe('The backend that a command takes here; null: the one asked for is missing.'),
  why: z.string(),
  threads: z.int().describe('That the native and the wasm runtime were given.'),
  devices: z.array(
    z.strictObject({
      backend: z.string(),
      runs: z.boolean(),
      label: z.string().nullable().describe('What it runs on; null where it does not run.'),
      whyNot: z.string().nullable().describe('Why it does not run, in one line.'),
      productSeconds: z
        .number()
        .nullable()
        .describe(
          'A float32 product, 1024 × 1024 by 1024 × 1024, its result read; median of several, or the one run where that takes 2 s.',
        ),
      productGflops: z.number().nullable().describe('2 · 1024³ operations over those seconds, in 10⁹.'),
      stepSeconds: z
        .number()
        .nullable()
        .describe('A training step (gradient, clip, AdamW) of an MLP 64-256-256-1 on 256 rows; median.'),
      peakMB: z.number().nullable().describe('Most resident memory of the process that measured it.'),
    }),
  ),
});
export type Devices = z.infer<typeof Devices>;
export type Device = Devices['devices'][number];
