import { z } from 'zod';
import { Reason, Verdict } from './audit.ts';
import { Evaluation } from './evaluation.ts';
import { TrainedOn } from './trained-on.ts';
import { Warning } from './warning.ts';

/** An evaluation with the verdict under which its numbers stand. */
export const AuditedEvaluation = Evaluation.extend({
  verdict: Verdict,
  reasons: z.array(Reason).describe('Refusals first.'),
});
export type AuditedEvaluation = z.infer<typeof AuditedEvaluation>;

/** What stands in its place where the logs allow no number at all, with the same names as far as they go. */
export const RefusedEvaluation = z.strictObject({
  verdict: z.literal('refused'),
  reasons: z.array(Reason),
  next: z.array(z.string()).describe('What to collect or log next time.'),
  target: z.string(),
  trainedOn: TrainedOn.nullable().describe('null: the target was not looked at.'),
  behaviour: z.null(),
  difference: z.null(),
  estimates: z.array(z.never()).max(0).describe('None.'),
  bounds: z.null(),
  warnings: z.array(Warning),
});
export type RefusedEvaluation = z.infer<typeof RefusedEvaluation>;
