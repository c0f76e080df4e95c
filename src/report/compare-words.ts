import type { Comparison, OutcomeComparison } from '../schema/compare.ts';
import { formatNumber, formatShare } from './format.ts';
import type { Html } from './page.ts';
import { cited, joined, shown, shownCount, shownInterval, shownShare, words } from './shown-number.ts';

/*
 * Sentences about a comparison, for the page; `textOf` of them for a terminal. `at`: the path of what they are about in
 * the data of the page.
 */

/** The primary outcome in one sentence. */
export function headline(c: Comparison, at = ''): Html {
  const o = c.outcomes[0]!;
  const { value, interval } = o.difference;
  const of = `${at}outcomes/0`;
  const outcome = cited(`${of}/outcome`, o.outcome);
  const over = words`${cited(`${of}/unit`, o.unit)}, ${shownCount(`${of}/tasks`, o.tasks)} common tasks`;
  const mean = shown(`${of}/difference/value`, value);
  if (interval === null) return words`B − A in ${outcome} is ${mean}, without an interval (${over}).`;
  const size = words`B − A is ${mean} ${shownInterval(`${of}/difference/interval`, interval)} (${over}, ${shownShare(`${of}/difference/interval/level`, interval.level)} interval).`;
  if (interval.lo <= 0 && interval.hi >= 0)
    return words`These logs do not tell A and B apart in ${outcome}: ${size}`;
  const higher = interval.lo > 0 ? 'B' : 'A';
  const lower = interval.lo > 0 ? 'A' : 'B';
  return words`${o.better === 'higher' ? higher : lower} does better in ${outcome}: ${size}`;
}

/** The reward with the other denominator; null where nothing was aborted. */
export function abortedWords(c: Comparison, at = ''): Html | null {
  const z = c.abortedAsZero;
  if (z === null) return null;
  const of = `${at}abortedAsZero`;
  const { value, interval } = z.difference;
  const paired = (side: 'a' | 'b') => shown(`${of}/${side}/pairedMean`, z[side].pairedMean);
  const alone = (side: 'a' | 'b') =>
    words`${shown(`${of}/${side}/mean`, z[side].mean)} (n = ${shownCount(`${of}/${side}/n`, z[side].n)})`;
  return words`Aborted episodes counted as 0 instead of left out: ${cited(`${of}/outcome`, z.outcome)} ${paired('a')} of A, ${paired('b')} of B, B − A ${shown(`${of}/difference/value`, value)} ${shownInterval(`${of}/difference/interval`, interval)} over ${shownCount(`${of}/tasks`, z.tasks)} tasks; each by itself ${alone('a')} and ${alone('b')}.`;
}

/** What the design could have seen with a power that lies at `wanted`, and what it would take; one sentence each. */
export function powerWords(o: OutcomeComparison, power: number, at = '', wanted = ''): Html[] {
  const p = o.power;
  if (p === null) return [words`Power: not known with so few tasks or without any spread.`];
  const of = `${at}/power`;
  const share = shownShare(wanted, power);
  const these = words`these ${shownCount(`${at}/tasks`, o.tasks)} tasks`;
  const lines = [
    words`A true difference of ${shown(`${of}/detectable`, p.detectable)} is seen with ${share} power.`,
  ];
  if (p.difference !== null) {
    const aim = shown(`${of}/difference`, p.difference);
    lines.push(words`One of ${aim} is seen with ${shownShare(`${of}/power`, p.power)}.`);
    const tasks =
      p.tasksNeeded === null
        ? 'more than 10⁹ tasks'
        : words`${shownCount(`${of}/tasksNeeded`, p.tasksNeeded)} tasks`;
    lines.push(words`To see ${aim} with ${share}: ${tasks} at the same trials per task,`);
    const t = p.trialsNeeded;
    lines.push(
      p.variance === null
        ? words`or more trials per task (how many is not known: no task has two trials of both).`
        : t
          ? words`or ${shownCount(`${of}/trialsNeeded/a`, t.a)} trials of A and ${shownCount(`${of}/trialsNeeded/b`, t.b)} of B on each of ${these}.`
          : words`but no number of trials on ${these}: they cannot see less than ${shown(`${of}/floor`, p.floor)}.`,
    );
  }
  if (p.variance !== null)
    lines.push(
      p.variance.between === 0
        ? words`The differences of tasks vary no more than their trials explain: more trials help as far as can be told.`
        : words`Of the variance of a task’s difference, ${formatShare(p.variance.between / p.variance.task)} lies between tasks and is not lowered by more trials.`,
    );
  return lines;
}

/** A p value as a person reads it. */
export const formatP = (p: number | null): string =>
  p === null ? '–' : p < 0.0001 ? '< 0.0001' : formatNumber(p, p < 0.01 ? 4 : 3);

/** Whom a side of the comparison holds. */
export function sideWords(side: Comparison['a'], at = ''): Html {
  const parts = [
    words`${shownCount(`${at}/episodes`, side.episodes)} episodes`,
    words`${shownCount(`${at}/tasks`, side.tasks)} tasks`,
  ];
  if (side.aborted > 0) parts.push(words`${shownCount(`${at}/aborted`, side.aborted)} aborted`);
  if (side.withoutTask > 0)
    parts.push(words`${shownCount(`${at}/withoutTask`, side.withoutTask)} without a task`);
  return joined(parts, ', ');
}
