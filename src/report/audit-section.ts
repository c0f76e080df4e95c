import type { Audit, Stage } from '../schema/audit.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Report } from '../schema/report.ts';
import type { Warning } from '../schema/warning.ts';
import { verdictMark } from './decision-section.ts';
import { warningsList } from './describe-section.ts';
import { lines } from './figures.ts';
import { formatCount, formatNumber, formatShare } from './format.ts';
import { details, figure, type Html, heading, list, paragraph, table } from './page.ts';
import { cited, shown, shownCounted, shownInterval, words } from './shown-number.ts';

type Target = Report['targets'][number];

/** How far the logs cover each target: reasons in the open, coverage by turn and estimators folded. */
export function auditSection(targets: readonly Target[]): Html[] {
  if (targets.length === 0) return [];
  const stages = targets.flatMap((t) =>
    t.audit.stages.map((s) => ({
      series: t.audit.target,
      x: s.turn,
      y: s.essCarried / (t.audit.stages[0]?.alive ?? 1),
    })),
  );
  return [
    heading(2, 'How far the logs cover the candidates', 'coverage'),
    ...(stages.length > 0
      ? [
          figure(
            lines(stages, { x: 'turn', y: 'ESS / episodes' }, 'log'),
            'Effective sample size of the cumulative weights, ended episodes keep theirs, as a share of the episodes.',
          ),
        ]
      : []),
    // What is said of every candidate is of the logs, and stands once.
    ...warningsList(
      targets[0]!.audit.warnings,
      'targets/0/audit/warnings',
      (w) => w.code !== 'no-tail-index' && ofAll(targets, w),
    ),
    ...targets.flatMap((t, i) => one(t.audit, `targets/${i}/audit`, (w) => !ofAll(targets, w))),
  ];
}

/** Columns of the table of stages. */
const STAGE: Readonly<Record<string, (s: Stage, at: string) => Html>> = {
  turn: (s, at) => shown(`${at}/turn`, s.turn, String(s.turn)),
  alive: (s, at) => shown(`${at}/alive`, s.alive, formatCount(s.alive)),
  followers: (s, at) => shown(`${at}/followers`, s.followers, formatCount(s.followers)),
  'ESS stagewise': (s, at) => shown(`${at}/essStagewise`, s.essStagewise, formatNumber(s.essStagewise, 1)),
  'ESS carried': (s, at) => shown(`${at}/essCarried`, s.essCarried, formatNumber(s.essCarried, 1)),
  'ESS alive': (s, at) => shown(`${at}/essAlive`, s.essAlive, formatNumber(s.essAlive, 1)),
  'mean weight ± SE': (s, at) =>
    words`${shown(`${at}/meanWeight`, s.meanWeight)} ± ${shown(`${at}/meanWeightSe`, s.meanWeightSe)}`,
  'largest share': (s, at) => shown(`${at}/largestShare`, s.largestShare, formatShare(s.largestShare)),
  'top 1 %': (s, at) => shown(`${at}/topPercentShare`, s.topPercentShare, formatShare(s.topPercentShare)),
  k̂: (s, at) => shown(`${at}/kHat`, s.kHat, formatNumber(s.kHat, 2)),
  unsupported: (s, at) => shown(`${at}/unsupported`, s.unsupported),
};

const STAGE_LEGEND =
  'Alive: episodes that reach the turn; followers: those with a weight above 0. ESS, effective sample size (Σw)²/Σw²: of this turn’s ratios, of cumulative weights with ended episodes keeping theirs, and among the alive. ' +
  'Mean weight: 1 but for sampling error. Largest share and top 1 %: of the summed weight. k̂: tail index of the weights, above 0.7 heavy; –: not computed. Unsupported: mass of the target where the logs have none.';

/** The averages among the living stand last and grey: they answer another question when lengths differ. */
const aside = (estimator: string): boolean => / alive/.test(estimator);

const ofAll = (targets: readonly Target[], { message }: Warning): boolean =>
  targets.length > 1 && targets.every((t) => t.audit.warnings.some((w) => w.message === message));

function one(a: Audit, at: string, own: (w: Warning) => boolean): Html[] {
  const all = a.evaluation?.estimates ?? [];
  const estimates = [...all.filter((e) => !aside(e.estimator)), ...all.filter((e) => aside(e.estimator))];
  return [
    heading(3, words`Policy ${cited(`${at}/target`, a.target)}`),
    paragraph(
      words`Verdict: ${verdictMark(a.verdict)}${a.usableHorizon === null ? '' : words`; usable up to ${shownCounted(`${at}/usableHorizon`, a.usableHorizon, 'turn')}`}.`,
    ),
    list(a.reasons.map((r, k) => cited(`${at}/reasons/${k}/message`, r.message))),
    ...(a.next.length > 0
      ? [paragraph('What to collect next:'), list(a.next.map((x, k) => cited(`${at}/next/${k}`, x)))]
      : []),
    // Why there is no k̂ is told beside the weights.
    ...warningsList(
      a.warnings,
      `${at}/warnings`,
      (w) => own(w) && (w.code !== 'no-tail-index' || a.weights === null),
    ),
    ...(a.stages.length > 0
      ? details('Coverage by turn, and the weights', [
          table(
            Object.keys(STAGE),
            a.stages.map((stage, k) => Object.values(STAGE).map((cell) => cell(stage, `${at}/stages/${k}`))),
            Object.keys(STAGE),
            { wide: true },
          ),
          paragraph(STAGE_LEGEND, 'note'),
          ...(a.weights ? [weightsLine(a.weights, a.unsupported, at)] : []),
        ])
      : []),
    ...(a.evaluation && a.verdict !== 'refused'
      ? details('Every estimator', [
          table(
            ['estimator', 'value', 'SE', 'interval', 'convention'],
            estimates.map((e) => {
              const of = `${at}/evaluation/estimates/${all.indexOf(e)}`;
              return [
                e.estimator,
                shown(`${of}/value`, e.value),
                shown(`${of}/se`, e.se),
                shownInterval(`${of}/interval`, e.interval),
                cited(`${of}/convention`, e.convention),
              ];
            }),
            ['value', 'SE', 'interval'],
            { grey: (i) => aside(estimates[i]!.estimator) },
          ),
          ...doublyRobustParts(all, `${at}/evaluation/estimates`),
          ...(estimates.some((e) => aside(e.estimator))
            ? [
                paragraph(
                  'In grey: averages over the episodes still alive at each turn, as some software computes them. They do not tend to the value of the policy where lengths differ (they can leave the range of the return) and are shown for comparison only. ' +
                    'A dash: no interval, as none with a known coverage is computed for that estimator here.',
                  'note',
                ),
              ]
            : []),
        ])
      : []),
  ];
}

/** The weights of whole episodes, in a line. */
function weightsLine(w: NonNullable<Audit['weights']>, unsupported: Audit['unsupported'], at: string): Html {
  const of = `${at}/weights`;
  const kHat =
    w.kHat === null
      ? words`not computed (${cited(`${of}/kHatReason`, w.kHatReason ?? 'no reason')})`
      : shown(`${of}/kHat`, w.kHat, formatNumber(w.kHat, 2));
  const mass =
    unsupported?.mass == null
      ? words`unknown (${unsupported?.reason == null ? 'not looked at' : cited(`${at}/unsupported/reason`, unsupported.reason)})`
      : shown(`${at}/unsupported/mass`, unsupported.mass);
  return paragraph(
    words`Final weights: ESS ${shown(`${of}/ess`, w.ess, formatNumber(w.ess, 1))} (${shown(`${of}/essShare`, w.essShare, formatShare(w.essShare))}), by task ${shown(`${of}/essByTask`, w.essByTask, formatNumber(w.essByTask, 1))}; largest share ${shown(`${of}/largestShare`, w.largestShare, formatShare(w.largestShare))}, top 1 % ${shown(`${of}/topPercentShare`, w.topPercentShare, formatShare(w.topPercentShare))}; k̂ ${kHat}; unsupported mass ${mass}.`,
    'note',
  );
}

/** A doubly robust value says what it is made of: a model that does all the work is no cross-check. */
function doublyRobustParts(estimates: readonly Estimate[], at: string): Html[] {
  const rows = estimates.flatMap((e, k) =>
    e.parts === undefined
      ? []
      : [
          [
            e.estimator,
            shown(`${at}/${k}/value`, e.value),
            ...(['regression', 'correction', 'ipw'] as const).map((part) =>
              shown(`${at}/${k}/parts/${part}`, e.parts![part]),
            ),
          ],
        ],
  );
  if (rows.length === 0) return [];
  return [
    table(['estimator', 'value', '= regression', '+ correction', 'weights alone'], rows, [
      'value',
      '= regression',
      '+ correction',
      'weights alone',
    ]),
    paragraph('What the doubly robust values are made of.', 'note'),
  ];
}
