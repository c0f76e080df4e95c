import { describe } from '../inspect/describe.ts';
import { isSimulated } from '../inspect/simulated.ts';
import { greatest } from '../math/extremes.ts';
import { NO_SPREAD, withoutSpread } from '../math/no-spread.ts';
import {
  counted,
  decimalsFor,
  formatCount,
  formatInterval,
  formatNumber,
  formatShare,
  rateWords,
} from '../report/format.ts';
import { warningLine } from '../report/warning-line.ts';
import type { Description, Spread } from '../schema/describe.ts';
import { ENDINGS } from '../schema/episode.ts';
import { refuseIdle } from './arguments.ts';
import { type Command, jsonOption, storeOptions } from './command.ts';
import { criticsText } from './critics-text.ts';
import { listEpisodes } from './list-episodes.ts';
import { openGiven } from './open-store.ts';
import { simulatedText } from './simulated-text.ts';
import { bar, table, wrap } from './table.ts';

export const describeCommand: Command = {
  name: 'describe',
  summary: 'what is in a store: episodes, tasks, turns, rewards with their uncertainty, tools',
  options: {
    ...storeOptions,
    episodes: {
      type: 'boolean',
      help: 'list the episodes instead: id, task, policy, ending, return, turns; with --json one JSON object a line',
    },
    columns: { type: 'boolean', help: 'also name the columns without a value' },
    notes: { type: 'boolean', help: 'also the conventions of the numbers' },
    json: jsonOption,
  },
  examples: [
    'turnwise describe --store runs.duckdb',
    'turnwise describe --store runs.duckdb --episodes',
    'turnwise describe --store runs.duckdb --json',
  ],
  async run(values, _positionals, io) {
    for (const name of ['columns', 'notes'])
      if (values.episodes || values.json)
        refuseIdle(
          values,
          name,
          `does not go with ${values.episodes ? '--episodes' : '--json, which prints all'}`,
        );
    const store = await openGiven(values, 'read');
    try {
      if (values.episodes) {
        await listEpisodes(store, io, values.json === true);
        return 0;
      }
      const description = await describe(store);
      if (values.json) io.out(`${JSON.stringify(description, null, 2)}\n`);
      else {
        io.out(
          descriptionText(description, { notes: values.notes === true, columns: values.columns === true }),
        );
        for (const w of description.warnings) if (!isSimulated(w)) io.err(`warning: ${warningLine(w)}\n`);
      }
      return 0;
    } finally {
      store.close();
    }
  },
};

/** The description for a person: a screen or two of plain text; footnotes and empty columns when asked for. */
export function descriptionText(
  d: Description,
  more: { readonly notes?: boolean; readonly columns?: boolean } = {},
): string {
  const parts = [counts(d), reward(d), histograms(d)];
  const zero = d.policies.some((p) => p.abortedAsZero !== null);
  if (d.policies.length > 1 || d.policies.some((p) => p.policy !== null))
    parts.push(
      `Policies\n${table(
        [
          'policy',
          'episodes',
          'with return',
          'mean return',
          ...(zero ? ['aborted as 0'] : []),
          'tool errors',
        ],
        d.policies.map((p) => [
          p.policy ?? '(none)',
          formatCount(p.episodes),
          formatCount(p.n),
          formatNumber(p.meanReward),
          ...(zero ? [formatNumber(p.abortedAsZero?.meanReward ?? p.meanReward)] : []),
          rateWords(p.toolErrors?.rate ?? null, p.toolErrors?.atLeast ?? null),
        ]),
        zero ? [1, 2, 3, 4, 5] : [1, 2, 3, 4],
      )}`,
    );
  if (d.policies.length > 1 && d.policies.some((p) => p.passHatK !== null))
    parts.push(`pass^k by policy\n${pairs(d.policies.map((p) => [p.policy ?? '(none)', passWords(p)]))}`);
  if (d.tools.length > 0)
    parts.push(
      `Tools\n${table(
        ['tool', 'calls', 'errors', 'error rate', 'outcome unknown'],
        d.tools.map((t) => [
          t.tool,
          formatCount(t.calls),
          formatCount(t.errors),
          rateWords(t.errorRate, t.errorRateAtLeast),
          formatCount(t.errorUnknown),
        ]),
        [1, 2, 3, 4],
      )}`,
    );
  if (d.versions.length > 0)
    parts.push(
      `Policy versions\n${table(
        ['version', 'turns', 'episodes'],
        d.versions.map((v) => [v.version, formatCount(v.turns), formatCount(v.episodes)]),
        [1, 2],
      )}`,
    );
  parts.push(columns(d, more.columns === true));
  if (d.sources.length > 0)
    parts.push(
      `Sources\n${table(
        ['path', 'format', 'episodes', 'turns', 'rejects'],
        d.sources.map((s) => [
          s.path,
          s.format,
          formatCount(s.episodes),
          formatCount(s.turns),
          formatCount(s.rejects),
        ]),
        [2, 3, 4],
      )}`,
    );
  parts.push(criticsText(d.critics));
  if (d.rejects.count > 0)
    parts.push(
      `Rejects\n${table(
        ['records', 'reason'],
        d.rejects.reasons.map((r) => [formatCount(r.count), r.reason]),
        [0],
        90,
      )}`,
    );
  return `${parts.filter((p) => p !== '').join('\n')}\n${more.notes ? d.notes.map((n) => wrap(n, 98)).join('') : '  describe --notes: how returns, endings and errors are counted\n'}`;
}

const spread = (s: Spread, digits: number): string =>
  `mean ${formatNumber(s.mean, 2)}, median ${formatNumber(s.p50, digits)}, 90 % ${formatNumber(s.p90, digits)}, 99 % ${formatNumber(s.p99, digits)}, most ${formatCount(s.max)}`;

function counts(d: Description): string {
  const rows: [string, string][] = [
    ['episodes', formatCount(d.episodes)],
    ['tasks', formatCount(d.tasks)],
    ['turns', formatCount(d.turns)],
  ];
  const t = d.trialsPerTask;
  if (t)
    rows.push([
      'trials per task',
      t.min === t.max ? String(t.min) : `${t.min} to ${t.max}, mean ${formatNumber(t.mean, 2)}`,
    ]);
  if (d.turnsPerEpisode) rows.push(['turns per episode', spread(d.turnsPerEpisode, 1)]);
  rows.push([
    'endings',
    ENDINGS.filter((e) => d.endings[e] > 0)
      .map((e) => `${e} ${formatCount(d.endings[e])}`)
      .join(', '),
  ]);
  const k = d.tokens;
  if (k) {
    rows.push([
      'tokens',
      `${formatCount(k.tokens)} in ${formatCount(k.segments)} segments, ${formatCount(k.actionTokens)} sampled`,
    ]);
    if (k.withLogprob !== null)
      rows.push(['with log-probability', `${formatShare(k.withLogprob)} of the sampled tokens`]);
    if (k.perTurn) rows.push(['sampled per turn', spread(k.perTurn, 1)]);
  }
  return `${d.store}\n${simulatedText(d.warnings)}${pairs(rows)}`;
}

function reward(d: Description): string {
  const r = d.reward;
  if (!r) return '';
  const digits = decimalsFor(r.se);
  const error = (se: number | null): string => formatNumber(se, Math.max(4, digits));
  const rows: [string, string][] = [
    [
      'mean',
      `${formatNumber(r.mean, digits)}  (n = ${formatCount(r.n)} of ${formatCount(r.episodes)} episodes, ${counted(r.clusters, 'task')}${r.missingTask > 0 ? '; an episode without a task is its own' : ''})`,
    ],
    ['new tasks', `se ${error(r.se)}, ${level(r.interval, digits, r.se, r.mean)}`],
    [
      'these tasks',
      r.theseTasks
        ? `se ${error(r.theseTasks.se)}, ${level(r.theseTasks.interval, digits, r.theseTasks.se, r.mean)}`
        : '– (needs a task id and two returns of every task)',
    ],
    ['episodes alone', `se ${error(r.seNaive)}, as if they were independent`],
    ['range', `${formatNumber(r.min)} to ${formatNumber(r.max)}`],
  ];
  const out = [
    [r.aborted, 'aborted'],
    [r.withoutReward, 'without reward'],
    [r.nonFinite, 'not finite'],
  ].filter(([n]) => n !== 0);
  if (out.length > 0)
    rows.push(['left out', out.map(([n, why]) => `${formatCount(n as number)} ${why}`).join(', ')]);
  if (r.successRate !== null) rows.push(['success rate', formatShare(r.successRate)]);
  const zero = r.abortedAsZero;
  if (zero)
    rows.push([
      'aborted as 0',
      `mean ${formatNumber(zero.mean, digits)} (n = ${formatCount(zero.n)}), new tasks se ${error(zero.se)}, ${level(zero.interval, digits, zero.se, zero.mean)}${zero.successRate === null ? '' : `, success rate ${formatShare(zero.successRate)}`}`,
    ]);
  if (d.passHatK) rows.push(['pass^k', passWords(d)]);
  else if (r.binary && d.passHatKReason) rows.push(['pass^k', `– (${d.passHatKReason})`]);
  rows.push(['no spread within', `${formatCount(d.zeroVarianceTasks)} of ${formatCount(d.tasks)} tasks`]);
  return `Return\n${pairs(rows)}`;
}

const passWords = (of: Pick<Description, 'passHatK' | 'passHatKReason'>): string =>
  [
    (of.passHatK ?? [])
      .slice(0, 8)
      .map((p, i) => `${i + 1}: ${formatNumber(p)}`)
      .join('  '),
    of.passHatKReason === null ? '' : `(${of.passHatKReason})`,
  ]
    .filter(Boolean)
    .join('  ');

const level = (
  interval: { lo: number; hi: number; level: number; method: string } | null,
  digits: number,
  se: number | null,
  centre: number,
): string =>
  interval
    ? `${formatShare(interval.level)} ${formatInterval(interval, digits)} (${interval.method})`
    : se !== null && withoutSpread(se, centre)
      ? `no interval (${NO_SPREAD})`
      : 'no interval (fewer than 4 degrees of freedom: too few tasks or trials)';

function histograms(d: Description): string {
  const h = d.successHistogram;
  if (!h) return '';
  const most = greatest(h.map((x) => x.tasks));
  return `Tasks by successes\n${table(
    ['successes', 'tasks', ''],
    h.slice(0, 20).map((x) => [String(x.successes), formatCount(x.tasks), bar(x.tasks, most)]),
    [0, 1],
  )}`;
}

function columns(d: Description, all: boolean): string {
  const group = (test: (present: number) => boolean): string =>
    d.columns
      .filter((c) => test(c.present))
      .map((c) => `${c.table}.${c.column}`)
      .join(', ');
  const some = d.columns.filter((c) => c.present > 0 && c.present < 1);
  const rows: [string, string][] = [
    ...some.map((c): [string, string] => [
      `${c.table}.${c.column}`,
      `${formatShare(c.present).padStart(7)}  ${bar(c.present, 1)}`,
    ]),
  ];
  const empty = group((p) => p === 0);
  return [
    some.length > 0 ? `Columns filled in part\n${pairs(rows)}` : '',
    !empty
      ? ''
      : all
        ? `Columns without a value\n${wrap(empty, 96)}`
        : `Columns without a value: ${formatCount(d.columns.filter((c) => c.present === 0).length)}, named by describe --columns\n`,
  ]
    .filter((p) => p !== '')
    .join('\n');
}

function pairs(rows: readonly [string, string][]): string {
  const width = greatest(rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join('');
}
