import type { Audit, Stage } from '../schema/audit.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Report } from '../schema/report.ts';
import { warningsList } from './describe-section.ts';
import { escapeHtml } from './escape.ts';
import { type IntervalRow, intervals, lines } from './figures.ts';
import { formatCount, formatInterval, formatNumber, formatShare } from './format.ts';
import { HEADLINE, headline } from './headline.ts';
import { figure, type Html, heading, html, list, paragraph, table } from './page.ts';

type Target = Report['targets'][number];

/** All targets side by side, then each with its reasons and stages. */
export function auditSection(targets: readonly Target[]): Html[] {
  if (targets.length === 0) return [];
  const behaviour = targets.find((t) => t.audit.evaluation)?.audit.evaluation?.behaviour ?? null;
  const stages = targets.flatMap((t) =>
    t.audit.stages.map((s) => ({
      series: t.audit.target,
      x: s.turn,
      y: s.essCarried / (t.audit.stages[0]?.alive ?? 1),
    })),
  );
  const known = targets.some((t) => t.exact !== null);
  return [
    heading(2, 'Would a candidate policy do better', 'audit'),
    table(
      ['policy', 'verdict', 'estimate', 'interval, or bounds', 'ESS', ...(known ? ['exact value'] : [])],
      targets.map((t) => {
        const e = headline(t.audit);
        return [
          t.audit.target,
          verdict(t.audit.verdict),
          t.audit.verdict === 'refused' ? '–' : formatNumber(e?.value),
          span(t.audit),
          formatNumber(t.audit.weights?.ess, 1),
          ...(known ? [formatNumber(t.exact)] : []),
        ];
      }),
      ['estimate', 'interval, or bounds', 'ESS', 'exact value'],
    ),
    ...(behaviour
      ? [
          paragraph(
            `The logging policy itself: ${formatNumber(behaviour.value)}${behaviour.interval ? `, ${formatInterval(behaviour.interval)}` : ''}. ` +
              `Estimates are ${HEADLINE}; every estimator stands below.`,
            'note',
          ),
        ]
      : []),
    ...(targets.some((t) => row(t) !== null)
      ? [
          figure(
            intervals(
              targets.map(row).filter((r): r is IntervalRow => r !== null),
              'value',
              behaviour?.value != null ? { value: behaviour.value, label: 'logging policy' } : undefined,
            ),
            'Solid: interval. Dashed: bounds, where an interval would claim too much. Dotted line: the logging policy.' +
              (known ? ' Crosses: exact values.' : ''),
          ),
        ]
      : []),
    ...(stages.length > 0
      ? [
          figure(
            lines(stages, { x: 'turn', y: 'ESS / episodes' }, 'log'),
            'Effective sample size of the cumulative weights, ended episodes keep theirs, as a share of the episodes.',
          ),
        ]
      : []),
    ...targets.flatMap((t) => one(t.audit)),
  ];
}

/** Columns of the table of stages. */
const STAGE: Readonly<Record<string, (s: Stage) => string>> = {
  turn: (s) => String(s.turn),
  alive: (s) => formatCount(s.alive),
  followers: (s) => formatCount(s.followers),
  'ESS stagewise': (s) => formatNumber(s.essStagewise, 1),
  'ESS carried': (s) => formatNumber(s.essCarried, 1),
  'ESS alive': (s) => formatNumber(s.essAlive, 1),
  'mean weight ± SE': (s) => `${formatNumber(s.meanWeight)} ± ${formatNumber(s.meanWeightSe)}`,
  'largest share': (s) => formatShare(s.largestShare),
  'top 1 %': (s) => formatShare(s.topPercentShare),
  k̂: (s) => formatNumber(s.kHat, 2),
  unsupported: (s) => formatNumber(s.unsupported),
};

const STAGE_LEGEND =
  'Alive: episodes that reach the turn; followers: those with a weight above 0. ESS, effective sample size (Σw)²/Σw²: of this turn’s ratios, of cumulative weights with ended episodes keeping theirs, and among the alive. ' +
  'Mean weight: 1 but for sampling error. Largest share and top 1 %: of the summed weight. k̂: tail index of the weights, above 0.7 heavy; –: not computed. Unsupported: mass of the target where the logs have none.';

/** The averages among the living stand last and grey: they answer another question when lengths differ. */
const aside = (estimator: string): boolean => / alive/.test(estimator);

function one(a: Audit): Html[] {
  const all = a.evaluation?.estimates ?? [];
  const estimates = [...all.filter((e) => !aside(e.estimator)), ...all.filter((e) => aside(e.estimator))];
  return [
    heading(3, `Policy ${a.target}`),
    html(
      `<p>Verdict: ${verdict(a.verdict).html}${a.usableHorizon === null ? '' : `; usable up to ${a.usableHorizon} turns`}.</p>`,
    ),
    list(a.reasons.map((r) => r.message)),
    ...(a.next.length > 0 ? [paragraph('What to collect next:'), list(a.next)] : []),
    ...warningsList(a.warnings),
    ...(a.stages.length > 0
      ? [
          table(
            Object.keys(STAGE),
            a.stages.map((stage) => Object.values(STAGE).map((cell) => cell(stage))),
            Object.keys(STAGE),
            { wide: true },
          ),
          paragraph(STAGE_LEGEND, 'note'),
        ]
      : []),
    ...(a.weights
      ? [
          paragraph(
            `Final weights: ESS ${formatNumber(a.weights.ess, 1)} (${formatShare(a.weights.essShare)}), by task ${formatNumber(a.weights.essByTask, 1)}; ` +
              `largest share ${formatShare(a.weights.largestShare)}, top 1 % ${formatShare(a.weights.topPercentShare)}; ` +
              `k̂ ${a.weights.kHat === null ? `not computed (${a.weights.kHatReason})` : formatNumber(a.weights.kHat, 2)}; ` +
              `unsupported mass ${a.unsupported?.mass == null ? `unknown (${a.unsupported?.reason ?? 'not looked at'})` : formatNumber(a.unsupported.mass)}.`,
            'note',
          ),
        ]
      : []),
    ...(a.evaluation && a.verdict !== 'refused'
      ? [
          table(
            ['estimator', 'value', 'SE', 'interval', 'convention'],
            estimates.map((e) => [
              e.estimator,
              formatNumber(e.value),
              formatNumber(e.se),
              formatInterval(e.interval),
              e.convention,
            ]),
            ['value', 'SE', 'interval'],
            { grey: (i) => aside(estimates[i]!.estimator) },
          ),
          ...doublyRobustParts(estimates),
          ...(estimates.some((e) => aside(e.estimator))
            ? [
                paragraph(
                  'In grey: averages over the episodes still alive at each turn, as some software computes them. They do not tend to the value of the policy where lengths differ (they can leave the range of the return) and are shown for comparison only. ' +
                    'A dash: no interval, as none with a known coverage is computed for that estimator here.',
                  'note',
                ),
              ]
            : []),
        ]
      : []),
  ];
}

/** A doubly robust value says what it is made of: a model that does all the work is no cross-check. */
function doublyRobustParts(estimates: readonly Estimate[]): Html[] {
  const rows = estimates.flatMap((e) =>
    e.parts === undefined
      ? []
      : [[e.estimator, e.value, e.parts.regression, e.parts.correction, e.parts.ipw] as const],
  );
  if (rows.length === 0) return [];
  return [
    table(
      ['estimator', 'value', '= regression', '+ correction', 'weights alone'],
      rows.map(([name, ...values]) => [name, ...values.map((x) => formatNumber(x))]),
      ['value', '= regression', '+ correction', 'weights alone'],
    ),
    paragraph('What the doubly robust values are made of.', 'note'),
  ];
}

const verdict = (v: Audit['verdict']): Html => html(`<span class="${v}">${escapeHtml(v)}</span>`);

/** The interval where there is one, else the bounds, else a dash. */
function span(a: Audit): string {
  const interval = headline(a)?.interval;
  if (a.verdict !== 'refused' && interval) return formatInterval(interval);
  const bounds = a.evaluation?.bounds;
  return bounds ? `${formatInterval(bounds)} (bounds)` : '–';
}

function row(t: Target): IntervalRow | null {
  const e = headline(t.audit);
  const refused = t.audit.verdict === 'refused';
  const ends = refused ? t.audit.evaluation?.bounds : e?.interval;
  if (!ends && (refused || e?.value == null)) return null;
  return {
    label: t.audit.target,
    value: refused ? null : (e?.value ?? null),
    lo: ends?.lo ?? null,
    hi: ends?.hi ?? null,
    kind: refused ? 'bounds' : 'interval',
    exact: t.exact,
  };
}
