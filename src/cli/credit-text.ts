import { actionMark, actionMarkNote, isLoud, type Mark, offCentre, turnMarkNote } from '../critic/marks.ts';
import { stringifyExact } from '../json/exact-json.ts';
import { formatCount, formatNumber, formatShare, formatSigned, gainWords } from '../report/format.ts';
import { firstLine } from '../report/plain.ts';
import type { ClusteredMean, CriticReport, EpisodeCredit, HeldOutError } from '../schema/credit.ts';
import type { TurnText } from '../trajectories/texts.ts';
import { simulatedText } from './simulated-text.ts';
import { table, wrap } from './table.ts';

/** The summary for a person. */
export function creditText(r: CriticReport): string {
  const parts = [
    `Critic ${r.critic.name}: ${formatCount(r.n)} episodes, ${formatCount(r.tasks)} tasks, ${formatCount(r.turns)} turns; held out by task in ${r.critic.folds} folds`,
    ...r.warnings.filter(isLoud).map((w) => `!! ${w.message}`),
    simulatedText(r.warnings),
    heldOut(r),
    actions(r),
    stages(r),
    calibration(r),
    `Label\n  ${r.label.causal}\n  state: ${r.label.state}\n  ${r.estimand}\n  support: ${formatShare(r.supportedShare)} of the turns have others like them in the logs\n  ${r.label.inference}\n  model: ${models(r)}\n`,
  ];
  return parts.join('\n');
}

function heldOut(r: CriticReport): string {
  const row = (name: string, all: HeldOutError, turn0: HeldOutError | null, note: string): string[] => [
    name,
    formatNumber(all.rmse, 4),
    formatNumber(all.r2, 3),
    formatNumber(turn0?.rmse, 4),
    formatNumber(turn0?.r2, 3),
    note,
  ];
  const { heldOut: h, constant: c, placebo: p } = r;
  const gain = `mean squared error ${gainWords(h.gain)} the constant, se ${formatNumber(h.gainSe, 4)}`;
  return `Return to go, on tasks the model did not see\n${table(
    ['predictor', 'RMSE', 'R²', 'RMSE, turn 0', 'R², turn 0', ''],
    [
      row('critic', h, h.turn0, gain),
      row('constant', c, c.turn0, 'mean of the training part'),
      row(
        'constant by turn',
        c.byTurn,
        null,
        `what the length alone tells; the critic’s is ${gainWords(h.gainByTurn)} it, se ${formatNumber(h.gainByTurnSe, 4)}`,
      ),
      row(
        'placebo',
        p,
        p.turn0,
        `shuffled outcomes, ${p.runs} runs: ${p.asGood} with an R² like the critic’s`,
      ),
    ],
    [1, 2, 3, 4],
    90,
  )}`;
}

const withSe = (m: ClusteredMean): string => `${formatSigned(m.mean)} ± ${formatNumber(m.se)}`;
const marked = (mark: Mark, most = ''): string =>
  mark === null ? '' : `${mark === 'helpful' ? '▲' : '▼'}${most} ${mark}`;

function actions(r: CriticReport): string {
  if (r.actions.length === 0) return '';
  const most = 6;
  const shown =
    r.actions.length <= 2 * most ? r.actions : [...r.actions.slice(0, most), ...r.actions.slice(-most)];
  const left = r.actions.length - shown.length;
  return `Actions, from the largest contrast within tasks (± one standard error, by task)\n${table(
    ['action', 'turns', 'tasks', 'contrast', 'mean δ', 'mean A', ''],
    shown.map((a) => [
      a.action,
      formatCount(a.n),
      formatCount(a.tasks),
      a.contrast.mean === null ? '–' : `${formatSigned(a.contrast.mean)} ± ${formatNumber(a.contrast.se)}`,
      formatSigned(a.delta.mean),
      formatSigned(a.advantage.mean),
      marked(actionMark(r, a)),
    ]),
    [1, 2, 3, 4, 5],
    56,
  )}${left > 0 ? `  ${left} in between left out; --json has all\n` : ''}${wrap(actionMarkNote(r), 98)}`;
}

function stages(r: CriticReport): string {
  const most = 12;
  const left = r.stages.slice(most);
  const failed = (of: typeof left): number => of.filter((s) => offCentre(r.stages, s)).length;
  return `Mean of A by turn: 0 within error for a critic of the logging policy\n${table(
    ['turn', 'turns', 'tasks', 'mean A', 'regression', ''],
    r.stages
      .slice(0, most)
      .map((s) => [
        String(s.turn),
        formatCount(s.n),
        formatCount(s.tasks),
        withSe(s.advantage),
        s.pooled ? 'pooled' : 'its own',
        offCentre(r.stages, s) ? 'off 0' : '',
      ]),
    [0, 1, 2, 3],
  )}${
    left.length > 0
      ? `  ${left.length} later turns left out, ${failed(left) === 0 ? 'none' : failed(left)} of them clearly off 0; --json has all\n`
      : ''
  }`;
}

function calibration(r: CriticReport): string {
  return `Calibration: tenths of the turns by V\n${table(
    ['predicted', 'observed', 'se of it', 'turns', 'tasks'],
    r.calibration.map((c) => [
      formatNumber(c.predicted),
      formatNumber(c.observed),
      formatNumber(c.se),
      formatCount(c.n),
      formatCount(c.tasks),
    ]),
    [0, 1, 2, 3, 4],
  )}`;
}

function models(r: CriticReport): string {
  const { models: m, stateFeatures, actionFeatures, interactions, method } = r.critic;
  const own = m.filter((x) => !x.pooled).length;
  const pooled = m.find((x) => x.pooled);
  const stages = [
    own > 0 ? `turns 0 to ${own - 1} one regression each` : '',
    pooled ? `turns ${pooled.from} to ${pooled.to} pooled` : '',
  ];
  return `${method}; ${stateFeatures} state and ${actionFeatures} action features, ${interactions}; ${stages.filter(Boolean).join(', ')}`;
}

/** One episode, turn by turn, with the turns marked that are clear. */
export function episodeText(
  r: CriticReport,
  episode: EpisodeCredit,
  texts: readonly TurnText[],
  ending: string,
): string {
  const { turns } = episode;
  const textOf = new Map(texts.map((x) => [x.turn, x]));
  const rows = turns.map((k, i) => [
    String(k.turn),
    formatNumber(k.v),
    k.reward === 0 ? '' : formatSigned(k.reward),
    i + 1 < turns.length ? formatNumber(turns[i + 1]!.v) : 'end',
    formatSigned(k.delta),
    `${formatSigned(k.advantage)} ± ${formatNumber(k.advantageSe)}`,
    k.supported ? 'yes' : 'no',
    marked(k.mark),
    actionLine(textOf.get(k.turn)),
  ]);
  const V0 = turns[0]!.v;
  const sum = turns.reduce((s, k) => s + k.delta, 0);
  return [
    `Episode ${firstLine(episode.episode, 60)}, task ${episode.task === null ? '(none)' : firstLine(episode.task, 60)}: return ${formatNumber(episode.return)}, ended: ${ending}`,
    ...r.warnings.filter(isLoud).map((w) => `!! ${w.message}`),
    '',
    table(
      ['turn', 'V before', 'reward', 'V after', 'δ', 'A ± se', 'supported', '', 'action'],
      rows,
      [0, 1, 2, 3, 4, 5],
      64,
    ),
    `δ = reward + V after − V before; Σδ = ${formatSigned(sum)} = return ${formatNumber(episode.return)} less V before turn ${turns[0]!.turn} ${formatNumber(V0)}`,
    'A: the turn against the average turn of this agent there. δ: A and the luck of what came back.',
    wrap(turnMarkNote(r), 98, '').trimEnd(),
    `${r.label.causal}\n`,
  ].join('\n');
}

function actionLine(text: TurnText | undefined): string {
  if (!text) return '';
  const calls = text.tool_calls.map((c) => {
    const args = typeof c.arguments === 'string' ? c.arguments : stringifyExact(c.arguments ?? {});
    return `${c.name}(${args})`;
  });
  const said = text.action?.trim() ?? '';
  return firstLine(said !== '' && calls.length === 0 ? said : calls.join('; ') || said, 60);
}
