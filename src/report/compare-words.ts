import type { Comparison, OutcomeComparison } from '../schema/compare.ts';
import { formatCount, formatInterval, formatNumber, formatShare } from './format.ts';

/** The primary outcome in one sentence. */
export function headline(c: Comparison): string {
  const o = c.outcomes[0]!;
  const { value, interval } = o.difference;
  const over = `${o.unit}, ${formatCount(o.tasks)} common tasks`;
  if (interval === null)
    return `B − A in ${o.outcome} is ${formatNumber(value)}, without an interval (${over}).`;
  const size = `B − A is ${formatNumber(value)} ${formatInterval(interval)} (${over}, ${formatShare(interval.level)} interval).`;
  if (interval.lo <= 0 && interval.hi >= 0)
    return `These logs do not tell A and B apart in ${o.outcome}: ${size}`;
  const higher = interval.lo > 0 ? 'B' : 'A';
  const lower = interval.lo > 0 ? 'A' : 'B';
  return `${o.better === 'higher' ? higher : lower} does better in ${o.outcome}: ${size}`;
}

/** The reward with the other denominator; null where nothing was aborted. */
export function abortedWords(c: Comparison): string | null {
  const z = c.abortedAsZero;
  if (z === null) return null;
  const { value, interval } = z.difference;
  return `Aborted episodes counted as 0 instead of left out: ${z.outcome} ${formatNumber(z.a.pairedMean)} of A, ${formatNumber(z.b.pairedMean)} of B, B − A ${formatNumber(value)} ${formatInterval(interval)} over ${formatCount(z.tasks)} tasks; each by itself ${formatNumber(z.a.mean)} (n = ${formatCount(z.a.n)}) and ${formatNumber(z.b.mean)} (n = ${formatCount(z.b.n)}).`;
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
      p.variance.between === 0
        ? 'The differences of tasks vary no more than their trials explain: more trials help as far as can be told.'
        : `Of the variance of a task’s difference, ${formatShare(p.variance.between / p.variance.task)} lies between tasks and is not lowered by more trials.`,
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
