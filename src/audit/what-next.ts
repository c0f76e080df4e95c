import type { Reason } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import { countWords } from '../weights/words.ts';
import type { Evidence } from './reasons.ts';

/** What to collect next, so that another audit of the same target says more. */
export function whatNext(
  reasons: readonly Reason[],
  { evaluation, weights, unsupported, ratios, findings = [] }: Evidence,
  c: AuditConfig,
): string[] {
  const has = (...codes: string[]): boolean => reasons.some((r) => codes.includes(r.code));
  const out: string[] = [];
  const n = evaluation.episodes.used;
  // More of the same behaviour never shows what it does not do.
  const more = (unsupported.mass ?? 0) <= c.maxUnsupported && !has('class-not-logged');
  let sized = false;
  if (has('no-followers'))
    out.push(
      'Log rollouts of the target itself, or of a policy that takes its actions with some probability at every turn.',
    );
  if (
    has(
      'low-ess',
      'low-task-ess',
      'few-task-ess',
      'few-events',
      'low-ess-share',
      'heavy-tail',
      'one-episode',
      'thin-turn',
    ) &&
    weights.ess > 0
  ) {
    const thin = reasons.find((r) => r.code === 'thin-turn');
    const factor = Math.max(
      thin ? c.weakTurnEss / Math.max(1, thin.value!) : 1,
      weights.ess < c.minEss ? c.minEss / weights.ess : 1,
      has('few-events') ? c.weakEvents / Math.max(1, weights.events!) : 1,
      weights.essByTask < c.weakTaskEss ? c.weakTaskEss / weights.essByTask : 1,
    );
    if (factor > 1 && more) {
      sized = true;
      const tasks = Math.max(round(evaluation.clusters * factor), has('too-few-tasks') ? c.weakTaskEss : 0);
      out.push(
        `About ${countWords(round(n * factor))} episodes over ${countWords(tasks)} tasks of the same behaviour would do (now ${countWords(n)} over ${countWords(evaluation.clusters)}).`,
      );
    }
    out.push(
      'Cheaper: rollouts of the target itself, each of which counts in full, or of a policy between the two, each of which counts the more the nearer it is.',
    );
  }
  if (has('class-not-logged'))
    out.push('Name the classes as the logs do, or log rollouts that take the missing ones.');
  if (has('unsupported-mass'))
    out.push(
      `Let the behaviour try ${unsupported.cells
        .slice(0, 3)
        .map((x) => `${x.actions.join(' or ')} in ${x.cell}`)
        .join('; ')}: explored with probability 0.1 or more it becomes evaluable.`,
    );
  for (const { effect, fix } of findings) if (effect !== 'nothing') out.push(fix);
  if (has('rules-name-tasks'))
    out.push(
      'Say in `trained_on` which tasks or sources the rules were chosen on, so that those are left out, or log tasks they have not seen.',
    );
  if (has('propensities-contradicted', 'propensities-outpredicted'))
    out.push(
      'Log the probability with which the action was really drawn, at the turn itself and after temperature, filters and fallbacks; and keep rollouts that failed.',
    );
  if (has('unlogged-mass', 'unlogged-beyond-chance'))
    out.push('Make the cells of the policy coarser, or log more rollouts in each of them.');
  if (has('mean-weight', 'bounds-contradict'))
    out.push(
      'Check the logged propensities: re-score the behaviour through the path that scored the target; ratios must come out at 1. If they do, the logs lack paths of the target.',
    );
  if (has('missing-returns'))
    out.push(
      'Log the reward of every rollout that was not aborted, failures too: one that nobody scored is rarely missing at random.',
    );
  if (has('many-aborted'))
    out.push('Find out why rollouts abort, and whether the long or the hard ones do so more often.');
  if (has('cut-short'))
    out.push(
      'Let rollouts run to their end. Where a limit of turns or time is part of the task, log it as the ending "limit".',
    );
  if (has('no-standard-error'))
    out.push(
      'Bring rewards to a scale of about 1, and check that tasks and returns are logged as they were.',
    );
  if (has('trained-on-these-logs'))
    out.push(`Log episodes of tasks the target was not trained on (it saw ${ratios.held.tasks} of these).`);
  else if (has('too-few-tasks') && !sized)
    out.push(`Log at least ${c.weakTaskEss} different tasks, with their task ids.`);
  if (has('trained-on-unknown'))
    out.push('Record what the target was trained on: "none", or the source files and task ids.');
  if (has('constant-propensity')) out.push('Log the propensity the policy really had at each turn.');
  if (has('logprob-kind-unknown'))
    out.push('Log logprob_kind (raw or processed) and the sampling parameters for both policies.');
  return out;
}

/** Two leading digits, upwards. */
function round(x: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(x)) - 1);
  return Math.ceil(x / unit) * unit;
}
