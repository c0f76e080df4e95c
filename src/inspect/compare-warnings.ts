import type { Comparison } from '../schema/compare.ts';
import type { Warning } from '../schema/warning.ts';

/** Fewer tasks than this make a t interval rough where differences are not normal. */
const ROUGH = 20;

/** That some ids stand for several tasks; none where all are one. */
export function ambiguousWarning(tasks: readonly string[]): Warning[] {
  if (tasks.length === 0) return [];
  const shown = tasks.slice(0, 3).map((t) => `"${t}"`);
  const which = `${shown.join(', ')}${tasks.length > 3 ? ` and ${tasks.length - 3} more` : ''}`;
  return [
    {
      code: 'ambiguous-task',
      message: `${tasks.length === 1 ? 'Task id' : 'Task ids'} ${which} ${tasks.length === 1 ? 'comes' : 'come'} with different instructions in different files or policies (two domains that count from 0?): not paired.`,
      count: tasks.length,
      column: 'task_id',
    },
  ];
}

/** What a reader must know before believing a comparison. */
export function compareWarnings(c: Omit<Comparison, 'warnings'>): Warning[] {
  const list: Warning[] = [];
  const warn = (code: string, message: string, count: number): void => {
    list.push({ code, message, count });
  };
  const K = c.outcomes[0]!.tasks;
  const least = c.config.minTasks;
  if (K < least)
    warn(
      'few-tasks',
      `No interval from fewer than ${least} common tasks: ${K} ${K === 1 ? 'has' : 'have'} the primary outcome.`,
      K,
    );
  else if (K < ROUGH)
    warn(
      'rough-interval',
      `With fewer than ${ROUGH} common tasks the t interval is rough unless differences are near normal.`,
      K,
    );
  if (c.tasks.onlyA + c.tasks.onlyB > 0)
    warn(
      'unpaired-tasks',
      `Tasks that only one policy has tried are left out: ${c.tasks.onlyA} of A, ${c.tasks.onlyB} of B.`,
      c.tasks.onlyA + c.tasks.onlyB,
    );
  for (const [side, name] of [
    [c.a, 'A'],
    [c.b, 'B'],
  ] as const) {
    if (side.withoutTask > 0)
      warn(
        'missing-task',
        `Episodes of ${name} without a task id cannot be paired and are left out.`,
        side.withoutTask,
      );
    if (side.versions.length > 1)
      warn(
        'mixed-versions',
        `${name} mixes several policy versions; name one with name@version.`,
        side.versions.length,
      );
    if (side.policies.length > 1)
      warn('mixed-policies', `${name} mixes several policies.`, side.policies.length);
  }
  const aborted = c.a.aborted + c.b.aborted;
  if (aborted > 0)
    warn(
      'aborted',
      `Aborted episodes are left out: ${c.a.aborted} of A, ${c.b.aborted} of B. If hard tasks abort more under one of them, it looks better than it is.`,
      aborted,
    );
  const out = c.outcomes.find((o) => o.outcome === c.abortedAsZero?.outcome)?.difference.value ?? 0;
  const zero = c.abortedAsZero?.difference.value ?? 0;
  if (Math.sign(out) !== Math.sign(zero) && c.abortedAsZero !== null)
    warn(
      'aborted-decide',
      `Which policy is better in ${c.abortedAsZero.outcome} hangs on the aborted episodes: B − A is ${Number(out.toPrecision(3))} with them left out and ${Number(zero.toPrecision(3))} with them counted as 0.`,
      aborted,
    );
  const cut = c.a.cutShort + c.b.cutShort;
  if (cut > 0)
    warn(
      'cut-short',
      `Truncated or unfinished episodes count with what was logged: ${c.a.cutShort} of A, ${c.b.cutShort} of B.`,
      cut,
    );
  for (const o of c.outcomes) {
    const missing = o.a.missing + o.b.missing;
    if (missing > 0)
      warn(
        'missing-outcome',
        `${o.outcome}: ${o.a.missing} episodes of A and ${o.b.missing} of B do not say; left out, not counted as 0.`,
        missing,
      );
    const invalid = o.a.invalid + o.b.invalid;
    if (invalid > 0)
      warn(
        'invalid-outcome',
        `${o.outcome}: ${o.a.invalid} values of A and ${o.b.invalid} of B are NaN, infinite, beyond 1e100 in size or negative times; left out.`,
        invalid,
      );
    if (o.tasks >= least && o.difference.se !== null && o.difference.interval === null)
      warn(
        'no-spread',
        `${o.outcome}: the difference is the same on every task; no interval, for a spread of 0 is not certainty.`,
        o.tasks,
      );
  }
  if (!['success', 'return'].includes(c.primary) && c.config.outcomes.length === 0)
    warn(
      'no-reward',
      `Neither policy's reward can be compared; the primary outcome is ${c.primary}, which says nothing of success.`,
      0,
    );
  return list;
}
