import { NO_SPREAD } from '../math/no-spread.ts';
import type { Check } from '../schema/check.ts';
import type { Description } from '../schema/describe.ts';
import { bars, counts } from './figures.ts';
import { counted, formatCount, formatInterval, formatNumber, formatShare, rateWords } from './format.ts';
import { figure, type Html, heading, html, list, paragraph, table } from './page.ts';
import { plain } from './plain.ts';
import { warningLine } from './warning-line.ts';

/** What is in the logs: counts, rewards with their uncertainty, endings, tools. */
export function describeSection(d: Description): Html[] {
  const parts: Html[] = [
    heading(2, 'What is in these logs', 'logs'),
    table(
      ['episodes', 'tasks', 'assistant turns', 'turns an episode'],
      [
        [
          formatCount(d.episodes),
          formatCount(d.tasks),
          formatCount(d.turns),
          d.turnsPerEpisode
            ? `${formatNumber(d.turnsPerEpisode.mean, 2)} on average, ${d.turnsPerEpisode.max} at most`
            : '–',
        ],
      ],
      ['episodes', 'tasks', 'assistant turns'],
    ),
    ...warningsList(d.warnings),
  ];
  const r = d.reward;
  if (r)
    parts.push(
      heading(3, 'Reward'),
      table(
        ['estimand', 'mean', 'standard error', `${formatShare(r.interval?.level ?? 0.95)} interval`],
        [
          [r.estimand, formatNumber(r.mean), formatNumber(r.se, 4), formatInterval(r.interval)],
          ...(r.theseTasks
            ? [
                [
                  r.theseTasks.estimand,
                  formatNumber(r.mean),
                  formatNumber(r.theseTasks.se, 4),
                  formatInterval(r.theseTasks.interval),
                ],
              ]
            : []),
          ...(r.abortedAsZero
            ? [
                [
                  'the same on new tasks, aborted episodes counted as 0',
                  formatNumber(r.abortedAsZero.mean),
                  formatNumber(r.abortedAsZero.se, 4),
                  formatInterval(r.abortedAsZero.interval),
                ],
              ]
            : []),
        ],
        ['mean', 'standard error', `${formatShare(r.interval?.level ?? 0.95)} interval`],
      ),
      paragraph(
        (r.interval
          ? ''
          : `No interval for new tasks: ${r.clusters < 5 ? 'fewer than 5 tasks' : NO_SPREAD}. `) +
          `Over ${formatCount(r.n)} of ${formatCount(r.episodes)} episodes in ${counted(r.clusters, 'task')}; left out: ` +
          `${formatCount(r.aborted)} aborted, ${formatCount(r.withoutReward)} without a reward. With episodes taken as ` +
          `independent the standard error would be ${formatNumber(r.seNaive, 4)}.` +
          (r.successRate === null
            ? ''
            : ` Success rate ${formatShare(r.successRate)}${r.abortedAsZero ? `, ${formatShare(r.abortedAsZero.successRate)} with aborted episodes counted as failures` : ''}.`),
        'note',
      ),
    );
  else parts.push(paragraph('No episode has a return.'));
  if (d.successHistogram)
    parts.push(
      figure(
        counts(
          d.successHistogram.map((h) => ({ x: h.successes, count: h.tasks })),
          'successes',
          'tasks',
        ),
        `Tasks by number of successes. ${formatCount(d.zeroVarianceTasks)} tasks have equal outcomes in every trial.` +
          (d.passHatK
            ? ` pass^k: ${d.passHatK
                .slice(0, 8)
                .map((p) => formatNumber(p))
                .join(', ')} for k = 1, 2, …`
            : ''),
      ),
    );
  const endings = Object.entries(d.endings).filter(([, n]) => n > 0);
  if (endings.length > 0)
    parts.push(
      figure(
        bars(
          endings.map(([label, value]) => ({ label, value })),
          'episodes',
        ),
        'How the episodes ended. "limit" is the task’s own turn limit.',
      ),
    );
  parts.push(...policiesTable(d));
  if (d.tools.length > 0)
    parts.push(
      heading(3, 'Tools'),
      table(
        ['tool', 'calls', 'error rate', 'outcome unknown'],
        d.tools
          .slice(0, 20)
          .map((t) => [
            t.tool,
            formatCount(t.calls),
            rateWords(t.errorRate, t.errorRateAtLeast),
            formatCount(t.errorUnknown),
          ]),
        ['calls', 'error rate', 'outcome unknown'],
      ),
    );
  return parts;
}

/** The policies by name; nothing where the logs name none. */
function policiesTable(d: Description): Html[] {
  if (d.policies.every((p) => p.policy === null)) return [];
  const head = [
    'policy',
    'episodes',
    'with a return',
    'mean',
    'success rate',
    'aborted as 0',
    'tool errors',
    'pass^k',
  ];
  return [
    heading(3, 'Policies'),
    table(
      head,
      d.policies.map((p) => [
        p.policy === null ? '(none)' : plain(p.policy),
        formatCount(p.episodes),
        formatCount(p.n),
        formatNumber(p.meanReward),
        formatShare(p.successRate),
        p.abortedAsZero ? formatNumber(p.abortedAsZero.meanReward) : '–',
        rateWords(p.toolErrors?.rate ?? null, p.toolErrors?.atLeast ?? null),
        [
          (p.passHatK ?? [])
            .slice(0, 8)
            .map((x) => formatNumber(x))
            .join(', ') || '–',
          p.passHatKReason === null ? '' : `(${p.passHatKReason})`,
        ]
          .filter(Boolean)
          .join(' '),
      ]),
      head.slice(1, 7),
    ),
  ];
}

/** What is wrong with the logs. */
export function checkSection(check: Check): Html[] {
  const head = heading(2, 'Can they be trusted', 'check');
  if (check.findings.length === 0) return [head, paragraph('Nothing found.')];
  return [
    head,
    table(
      ['severity', 'what', 'count', 'where', 'what to do'],
      check.findings.map((f) => [
        f.severity,
        f.message,
        formatCount(f.count),
        f.examples
          .slice(0, 2)
          .map((e) =>
            [e.episode, e.turn === undefined || e.turn === null ? '' : `turn ${e.turn}`, e.column ?? '']
              .filter(Boolean)
              .join(', '),
          )
          .join('; '),
        f.fix,
      ]),
      ['count'],
    ),
  ];
}

/** Warnings as a list; nothing where there are none. */
export function warningsList(warnings: readonly { message: string; count?: number | undefined }[]): Html[] {
  return warnings.length === 0
    ? []
    : [html(`<div class="warning">${list(warnings.map(warningLine)).html}</div>`)];
}
