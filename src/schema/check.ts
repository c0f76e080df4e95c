import { z } from 'zod';

export const Severity = z.enum(['error', 'warning', 'note']);
export type Severity = z.infer<typeof Severity>;

export const FindingExample = z.strictObject({
  episode: z.string().nullable().describe('episode_id.'),
  turn: z.int().nullable(),
  segment: z.int().nullable(),
  column: z.string().describe('table.column.'),
  value: z.string().nullable().describe('What is there, as text, cut to 120 characters.'),
});
export type FindingExample = z.infer<typeof FindingExample>;

export const Finding = z.strictObject({
  code: z.string().describe('Stable kebab-case name.'),
  severity: Severity.describe(
    'error: numbers that rest on this are wrong. warning: they may be. note: worth knowing.',
  ),
  message: z.string(),
  count: z.int().min(1).describe('Rows it concerns.'),
  examples: z.array(FindingExample).describe('The first few, in the order of the store.'),
  fix: z.string(),
});
export type Finding = z.infer<typeof Finding>;

/** What `turnwise check --json` prints. */
export const Check = z.strictObject({
  store: z.string(),
  episodes: z.int().min(0),
  turns: z.int().min(0),
  errors: z.int().min(0).describe('Findings of severity error.'),
  warnings: z.int().min(0),
  notes: z.int().min(0),
  findings: z.array(Finding).describe('Errors first.'),
  checks: z.array(z.string()).describe('Everything that was looked for.'),
});
export type Check = z.infer<typeof Check>;
