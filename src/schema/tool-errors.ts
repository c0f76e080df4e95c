import { z } from 'zod';

const count = z.int().min(0);
const share = z.number().min(0).max(1);

/** What is known of the failures among some tool calls. */
export const ToolErrors = z.strictObject({
  calls: count,
  failed: count.describe('Known to have failed; more may have.'),
  worked: count.describe('Known to have worked.'),
  unknown: count.describe('The log does not say.'),
  rate: share
    .nullable()
    .describe(
      'failed / (failed + worked); null where successes cannot be known, as then it would be the rate among marked failures: 1.',
    ),
  atLeast: share.nullable().describe('failed / calls: true whatever became of the unknown ones.'),
});
export type ToolErrors = z.infer<typeof ToolErrors>;
