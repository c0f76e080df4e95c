import { formatCount, formatNumber, formatShare } from '../report/format.ts';
import { firstLine } from '../report/plain.ts';
import type {
  ActionAdvantage,
  ClusteredMean,
  CriticReport,
  EpisodeCredit,
  HeldOutError,
} from '../schema/credit.ts';
import type { TurnText } from '../trajectories/texts.ts';
import { table } from './table.ts';

/** Warnings that must be read before any number: part of the text itself. */
export const LOUD = [
  'zero-variance',
  'no-better-than-constant',
  'gain-not-clear',
  'no-better-than-placebo',
  'no-better-than-length',
];

/** The summary for a person. */
export function creditText(r: CriticReport): string {
  const parts = [
    `Critic ${r.critic.name}: ${formatCount(r.n)} episodes, ${formatCount(r.tasks)} tasks, ${formatCount(r.turns)} turns; held out by task in ${r.critic.folds} folds`,
    ...r.warnings.filter((w) => LOUD.includes(w.code)).map((w) => `!! ${w.message}`),
    '',
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
  const gain = `mean squared error ${formatNumber(h.gain, 4)} below the constant, se ${formatNumber(h.gainSe, 4)}`;
  return `Return to go, on tasks the model did not see\n${table(
    ['predictor', 'RMSE', 'R²', 'RMSE, turn 0', 'R², turn 0', ''],
    [
      row('critic', h, h.turn0, gain),
      row('constant', c, c.turn0, 'mean of the training part'),
      row('constant by turn', c.byTurn, null, 'what the length alone tells'),
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

const withSe = (m: ClusteredMean): string => `${signed(m.mean)} ± ${formatNumber(m.se)}`;
const signed = (x: number): string => (x > 0 ? '+' : '') + formatNumber(x);

function actions(r: CriticReport): string {
  if (r.actions.length === 0) return '';
  const most = 6;
  const shown =
    r.actions.length <= 2 * most ? r.actions : [...r.actions.slice(0, most), ...r.actions.slice(-most)];
  const mark = (a: ActionAdvantage): string => {
    const clear = a.delta.se !== null && Math.abs(a.delta.mean) > 2 * a.delta.se;
    return clear ? (a.delta.mean > 0 ? '▲ helpful' : '▼ harmful') : '';
  };
  const left = r.actions.length - shown.length;
  return `Actions, most helpful first (± one standard error, CR1 by task)\n${table(
    ['action', 'turns', 'tasks', 'mean δ', 'mean A', 'beyond 2 se'],
    shown.map((a) => [
      a.action,
      formatCount(a.n),
      formatCount(a.tasks),
      withSe(a.delta),
      withSe(a.advantage),
      mark(a),
    ]),
    [1, 2, 3, 4],
    40,
  )}${left > 0 ? `  ${left} in between left out; --json has all\n` : ''}`;
}

function stages(r: CriticReport): string {
  const most = 12;
  const left = r.stages.length - most;
  return `Mean of A by turn (about 0)\n${table(
    ['turn', 'turns', 'tasks', 'mean A', 'regression'],
    r.stages
      .slice(0, most)
      .map((s) => [
        String(s.turn),
        formatCount(s.n),
        formatCount(s.tasks),
        withSe(s.advantage),
        s.pooled ? 'pooled' : 'its own',
      ]),
    [0, 1, 2, 3],
  )}${left > 0 ? `  ${left} later turns left out; --json has all\n` : ''}`;
}

function calibration(r: CriticReport): string {
  return `Calibration: tenths of the turns by V\n${table(
    ['predicted', 'observed', 'se', 'turns', 'tasks'],
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

/** One episode, turn by turn, with the most helpful and the most harmful turn marked. */
export function episodeText(
  r: CriticReport,
  episode: EpisodeCredit,
  texts: readonly TurnText[],
  rewards: readonly number[], // the episode's reward paid at its last turn
  ending: string,
): string {
  const { turns } = episode;
  // Where the critic knows no more than a constant, naming a turn would be a claim about noise.
  const blind = r.warnings.some((w) => w.code === 'no-better-than-constant' || w.code === 'zero-variance');
  const best = blind ? -1 : extreme(turns.map((k) => k.advantage));
  const worst = blind ? -1 : extreme(turns.map((k) => -k.advantage));
  const textOf = new Map(texts.map((x) => [x.turn, x]));
  const rows = turns.map((k, i) => [
    String(k.turn),
    formatNumber(k.v),
    i + 1 < turns.length ? formatNumber(turns[i + 1]!.v) : 'end',
    rewards[i] === 0 ? '' : signed(rewards[i]!),
    signed(k.advantage),
    signed(k.delta),
    k.supported ? 'yes' : 'no',
    i === best ? '▲ most helpful' : i === worst ? '▼ most harmful' : '',
    actionLine(textOf.get(k.turn)),
  ]);
  const V0 = turns[0]!.v;
  const sum = turns.reduce((s, k) => s + k.delta, 0);
  return [
    `Episode ${firstLine(episode.episode, 60)}, task ${episode.task === null ? '(none)' : firstLine(episode.task, 60)}: return ${formatNumber(episode.return)}, ended: ${ending}`,
    ...r.warnings.filter((w) => LOUD.includes(w.code)).map((w) => `!! ${w.message}`),
    '',
    table(
      ['turn', 'V before', 'V after', 'reward', 'A', 'δ', 'supported', '', 'action'],
      rows,
      [0, 1, 2, 3, 4, 5],
      64,
    ),
    `Σδ = ${signed(sum)} = return ${formatNumber(episode.return)} less V before turn ${turns[0]!.turn} ${formatNumber(V0)}`,
    'A: the turn against the average turn of this agent there. δ: A and the luck of what came back.',
    `${r.label.causal}\n`,
  ].join('\n');
}

/** Place of the largest value, where it is above 0. */
function extreme(x: readonly number[]): number {
  let at = -1;
  for (let i = 0; i < x.length; i++) if (x[i]! > 0 && (at < 0 || x[i]! > x[at]!)) at = i;
  return at;
}

function actionLine(text: TurnText | undefined): string {
  if (!text) return '';
  const calls = text.tool_calls.map((c) => {
    const args = typeof c.arguments === 'string' ? c.arguments : JSON.stringify(c.arguments ?? {});
    return `${c.name}(${args})`;
  });
  const said = text.action?.trim() ?? '';
  return firstLine(said !== '' && calls.length === 0 ? said : calls.join('; ') || said, 60);
}
