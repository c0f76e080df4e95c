import { greatest } from '../math/extremes.ts';
import { abortedWords, formatP, headline, powerWords, sideWords } from '../report/compare-words.ts';
import { formatCount, formatInterval, formatNumber, formatShare } from '../report/format.ts';
import { textOf } from '../report/page.ts';
import { plain } from '../report/plain.ts';
import type { Comparison, OutcomeComparison } from '../schema/compare.ts';

import { table, wrap } from './table.ts';

/** A comparison for a person: the answer, every outcome, then the primary one at length. */
export function comparisonText(c: Comparison): string {
  const aborted = abortedWords(c);
  const parts = [
    `A  ${plain(c.a.selector)}: ${textOf(sideWords(c.a))}\nB  ${plain(c.b.selector)}: ${textOf(sideWords(c.b))}\n` +
      `   ${formatCount(c.tasks.common)} tasks in common, ${formatCount(c.tasks.onlyA)} only of A, ${formatCount(c.tasks.onlyB)} only of B\n`,
    `${textOf(headline(c))}\n`,
    differences(c),
    aborted === null ? '' : wrap(textOf(aborted), 98),
    primary(c.outcomes[0]!, c.config.power),
    apart(c),
    largest(c.outcomes[0]!),
    c.absent.length === 0
      ? ''
      : `Not compared\n${c.absent.map((x) => `  ${x.outcome}: ${x.reason}\n`).join('')}`,
    [...c.notes, c.family.note].map((n) => wrap(n, 98)).join(''),
  ];
  return parts.filter((p) => p !== '').join('\n');
}

function differences(c: Comparison): string {
  const level = formatShare(c.config.level);
  const many = c.family.size > 1;
  const head = [
    'outcome',
    'A',
    'B',
    'B − A',
    'se',
    level,
    ...(many ? ['simultaneous'] : []),
    'tasks',
    'B wins',
    'ties',
    'losses',
  ];
  const rows = c.outcomes.map((o) => [
    `${o.outcome}${o.better === 'lower' ? ' (less is better)' : ''}`,
    formatNumber(o.a.pairedMean),
    formatNumber(o.b.pairedMean),
    formatNumber(o.difference.value),
    formatNumber(o.difference.se, 4),
    formatInterval(o.difference.interval),
    ...(many ? [formatInterval(o.difference.simultaneous)] : []),
    formatCount(o.tasks),
    formatCount(o.tests.wins),
    formatCount(o.tests.ties),
    formatCount(o.tests.losses),
  ]);
  return `New tasks from this population, each task once${many ? '; the primary outcome first' : ''}\n${table(
    head,
    rows,
    head.map((_, k) => k).slice(1),
  )}`;
}

function primary(o: OutcomeComparison, power: number): string {
  const { difference: d, tests: t, winRate: w } = o;
  const rows: [string, string][] = [
    [
      'new tasks',
      `se ${formatNumber(d.se, 4)}, ${formatInterval(d.interval)}${d.interval ? ` (${d.interval.method})` : ''}`,
    ],
    [
      'these very tasks',
      d.theseTasks
        ? `se ${formatNumber(d.theseTasks.se, 4)}, ${formatInterval(d.theseTasks.interval)}${d.theseTasks.interval ? ` (${d.theseTasks.interval.method})` : ''}`
        : '– (needs two trials of both on every common task)',
    ],
    ['sign test', `p ${formatP(t.sign)}  ${t.wins} wins, ${t.ties} ties, ${t.losses} losses; exact`],
    ['Wilcoxon', `p ${formatP(t.wilcoxon.p)}  ${t.wilcoxon.method}`],
    ['sign-flip', `p ${formatP(t.signFlip.p)}  ${t.signFlip.method}`],
    [
      'win rate of B',
      `${formatNumber(w.value)}  ${formatInterval(w.interval)}, a trial against a trial, ties half`,
    ],
  ];
  if (o.success) {
    const x = o.success.pairs;
    rows.push([
      'pairs of trials',
      `both ${formatShare(x.both)}, only A ${formatShare(x.onlyA)}, only B ${formatShare(x.onlyB)}, neither ${formatShare(x.neither)}`,
    ]);
    for (const k of o.success.passHatK.slice(1, 8))
      rows.push([
        `pass^${k.k}`,
        `${formatNumber(k.a)} → ${formatNumber(k.b)}: ${formatNumber(k.difference)} ${formatInterval(k.interval)}, ${formatCount(k.tasks)} tasks`,
      ]);
  }
  powerWords(o, power)
    .map(textOf)
    .forEach((line, i) => {
      rows.push([i === 0 ? 'power' : '', line]);
    });
  const width = greatest(rows.map(([name]) => name.length));
  return `${o.outcome}\n${rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join('')}`;
}

function apart(c: Comparison): string {
  const row = (o: OutcomeComparison, side: 'a' | 'b'): string[] => [
    o.outcome,
    side.toUpperCase(),
    formatNumber(o[side].mean),
    formatNumber(o[side].se, 4),
    formatCount(o[side].n),
    formatCount(c[side].episodes),
    formatCount(o[side].missing + o[side].invalid),
    formatNumber(o[side].pairedTrials, 1),
  ];
  const head = ['outcome', '', 'mean', 'se', 'n', 'episodes', 'missing', 'trials a task'];
  return `Each by itself, over all its episodes (CR1)\n${table(
    head,
    c.outcomes.flatMap((o) => [row(o, 'a'), row(o, 'b')]),
    [2, 3, 4, 5, 6, 7],
  )}`;
}

function largest(o: OutcomeComparison): string {
  const rows = (['gains', 'losses'] as const).flatMap((way) =>
    o.largest[way].map((x) => [
      way === 'gains' ? 'B better' : 'B worse',
      x.task,
      formatNumber(x.a),
      formatNumber(x.b),
      `${x.trialsA}, ${x.trialsB}`,
    ]),
  );
  if (rows.length === 0) return '';
  return `Tasks that differ most in ${o.outcome} (in part by chance)\n${table(['', 'task', 'A', 'B', 'trials'], rows, [2, 3])}`;
}
