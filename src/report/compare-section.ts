import { greatest, least } from '../math/extremes.ts';
import type { Comparison, OutcomeComparison } from '../schema/compare.ts';
import type { Report } from '../schema/report.ts';
import { abortedWords, formatP, headline, powerWords, sideWords } from './compare-words.ts';
import { warningsList } from './describe-section.ts';
import { intervals } from './figures.ts';
import { formatCount, formatNumber, formatShare } from './format.ts';
import { details, figure, type Html, heading, list, paragraph, table, textOf } from './page.ts';
import { cited, joined, shown, shownCount, shownInterval, shownShare, words } from './shown-number.ts';

/** The policies of a store against each other, where they share tasks; a line where two do not. */
export function comparisonSections(pairs: Report['comparisons']): Html[] {
  return pairs.flatMap(({ a, b, comparison, refused }, k) => {
    const id = k === 0 ? 'compare' : `compare-${k + 1}`;
    return comparison
      ? compareSection(comparison, id, `comparisons/${k}/comparison/`)
      : [
          heading(2, words`${cited(`comparisons/${k}/b`, b)} against ${cited(`comparisons/${k}/a`, a)}`, id),
          paragraph(
            words`Not compared: ${refused === null ? 'no task in common' : cited(`comparisons/${k}/refused`, refused)}`,
            'note',
          ),
        ];
  });
}

/**
 * Two policies on the same tasks: the answer, every outcome, what the design could see. `at`: the path of the comparison
 * in the data of the page, "/" at its end.
 */
export function compareSection(c: Comparison, id = 'compare', at = ''): Html[] {
  const first = c.outcomes[0]!;
  const level = shownShare(`${at}config/level`, c.config.level);
  const aborted = abortedWords(c, at);
  const many = c.family.size > 1;
  const interval = words`${level} interval`;
  const head = ['outcome', 'A', 'B', 'B − A', 'SE', interval, ...(many ? ['simultaneous'] : []), 'tasks'];
  return [
    heading(
      2,
      words`${cited(`${at}b/selector`, c.b.selector)} against ${cited(`${at}a/selector`, c.a.selector)}`,
      id,
    ),
    paragraph(headline(c, at), 'lead'),
    paragraph(
      words`A is ${cited(`${at}a/selector`, c.a.selector)}: ${sideWords(c.a, `${at}a`)}. B is ${cited(`${at}b/selector`, c.b.selector)}: ${sideWords(c.b, `${at}b`)}. ${shownCount(`${at}tasks/common`, c.tasks.common)} tasks in common, ${shownCount(`${at}tasks/onlyA`, c.tasks.onlyA)} only of A, ${shownCount(`${at}tasks/onlyB`, c.tasks.onlyB)} only of B.`,
      'note',
    ),
    ...warningsList(c.warnings, `${at}warnings`),
    table(
      head,
      c.outcomes.map((o, k) => outcomeRow(o, `${at}outcomes/${k}`, many)),
      head.slice(1).map(textOf),
      { stack: true },
    ),
    ...details('Tasks won and lost', winsParts(c.outcomes, at)),
    ...(aborted === null ? [] : [paragraph(aborted)]),
    figure(
      intervals(c.outcomes.map(forestRow), 'B − A in SDs of a task’s difference', {
        value: 0,
        label: 'no difference',
      }),
      words`Paired differences with ${level} intervals, to the right where B does better: ${cited(`${at}outcomes/0/difference/estimand`, first.difference.estimand)}. ${cited(`${at}family/note`, c.family.note)}`,
    ),
    heading(3, words`What this design can see in ${cited(`${at}outcomes/0/outcome`, first.outcome)}`),
    list(powerWords(first, c.config.power, `${at}outcomes/0`, `${at}config/power`)),
    ...(first.power ? [paragraph(cited(`${at}outcomes/0/power/method`, first.power.method), 'note')] : []),
    ...successParts(first, `${at}outcomes/0/success`),
    ...largestParts(first, `${at}outcomes/0`),
    ...(c.absent.length > 0
      ? [
          paragraph(
            words`Not compared: ${joined(
              c.absent.map(
                (x, k) =>
                  words`${cited(`${at}absent/${k}/outcome`, x.outcome)} (${cited(`${at}absent/${k}/reason`, x.reason)})`,
              ),
              '; ',
            )}.`,
            'note',
          ),
        ]
      : []),
    ...c.notes.map((n, k) => paragraph(cited(`${at}notes/${k}`, n), 'note')),
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

function outcomeRow(o: OutcomeComparison, at: string, many: boolean): (string | Html)[] {
  const d = o.difference;
  return [
    words`${cited(`${at}/outcome`, o.outcome)}${o.better === 'lower' ? ' (less is better)' : ''}`,
    shown(`${at}/a/pairedMean`, o.a.pairedMean),
    shown(`${at}/b/pairedMean`, o.b.pairedMean),
    shown(`${at}/difference/value`, d.value),
    shown(`${at}/difference/se`, d.se, formatNumber(d.se, 4)),
    shownInterval(`${at}/difference/interval`, d.interval),
    ...(many ? [shownInterval(`${at}/difference/simultaneous`, d.simultaneous)] : []),
    shown(`${at}/tasks`, o.tasks, formatCount(o.tasks)),
  ];
}

/** Who does better on how many tasks, and in how many pairs of trials. */
function winsParts(outcomes: readonly OutcomeComparison[], at: string): Html[] {
  const head = ['outcome', 'won by B', 'tied', 'lost by B', 'sign test', 'B beats A, trial by trial'];
  return [
    table(
      head,
      outcomes.map((o, k) => {
        const of = `${at}outcomes/${k}`;
        return [
          cited(`${of}/outcome`, o.outcome),
          ...(['wins', 'ties', 'losses'] as const).map((name) =>
            shownCount(`${of}/tests/${name}`, o.tests[name]),
          ),
          shown(`${of}/tests/sign`, o.tests.sign, formatP(o.tests.sign)),
          words`${shown(`${of}/winRate/value`, o.winRate.value)} ${shownInterval(`${of}/winRate/interval`, o.winRate.interval)}`,
        ];
      }),
      head.slice(1),
      { stack: true },
    ),
    paragraph(
      'Won: the mean of B on the task is the better one. Trial by trial: the chance that a trial of B is better than a trial of A on the same task, ties counted half; it can differ in direction from the means where few trials differ by much.',
      'note',
    ),
  ];
}

function successParts(o: OutcomeComparison, at: string): Html[] {
  if (!o.success) return [];
  const x = o.success.pairs;
  return [
    heading(3, 'A trial of A beside a trial of B on the same task'),
    table(
      ['trials', 'B succeeds', 'B fails'],
      [
        [
          'A succeeds',
          shown(`${at}/pairs/both`, x.both, formatShare(x.both)),
          shown(`${at}/pairs/onlyA`, x.onlyA, formatShare(x.onlyA)),
        ],
        [
          'A fails',
          shown(`${at}/pairs/onlyB`, x.onlyB, formatShare(x.onlyB)),
          shown(`${at}/pairs/neither`, x.neither, formatShare(x.neither)),
        ],
      ],
      ['B succeeds', 'B fails'],
    ),
    heading(3, 'All of k trials succeed'),
    table(
      ['k', 'A', 'B', 'B − A', 'interval', 'tasks'],
      o.success.passHatK.map((k, i) => {
        const of = `${at}/passHatK/${i}`;
        return [
          shown(`${of}/k`, k.k, String(k.k)),
          shown(`${of}/a`, k.a),
          shown(`${of}/b`, k.b),
          shown(`${of}/difference`, k.difference),
          shownInterval(`${of}/interval`, k.interval),
          shown(`${of}/tasks`, k.tasks, formatCount(k.tasks)),
        ];
      }),
      ['k', 'A', 'B', 'B − A', 'interval', 'tasks'],
    ),
  ];
}

function largestParts(o: OutcomeComparison, at: string): Html[] {
  const rows = (['gains', 'losses'] as const).flatMap((way) =>
    o.largest[way].map((x, i) => {
      const of = `${at}/largest/${way}/${i}`;
      return [
        way === 'gains' ? 'B better' : 'B worse',
        cited(`${of}/task`, x.task),
        shown(`${of}/a`, x.a),
        shown(`${of}/b`, x.b),
        shown(`${of}/trialsA`, x.trialsA, formatCount(x.trialsA)),
        shown(`${of}/trialsB`, x.trialsB, formatCount(x.trialsB)),
      ];
    }),
  );
  if (rows.length === 0) return [];
  return [
    heading(3, words`Tasks that differ most in ${cited(`${at}/outcome`, o.outcome)}`),
    table(['which', 'task', 'A', 'B', 'trials of A', 'trials of B'], rows, [
      'A',
      'B',
      'trials of A',
      'trials of B',
    ]),
    paragraph('The largest of noisy differences are large in part by chance.', 'note'),
  ];
}
