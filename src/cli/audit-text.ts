import { formatCount, formatInterval, formatNumber, formatShare } from '../report/format.ts';
import type { Audit, Stage } from '../schema/audit.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import { table } from './table.ts';

const SENTENCE = {
  supported: (target: string) => `supported: the logs cover "${target}" well enough to evaluate it`,
  weak: (target: string) => `weak: the logs cover "${target}" poorly; its intervals claim no coverage`,
  refused: (target: string) => `refused: these logs cannot say what "${target}" is worth`,
};

/** An audit for a person: the verdict in words, why, the value as far as it goes, turn by turn, what next. */
export function auditText(audit: Audit): string {
  const parts = [verdictText(audit)];
  if (audit.evaluation !== null) parts.push(headlineText(audit.evaluation, audit.verdict));
  if (audit.weights !== null) parts.push(weightsText(audit));
  if (audit.stages.length > 0) parts.push(`Turn by turn\n${stagesText(audit.stages)}`);
  if (audit.next.length > 0)
    parts.push(`What to collect next\n${audit.next.map((x) => `  ${x}\n`).join('')}`);
  return parts.join('\n');
}

/** The verdict and its reasons. */
export function verdictText({ target, verdict, reasons }: Audit): string {
  return `${SENTENCE[verdict](target)}\n${reasons
    .map((r) => `  ${r.verdict.padEnd(7)}  ${r.message}${limit(r.value, r.threshold)}\n`)
    .join('')}`;
}

/** All estimators side by side, with their conventions. */
export function evaluationText({ evaluation }: Audit): string {
  const e = evaluation!;
  const rows = [e.behaviour, ...e.estimates].map((x) => [
    x.estimator,
    formatNumber(x.value),
    formatNumber(x.se),
    formatInterval(x.interval),
    formatNumber(x.ess, 1),
    x.convention,
  ]);
  const notes = e.estimates.flatMap((x) => x.warnings.map((w) => `  ${w.message}\n`));
  return [
    `${casesText(e)}\n${table(['estimator', 'value', 'se', intervalHeader(e), 'ESS', 'convention'], rows, [1, 2, 3, 4], 100)}`,
    partsText(e),
    boundsText(e),
    notes.length > 0 ? `Notes\n${notes.join('')}` : '',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** What the doubly robust values are made of. */
function partsText({ estimates }: Evaluation): string {
  const rows = estimates.flatMap((x) =>
    x.parts === undefined
      ? []
      : [
          [
            x.estimator,
            ...[x.value, x.parts.regression, x.parts.correction, x.parts.ipw].map((v) => formatNumber(v)),
          ],
        ],
  );
  if (rows.length === 0) return '';
  const header = ['estimator', 'value', '= regression', '+ correction', 'weights alone'];
  return `What the doubly robust values are made of\n${table(header, rows, [1, 2, 3, 4])}`;
}

function headlineText(e: Evaluation, verdict: Audit['verdict']): string {
  const of = (name: string): Estimate | undefined => e.estimates.find((x) => x.estimator === name);
  const line = (x: Estimate): string =>
    `  ${x.estimator.padEnd(14)}  ${formatNumber(x.value)}${x.interval === null ? '' : `  ${formatInterval(x.interval)}${verdict === 'weak' ? ' (coverage not claimed)' : ''}`}\n`;
  const shown = [e.behaviour, ...(verdict === 'refused' ? [] : [of('WIS'), of('WPDIS carried')])];
  return `${casesText(e)}\n${shown.map((x) => (x ? line(x) : '')).join('')}${boundsText(e)}`;
}

function casesText({ episodes: n, clusters, turns, measure }: Evaluation): string {
  const out = [
    n.withoutReturn > 0 ? `${formatCount(n.withoutReturn)} without a return` : '',
    n.trainedOn > 0 ? `${formatCount(n.trainedOn)} of tasks it was trained on` : '',
  ].filter((x) => x !== '');
  return `Value of an episode, from ${formatCount(n.used)} episodes of ${formatCount(clusters)} tasks, ${formatCount(turns)} turns, weights by ${measure}${out.length > 0 ? ` (left out: ${out.join(', ')})` : ''}`;
}

function boundsText({ bounds }: Evaluation): string {
  if (bounds === null) return '';
  const source =
    bounds.range.source === 'declared'
      ? 'for returns within the declared range'
      : 'if no return leaves the range of the logs; declare it with --range';
  return `  bounds ${formatShare(bounds.level)}    [${formatNumber(bounds.lo)}, ${formatNumber(bounds.hi)}], without assuming overlap, ${source}\n`;
}

function weightsText({ weights, unsupported, usableHorizon, stages }: Audit): string {
  const w = weights!;
  const rows: [string, string][] = [
    [
      'effective sample size',
      `${formatNumber(w.ess, 1)} episodes (${formatShare(w.essShare)}), ${formatNumber(w.essByTask, 1)} tasks`,
    ],
    ['usable horizon', `${usableHorizon} of ${stages.length} turns`],
    ['mean weight', `${formatNumber(w.meanWeight)}, largest ${formatNumber(w.largestWeight, 1)}`],
    [
      'largest share',
      `${formatShare(w.largestShare)}; heaviest 1 % of episodes ${formatShare(w.topPercentShare)}`,
    ],
    [
      'tail index k̂',
      w.kHat === null
        ? `– (${w.kHatReason})`
        : `${formatNumber(w.kHat, 2)} (limit ${formatNumber(w.kHatThreshold, 2)})`,
    ],
    [
      'unsupported mass',
      unsupported?.mass == null
        ? `– (${unsupported?.reason ?? 'not computed'})`
        : formatNumber(unsupported.mass, 4),
    ],
  ];
  return `Weights\n${rows.map(([name, value]) => `  ${name.padEnd(22)}  ${value}\n`).join('')}`;
}

const SHOWN = 14;

function stagesText(stages: readonly Stage[]): string {
  const step = Math.ceil(stages.length / SHOWN);
  const shown = stages.filter((s, i) => i % step === 0 || s === stages.at(-1));
  const rows = shown.map((s) => [
    String(s.turn),
    formatCount(s.alive),
    formatCount(s.followers),
    formatCount(s.followerTasks),
    reached(s.targetShare),
    formatNumber(s.essStagewise, 1),
    formatNumber(s.essCarried, 1),
    formatNumber(s.essAlive, 1),
    `${formatNumber(s.meanWeight)} ± ${formatNumber(s.meanWeightSe)}`,
    formatShare(s.largestShare),
    formatShare(s.topPercentShare),
    formatNumber(s.kHat, 2),
    formatNumber(s.unsupported),
  ]);
  const header = [
    'turn',
    'alive',
    'followers',
    'tasks',
    'target reaches',
    'ESS of turn',
    'ESS carried',
    'ESS alive',
    'mean weight ± SE',
    'largest',
    'top 1 %',
    'k̂',
    'unsupported',
  ];
  const note = step > 1 ? `  every ${step}th of ${stages.length} turns; --json has all\n` : '';
  return table(header, rows, [...header.keys()]) + note;
}

/** An estimated share: above 1 it is sampling error; --json has the number. */
const reached = (share: number | null): string =>
  share === null ? '–' : `≈ ${formatShare(Math.min(share, 1))}`;

const intervalHeader = (e: Evaluation): string => `${formatShare(e.config.level)} interval`;

function limit(value: number | null, threshold: number | null): string {
  return value === null || threshold === null
    ? ''
    : ` (${formatNumber(value, 2)}, limit ${formatNumber(threshold, 2)})`;
}
