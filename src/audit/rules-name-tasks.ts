import type { Reason } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { shareWords } from '../weights/words.ts';
import type { Evidence } from './reasons.ts';

/**
 * Rules that tell the logged tasks apart may have been chosen on what these logs show of each: a policy that takes the
 * better action of every task by chance scores above its value. Where `trained_on` lists tasks or sources, those are
 * already left out.
 */
export function rulesNameTasks({ ratios, taskRules }: Evidence, { weakTaskRules }: AuditConfig): Reason[] {
  if (!taskRules || taskRules.share <= weakTaskRules || typeof ratios.trainedOn === 'object') return [];
  return [
    {
      code: 'rules-name-tasks',
      verdict: 'weak',
      message: `the target’s rules tell the logged tasks apart in ${shareWords(taskRules.share)} of its turns (${taskRules.cells} ${taskRules.cells === 1 ? 'cell' : 'cells'} of one task or named by one, mostly ${taskRules.cell}): rules chosen on these very logs look better than they are`,
      value: taskRules.share,
      threshold: weakTaskRules,
    },
  ];
}
