import { z } from 'zod';
import { Reason, Verdict } from './audit.ts';
import { Evaluation } from './evaluation.ts';

/** An evaluation with the verdict under which its numbers stand. */
export const AuditedEvaluation = Evaluation.extend({
  verdict: Verdict,
  reasons: z.array(Reason).describe('Refusals first.'),
});
export type AuditedEvaluation = z.infer<typeof AuditedEvaluation>;
