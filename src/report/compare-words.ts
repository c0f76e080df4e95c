import type { Comparison, OutcomeComparison } from '../schema/compare.ts';
import { formatCount, formatInterval, formatNumber, formatShare } from './format.ts';

/** The primary outcome in one sentence. */
export function headline(c: Comparison): string {
  const o = c.outcomes[0]!;
  const { value, interval } = o.difference;
  const size = `${formatNumber(value)} ${o.unit}`;
  if (interval === null)
    return `B − A in ${o.outcome} is ${size} over ${formatCount(o.tasks)} common tasks, without an interval.`;
  const range = `${formatShare(interval.level)} interval ${formatInterval(interval)}, ${formatCount(o.tasks)} common tasks`;
  const toward = o.better === 'higher' ? 1 : -1;
  if (interval.lo > 0 || interval.hi < 0) {
    const who = value * toward > 0 ? 'B does better' : 'A does better';
    return `${who} in ${o.outcome}: B − A is ${size} (${range}).`;
  }
  return `These logs do not tell A and B apart in ${o.outcome}: B − A is ${size} (${range}).`;
}

/** What the design could have seen, and what it would take; one sentence each. */
export function powerWords(o: OutcomeComparison, power: number): string[] {
  const p = o.power;
  if (p === null) return ['Power: not known with so few tasks or without any spread.'];
  const share = formatShare(power);
  const lines = [`A true difference of ${formatNumber(p.detectable)} is seen with ${share} power.`];
  if (p.difference !== null) {
    const aim = formatNumber(p.difference);
    lines.push(`One of ${aim} is seen with ${formatShare(p.power)}.`);
    const tasks = p.tasksNeeded === null ? 'more than 10⁹ tasks' : `${formatCount(p.tasksNeeded)} tasks`;
    lines.push(`To see ${aim} with ${share}: ${tasks} at the same trials per task,`);
    const t = p.trialsNeeded;
    lines.push(
      p.variance === null
        ? 'or more trials per task (how many is not known: no task has two trials of both).'
        : t
          ? `or ${formatCount(t.a)} trials of A and ${formatCount(t.b)} of B on each of these ${formatCount(o.tasks)} tasks.`
          : `but no number of trials on these ${formatCount(o.tasks)} tasks: they cannot see less than ${formatNumber(p.floor)}.`,
    );
  }
  if (p.variance !== null)
    lines.push(
      `Of the variance of a task’s difference, ${formatShare(p.variance.between / p.variance.task)} lies between tasks and is not lowered by more trials.`,
    );
  return lines;
}

/** A p value as a person reads it. */
export const formatP = (p: number | null): string =>
  p === null ? '–' : p < 0.0001 ? '< 0.0001' : formatNumber(p, p < 0.01 ? 4 : 3);

/** Whom a side of the comparison holds. */
export function sideWords(side: Comparison['a']): string {
  const parts = [`${formatCount(side.episodes)} episodes`, `${formatCount(side.tasks)} tasks`];
  if (side.aborted > 0) parts.push(`${formatCount(side.aborted)} aborted`);
  if (side.withoutTask > 0) parts.push(`${formatCount(side.withoutTask)} without a task`);
  return parts.join(', ');
}
