import { z } from 'zod';
import { Warning } from './warning.ts';

export const RejectedRecord = z.strictObject({
  line: z.int().nullable().describe('From 1; null where the format has no lines.'),
  byteOffset: z.int().nullable().describe('Of the record, in the decompressed file.'),
  reason: z.string(),
  excerpt: z.string().describe('The first characters of the record.'),
});
export type RejectedRecord = z.infer<typeof RejectedRecord>;

/** What became of one file. */
export const IngestedFile = z.strictObject({
  path: z.string(),
  format: z.string().nullable().describe('null: an empty file, or one that is not recognised.'),
  status: z
    .enum(['added', 'known', 'part', 'empty', 'refused', 'failed'])
    .describe(
      '`known`: the store already holds this content, nothing added. `part`: its steps are read with the file that refers to it. `refused`: --strict and a reject, nothing kept. `failed`: it could not be read, nothing kept.',
    ),
  error: z.string().nullable().describe('What failed; of a file that was added, why its end was not read.'),
  sha256: z.string().nullable().describe('Of the bytes as stored; null: failed.'),
  bytes: z.int(),
  episodes: z.int().describe('Episodes added.'),
  turns: z.int().describe('Turns added.'),
  scores: z.int().describe('Scores added.'),
  rejects: z.int().describe('Records that could not be read, or whose episode_id another episode has.'),
  duplicates: z
    .int()
    .describe(
      'Episodes that are in the store, or earlier in the file, just as they are here: nothing to add.',
    ),
  conflicts: z
    .int()
    .describe('Rejects with reason `id-conflict`: their episode_id is that of an episode of other content.'),
  parts: z.int().describe('Records that are read with another file, as its continuation or its sub-agent.'),
  knownAs: z.string().nullable().describe('Of a known file: the path it came in by.'),
  rewardsJoined: z.int().describe('Episodes that were in the store and gained a reward.'),
  firstRejects: z.array(RejectedRecord).describe('At most five; the rest is in table `rejects`.'),
});
export type IngestedFile = z.infer<typeof IngestedFile>;

/** The result of `turnwise ingest`. */
export const IngestResult = z.strictObject({
  store: z
    .string()
    .nullable()
    .describe('null: it would have been new, and nothing was added, so none was made.'),
  files: z.array(IngestedFile),
  episodes: z.int().describe('Episodes added by all files.'),
  turns: z.int(),
  scores: z.int(),
  rejects: z.int(),
  duplicates: z.int().describe('Episodes that were there already.'),
  conflicts: z.int().describe('Rejects whose episode_id is that of another episode.'),
  warnings: z.array(Warning),
});
export type IngestResult = z.infer<typeof IngestResult>;
