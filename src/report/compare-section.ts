import { greatest, least } from '../math/extremes.ts';
import type { Comparison, OutcomeComparison } from '../schema/compare.ts';
import type { Report } from '../schema/report.ts';
import { abortedWords, formatP, headline, powerWords, sideWords } from './compare-words.ts';
import { warningsList } from './describe-section.ts';
import { intervals } from './figures.ts';
import { formatCount, formatInterval, formatNumber, formatShare } from './format.ts';
import { figure, type Html, heading, list, paragraph, table } from './page.ts';
import { plain } from './plain.ts';

/** The policies of a store against each other, where they share tasks; a line where two do not. */
export function comparisonSections(pairs: Report['comparisons']): Html[] {
  return pairs.flatMap(({ a, b, comparison, refused }, k) => {
    const id = k === 0 ? 'compare' : `compare-${k + 1}`;
    return comparison
      ? compareSection(comparison, id)
      : [
          heading(2, `${plain(b)} against ${plain(a)}`, id),
          paragraph(`Not compared: ${plain(refused ?? 'no task in common')}`, 'note'),
        ];
  });
}

/** Two policies on the same tasks: the answer, every outcome, what the design could see. */
export function compareSection(c: Comparison, id = 'compare'): Html[] {
  const first = c.outcomes[0]!;
  const level = formatShare(c.config.level);
  const head = [
    'outcome',
    'A',
    'B',
    'B − A',
    'standard error',
    level,
    'simultaneous',
    'tasks',
    'wins, ties, losses',
    'win rate of B',
    'sign test',
  ];
  return [
    heading(2, `${plain(c.b.selector)} against ${plain(c.a.selector)}`, id),
    paragraph(headline(c), 'lead'),
    paragraph(
      `A is ${plain(c.a.selector)}: ${sideWords(c.a)}. B is ${plain(c.b.selector)}: ${sideWords(c.b)}. ` +
        `${formatCount(c.tasks.common)} tasks in common, ${formatCount(c.tasks.onlyA)} only of A, ${formatCount(c.tasks.onlyB)} only of B.`,
      'note',
    ),
    ...warningsList(c.warnings),
    table(
      head,
      c.outcomes.map((o) => [
        `${o.outcome}${o.better === 'lower' ? ' (less is better)' : ''}`,
        formatNumber(o.a.pairedMean),
        formatNumber(o.b.pairedMean),
        formatNumber(o.difference.value),
        formatNumber(o.difference.se, 4),
        formatInterval(o.difference.interval),
        formatInterval(o.difference.simultaneous),
        formatCount(o.tasks),
        `${formatCount(o.tests.wins)}, ${formatCount(o.tests.ties)}, ${formatCount(o.tests.losses)}`,
        `${formatNumber(o.winRate.value)} ${formatInterval(o.winRate.interval)}`,
        formatP(o.tests.sign),
      ]),
      head.slice(1),
    ),
    ...(abortedWords(c) === null ? [] : [paragraph(abortedWords(c)!)]),
    figure(
      intervals(c.outcomes.map(forestRow), 'B − A, in standard deviations of the difference of a task', {
        value: 0,
        label: 'no difference',
      }),
      `Paired differences with ${level} intervals, to the right where B does better. ${first.difference.estimand}. ${c.family.note}`,
    ),
    heading(3, `What this design can see in ${first.outcome}`),
    list(powerWords(first, c.config.power)),
    ...(first.power ? [paragraph(first.power.method, 'note')] : []),
    ...successParts(first),
    ...largestParts(first),
    ...(c.absent.length > 0
      ? [paragraph(`Not compared: ${c.absent.map((x) => `${x.outcome} (${x.reason})`).join('; ')}.`, 'note')]
      : []),
    ...c.notes.map((n) => paragraph(n, 'note')),
  ];
}

/** On one scale for all outcomes, turned so that right is better for B. */
function forestRow(o: OutcomeComparison) {
  const { value, se, interval } = o.difference;
  const unit = (se ?? 0) > 0 ? se! * Math.sqrt(o.tasks) * (o.better === 'higher' ? 1 : -1) : null;
  const ends = interval && unit ? [interval.lo / unit, interval.hi / unit] : null;
  return {
    label: o.outcome,
    value: unit ? value / unit : value === 0 ? 0 : null,
    lo: ends ? least(ends) : null,
    hi: ends ? greatest(ends) : null,
    kind: 'interval' as const,
  };
}

function successParts(o: OutcomeComparison): Html[] {
  if (!o.success) return [];
  const x = o.success.pairs;
  return [
    heading(3, 'A trial of A beside a trial of B on the same task'),
    table(
      ['', 'B succeeds', 'B fails'],
      [
        ['A succeeds', formatShare(x.both), formatShare(x.onlyA)],
        ['A fails', formatShare(x.onlyB), formatShare(x.neither)],
      ],
      ['B succeeds', 'B fails'],
    ),
    heading(3, 'All of k trials succeed'),
    table(
      ['k', 'A', 'B', 'B − A', 'interval', 'tasks'],
      o.success.passHatK.map((k) => [
        String(k.k),
        formatNumber(k.a),
        formatNumber(k.b),
        formatNumber(k.difference),
        formatInterval(k.interval),
        formatCount(k.tasks),
      ]),
      ['k', 'A', 'B', 'B − A', 'interval', 'tasks'],
    ),
  ];
}

function largestParts(o: OutcomeComparison): Html[] {
  const rows = (['gains', 'losses'] as const).flatMap((way) =>
    o.largest[way].map((x) => [
      way === 'gains' ? 'B better' : 'B worse',
      plain(x.task),
      formatNumber(x.a),
      formatNumber(x.b),
      formatCount(x.trialsA),
      formatCount(x.trialsB),
    ]),
  );
  if (rows.length === 0) return [];
  return [
    heading(3, `Tasks that differ most in ${o.outcome}`),
    table(['', 'task', 'A', 'B', 'trials of A', 'trials of B'], rows, [
      'A',
      'B',
      'trials of A',
      'trials of B',
    ]),
    paragraph('The largest of noisy differences are large in part by chance.', 'note'),
  ];
}
