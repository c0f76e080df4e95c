import { z } from 'zod';
import { Audit } from './audit.ts';
import { Check } from './check.ts';
import { Comparison } from './compare.ts';
import { CriticReport, EpisodeCredit } from './credit.ts';
import { Description } from './describe.ts';

/** What `turnwise report` shows, as data. */
export const Report = z.strictObject({
  title: z.string(),
  description: Description,
  check: Check,
  comparisons: z
    .array(
      z.strictObject({
        a: z.string(),
        b: z.string(),
        comparison: Comparison.nullable(),
        refused: z.string().nullable().describe('Why the two are not compared.'),
      }),
    )
    .describe('The named policy with most episodes against the next four, paired by task.'),
  credit: CriticReport.nullable().describe('null: no critic could be fitted, see `creditRefused`.'),
  creditRefused: z.string().nullable(),
  examples: z
    .array(
      z.strictObject({
        credit: EpisodeCredit,
        texts: z
          .array(
            z.strictObject({
              observation: z.string().nullable(),
              action: z.string().nullable(),
              calls: z.array(
                z.strictObject({
                  call: z.string().describe('Name and arguments.'),
                  answer: z.string().nullable(),
                  failed: z.boolean().nullable().describe('null: not known.'),
                }),
              ),
            }),
          )
          .describe('The beginning of what each turn saw, wrote, called and was answered.'),
      }),
    )
    .describe('A failed and a successful episode, turn by turn.'),
  targets: z.array(
    z.strictObject({
      audit: Audit,
      exact: z.number().nullable().describe('The true value, where the world is simulated.'),
    }),
  ),
});
export type Report = z.infer<typeof Report>;
