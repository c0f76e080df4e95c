import { isSimulated } from '../inspect/simulated.ts';
import { NO_SPREAD } from '../math/no-spread.ts';
import type { Check } from '../schema/check.ts';
import type { Description } from '../schema/describe.ts';
import type { Warning } from '../schema/warning.ts';
import { bars, counts } from './figures.ts';
import { formatCount, formatNumber, formatShare, rateWords } from './format.ts';
import { figure, type Html, heading, html, list, paragraph, table, textOf } from './page.ts';
import {
  cited,
  joined,
  shown,
  shownCount,
  shownCounted,
  shownInterval,
  shownShare,
  words,
} from './shown-number.ts';
import { warningHtml } from './warning-line.ts';

/** What is in the logs: counts, rewards with their uncertainty, endings, tools. */
export function describeSection(d: Description): Html[] {
  const parts: Html[] = [
    heading(2, 'What is in these logs', 'logs'),
    table(
      ['episodes', 'tasks', 'assistant turns', 'turns an episode'],
      [
        [
          shown('description/episodes', d.episodes, formatCount(d.episodes)),
          shown('description/tasks', d.tasks, formatCount(d.tasks)),
          shown('description/turns', d.turns, formatCount(d.turns)),
          d.turnsPerEpisode
            ? words`${shown('description/turnsPerEpisode/mean', d.turnsPerEpisode.mean, formatNumber(d.turnsPerEpisode.mean, 2))} on average, ${shownCount('description/turnsPerEpisode/max', d.turnsPerEpisode.max)} at most`
            : '–',
        ],
      ],
      ['episodes', 'tasks', 'assistant turns'],
      { stack: true },
    ),
    ...warningsList(d.warnings, 'description/warnings'),
  ];
  const r = d.reward;
  const count = (name: 'n' | 'episodes' | 'clusters' | 'aborted' | 'withoutReward') =>
    shown(`description/reward/${name}`, r?.[name], formatCount(r?.[name] ?? 0));
  const share = (at: string, value: number | null) =>
    shown(`description/reward/${at}`, value, formatShare(value));
  const level = r?.interval?.level;
  const interval =
    level === undefined
      ? words`interval`
      : words`${shownShare('description/reward/interval/level', level)} interval`;
  if (r)
    parts.push(
      heading(3, 'Reward'),
      table(
        ['estimand', 'mean', 'standard error', interval],
        [
          estimandRow(cited('description/reward/estimand', r.estimand), r, r, ''),
          ...(r.theseTasks
            ? [
                estimandRow(
                  cited('description/reward/theseTasks/estimand', r.theseTasks.estimand),
                  r,
                  r.theseTasks,
                  '/theseTasks',
                ),
              ]
            : []),
          ...(r.abortedAsZero
            ? [
                estimandRow(
                  'the same on new tasks, aborted episodes counted as 0',
                  r.abortedAsZero,
                  r.abortedAsZero,
                  '/abortedAsZero',
                  '/abortedAsZero',
                ),
              ]
            : []),
        ],
        ['mean', 'standard error', textOf(interval)],
        { stack: true },
      ),
      paragraph(
        words`${r.interval ? '' : `No interval for new tasks: ${r.clusters < 5 ? 'fewer than 5 tasks' : NO_SPREAD}. `}Over ${count('n')} of ${count('episodes')} episodes in ${count('clusters')} ${r.clusters === 1 ? 'task' : 'tasks'}; left out: ${count('aborted')} aborted, ${count('withoutReward')} without a reward. With episodes taken as independent the standard error would be ${shown('description/reward/seNaive', r.seNaive, formatNumber(r.seNaive, 4))}.${
          r.successRate === null
            ? ''
            : words` Success rate ${share('successRate', r.successRate)}${r.abortedAsZero ? words`, ${share('abortedAsZero/successRate', r.abortedAsZero.successRate)} with aborted episodes counted as failures` : ''}.`
        }`,
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
        words`Tasks by number of successes. ${shownCounted('description/zeroVarianceTasks', d.zeroVarianceTasks, 'task')} with equal outcomes in every trial.${d.passHatK ? words` pass^k: ${passHatK(d.passHatK, 'description/passHatK')} for k = 1, 2, …` : ''}`,
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
  parts.push(...toolsTable(d));
  return parts;
}

/** A mean with its error and interval; `at` and `meanAt` say where they lie within the reward of the description. */
function estimandRow(
  estimand: string | Html,
  { mean }: { mean: number },
  { se, interval }: { se: number | null; interval: Parameters<typeof shownInterval>[1] },
  at: string,
  meanAt = '',
): (string | Html)[] {
  const of = 'description/reward';
  return [
    estimand,
    shown(`${of}${meanAt}/mean`, mean),
    shown(`${of}${at}/se`, se, formatNumber(se, 4)),
    shownInterval(`${of}${at}/interval`, interval),
  ];
}

/** An error rate, or what it is at least, which lie at `at` under the two names. */
function errorRate(
  at: string,
  rate: number | null,
  atLeast: number | null,
  [known, least]: readonly [string, string],
): Html {
  const text = rateWords(rate, atLeast);
  if (rate === null && !atLeast) return html(text);
  return rate === null ? shown(`${at}/${least}`, atLeast, text) : shown(`${at}/${known}`, rate, text);
}

/** The first of pass^k, k = 1, 2, …, which lie at `at`. */
const passHatK = (values: readonly number[], at: string): Html =>
  joined(
    values.slice(0, 8).map((p, i) => shown(`${at}/${i}`, p)),
    ', ',
  );

/** Calls and failures of each tool; how many outcomes are not known only where some are not. */
function toolsTable({ tools }: Description): Html[] {
  if (tools.length === 0) return [];
  const unknown = tools.some((t) => t.errorUnknown > 0);
  const numeric = ['calls', 'error rate', ...(unknown ? ['outcome unknown'] : [])];
  return [
    heading(3, 'Tools'),
    table(
      ['tool', ...numeric],
      tools.slice(0, 20).map((t, i) => {
        const at = `description/tools/${i}`;
        return [
          cited(`${at}/tool`, t.tool),
          shown(`${at}/calls`, t.calls, formatCount(t.calls)),
          errorRate(at, t.errorRate, t.errorRateAtLeast, ['errorRate', 'errorRateAtLeast']),
          ...(unknown ? [shown(`${at}/errorUnknown`, t.errorUnknown, formatCount(t.errorUnknown))] : []),
        ];
      }),
      numeric,
    ),
  ];
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
      d.policies.map((p, i) => [
        p.policy === null ? '(none)' : cited(`description/policies/${i}/policy`, p.policy),
        shown(`description/policies/${i}/episodes`, p.episodes, formatCount(p.episodes)),
        shown(`description/policies/${i}/n`, p.n, formatCount(p.n)),
        shown(`description/policies/${i}/meanReward`, p.meanReward),
        shown(`description/policies/${i}/successRate`, p.successRate, formatShare(p.successRate)),
        p.abortedAsZero
          ? shown(`description/policies/${i}/abortedAsZero/meanReward`, p.abortedAsZero.meanReward)
          : '–',
        errorRate(
          `description/policies/${i}/toolErrors`,
          p.toolErrors?.rate ?? null,
          p.toolErrors?.atLeast ?? null,
          ['rate', 'atLeast'],
        ),
        words`${p.passHatK?.length ? passHatK(p.passHatK, `description/policies/${i}/passHatK`) : '–'}${p.passHatKReason === null ? '' : words` (${cited(`description/policies/${i}/passHatKReason`, p.passHatKReason)})`}`,
      ]),
      head.slice(1, 7),
      { stack: true },
    ),
  ];
}

/** Text of several lines: set to the left where the cells of a row are listed below each other. */
const long = (text: Html): Html => html(`<span class="act">${text.html}</span>`);

/** What is wrong with the logs. */
export function checkSection(check: Check): Html[] {
  const head = heading(2, 'Can they be trusted', 'check');
  if (check.findings.length === 0) return [head, paragraph('The checks found nothing wrong with them.')];
  return [
    head,
    table(
      ['severity', 'what', 'count', 'where', 'what to do'],
      check.findings.map((f, i) => [
        f.severity,
        long(cited(`check/findings/${i}/message`, f.message)),
        shown(`check/findings/${i}/count`, f.count, formatCount(f.count)),
        joined(
          f.examples.slice(0, 2).map((e, k) => example(e, `check/findings/${i}/examples/${k}`)),
          '; ',
        ),
        long(cited(`check/findings/${i}/fix`, f.fix)),
      ]),
      ['count'],
      { stack: true },
    ),
  ];
}

/** Where a finding shows, as far as it is of one episode, turn or column. */
const example = (e: Check['findings'][number]['examples'][number], at: string): Html =>
  joined(
    [
      ...(e.episode ? [cited(`${at}/episode`, e.episode)] : []),
      ...(e.turn == null ? [] : [words`turn ${shownCount(`${at}/turn`, e.turn)}`]),
      ...(e.column ? [cited(`${at}/column`, e.column)] : []),
    ],
    ', ',
  );

/** Warnings, which lie at `at`, as a list; nothing where there are none. That data is simulated stands at the top of the page. */
export function warningsList(
  given: readonly Warning[],
  at: string,
  kept: (w: Warning) => boolean = () => true,
): Html[] {
  const lines = given.flatMap((w, i) => (isSimulated(w) || !kept(w) ? [] : [warningHtml(w, `${at}/${i}`)]));
  return lines.length === 0 ? [] : [html(`<div class="warning">${list(lines).html}</div>`)];
}
