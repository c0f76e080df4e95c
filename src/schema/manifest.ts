import { z } from 'zod';

/** A file of a data set, known by its content. */
export const ManifestFile = z.strictObject({
  path: z.string().describe('Relative to the manifest.'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
  rows: z.int().min(0).nullable().describe('Records; null where the file is no table of records.'),
  about: z.string(),
});

/** `manifest.json` of a folder under datasets/: what it is, where it is from, how to make it again. */
export const Manifest = z.strictObject({
  name: z.string().min(1),
  about: z.string(),
  origin: z.string().describe('Where the data come from.'),
  licence: z.string(),
  schema: z.string().describe('What a record is.'),
  schemaVersion: z.int().min(1),
  command: z.string().nullable().describe('Makes the data again, byte for byte; null: not generated.'),
  files: z.array(ManifestFile).min(1),
  facts: z
    .record(z.string(), z.unknown())
    .describe('What is known to be true of it, exact values among them, each with its meaning.'),
});
export type Manifest = z.infer<typeof Manifest>;
