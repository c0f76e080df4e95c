import { shareInWords } from '../audit/target-share.ts';
import { isSimulated } from '../inspect/simulated.ts';
import { greatest } from '../math/extremes.ts';
import {
  counted,
  decimalsFor,
  formatCount,
  formatInterval,
  formatNumber,
  formatShare,
} from '../report/format.ts';
import { inline } from '../report/plain.ts';
import type { Audit, Reason, Stage } from '../schema/audit.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import { simulatedText } from './simulated-text.ts';
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

/** The warnings that the verdict’s text has not said already. */
export const unsaid = ({ warnings, reasons }: Audit): Audit['warnings'] =>
  warnings.filter((w) => !isSimulated(w) && reasons.every((r) => r.message !== w.message));

/** The verdict and its reasons. */
export function verdictText({ target, verdict, reasons, warnings }: Audit): string {
  return `${SENTENCE[verdict](inline(target))}\n${reasons
    .map((r) => `  ${r.verdict.padEnd(7)}  ${inline(r.message)}${limit(r)}\n`)
    .join('')}${simulatedText(warnings)}`;
}

/** All estimators side by side, with their conventions. */
export function evaluationText({ evaluation, verdict }: Audit): string {
  const e = evaluation!;
  const digits = decimalsOf(e);
  const rows = [e.behaviour, ...e.estimates].map((x) => [
    x.estimator,
    formatNumber(x.value, digits),
    formatNumber(x.se, digits),
    formatInterval(x.interval, digits),
    formatNumber(x.ess, 1),
    x.convention,
  ]);
  const notes = [...new Set(e.estimates.flatMap((x) => x.warnings.map((w) => `  ${w.message}\n`)))];
  return [
    `${casesText(e)}\n${differenceText(e, verdict)}${table(['estimator', 'value', 'se', intervalHeader(e), 'ESS', 'convention'], rows, [1, 2, 3, 4], 400)}  IS: importance sampling; W: weighted; PD: per decision; ESS: effective sample size\n`,
    partsText(e),
    boundsText(e),
    notes.length > 0 ? `Notes\n${notes.join('')}` : '',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** For all values of an evaluation, so that they stand below each other. */
const decimalsOf = ({ behaviour, estimates }: Evaluation): number =>
  greatest([behaviour, ...estimates].map((x) => (x.interval === null ? 3 : decimalsFor(x.se))));

/** What the doubly robust values are made of. */
function partsText(e: Evaluation): string {
  const digits = decimalsOf(e);
  const rows = e.estimates.flatMap((x) =>
    x.parts === undefined
      ? []
      : [
          [
            x.estimator,
            ...[x.value, x.parts.regression, x.parts.correction, x.parts.ipw].map((v) =>
              formatNumber(v, digits),
            ),
          ],
        ],
  );
  if (rows.length === 0) return '';
  const header = ['estimator', 'value', '= regression', '+ correction', 'weights alone'];
  return `What the doubly robust values are made of\n${table(header, rows, [1, 2, 3, 4])}`;
}

function headlineText(e: Evaluation, verdict: Audit['verdict']): string {
  const of = (name: string): Estimate | undefined => e.estimates.find((x) => x.estimator === name);
  const digits = decimalsOf(e);
  const line = (x: Estimate): string =>
    `  ${x.estimator.padEnd(14)}  ${formatNumber(x.value, digits)}${x.interval === null ? '' : `  ${formatInterval(x.interval, digits)}${verdict === 'weak' ? ' (coverage not claimed)' : ''}`}${spelled(x.estimator)}\n`;
  const shown = [e.behaviour, ...(verdict === 'refused' ? [] : [of('WIS'), of('WPDIS carried')])];
  return `${casesText(e)}\n${differenceText(e, verdict)}${shown.map((x) => (x ? line(x) : '')).join('')}${boundsText(e)}`;
}

/** What the target adds to the logging policy: the question a deployment asks, so it comes first. */
function differenceText({ difference }: Evaluation, verdict: Audit['verdict']): string {
  if (difference === null) return '';
  const digits = Math.max(3, decimalsFor(difference.se));
  const found =
    difference.interval === null
      ? `  ${difference.warnings.map((w) => inline(w.message)).join('; ')}`
      : `  ${formatInterval(difference.interval, digits)}${verdict === 'weak' ? ' (coverage not claimed)' : ''}  target − logging policy, on the same episodes`;
  return `  ${'difference'.padEnd(14)}  ${formatNumber(difference.value, digits)}${found}\n`;
}

/** The two estimators of the summary in words. */
const SPELLED: Readonly<Record<string, string>> = {
  WIS: 'weighted importance sampling',
  'WPDIS carried': 'the same, turn by turn',
};
const spelled = (estimator: string): string =>
  SPELLED[estimator] === undefined ? '' : `  ${SPELLED[estimator]}`;

function casesText({ episodes: n, clusters, turns, measure }: Evaluation): string {
  const out = [
    n.withoutReturn > 0 ? `${formatCount(n.withoutReturn)} without a return` : '',
    n.trainedOn > 0 ? `${formatCount(n.trainedOn)} of tasks it was trained on` : '',
  ].filter((x) => x !== '');
  return `Value of an episode, from ${counted(n.used, 'episode')} of ${counted(clusters, 'task')}, ${counted(turns, 'turn')}, weights by ${measure}${out.length > 0 ? ` (left out: ${out.join(', ')})` : ''}`;
}

function boundsText(e: Evaluation): string {
  const { bounds } = e;
  if (bounds === null) return '';
  const source =
    bounds.range.source === 'declared'
      ? 'for returns within the declared range'
      : 'if no return leaves the range of the logs; declare it with --range';
  return `  bounds ${formatShare(bounds.level)}    ${formatInterval(bounds, decimalsOf(e))}, without assuming overlap, ${source}\n`;
}

function weightsText({ weights, unsupported, usableHorizon, stages }: Audit): string {
  const w = weights!;
  const rows: [string, string][] = [
    [
      'effective sample size (ESS)',
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
  return `Weights\n${rows.map(([name, value]) => `  ${name.padEnd(27)}  ${value}\n`).join('')}`;
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
    reached(stages, s.turn),
    formatNumber(s.essStagewise, 1),
    formatNumber(s.essCarried, 1),
    formatNumber(s.essAlive, 1),
    `${formatNumber(s.meanWeight)} ± ${formatNumber(spread(s))}`,
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

/** The error of the mean weight, without what rounding alone makes of weights or tasks that are alike. */
const spread = ({ meanWeight, meanWeightSe, z }: Stage): number | null =>
  meanWeight !== null && meanWeightSe !== null && z === null ? 0 : meanWeightSe;

/** An estimated share; --json has the number. */
const reached = (stages: readonly Stage[], turn: number): string =>
  shareInWords(stages, turn).replace('an impossible', 'impossible');

const intervalHeader = (e: Evaluation): string => `${formatShare(e.config.level)} interval`;

/** Reasons whose number must not be too small, and those whose number must not be too large; the message has it. */
const AT_LEAST = ['too-few-tasks', 'low-ess', 'low-task-ess', 'few-task-ess', 'few-events', 'thin-turn'];
const SHARES = ['low-ess-share', 'one-episode', 'missing-returns', 'many-aborted', 'cut-short'];
const AT_MOST: Readonly<Record<string, string>> = {
  'mean-weight': ' standard errors',
  'unsupported-mass': ' times',
  'heavy-tail': '',
};

function limit({ code, value, threshold }: Reason): string {
  if (value === null || threshold === null) return '';
  const number = Number(threshold.toFixed(2));
  if (AT_LEAST.includes(code)) return ` (at least ${number} needed)`;
  if (code === 'trained-on-these-logs') return value > 0 ? ` (at least ${number} needed)` : '';
  if (AT_MOST[code] !== undefined) return ` (at most ${number}${AT_MOST[code]})`;
  if (!SHARES.includes(code)) return '';
  return ` (${value < threshold ? 'at least' : 'at most'} ${formatShare(threshold)})`;
}
