import { actionMark, actionMarkNote, offCentre } from '../critic/marks.ts';
import type { CriticReport } from '../schema/credit.ts';
import { warningsList } from './describe-section.ts';
import { type EpisodeExample, exampleEpisodes } from './episode-section.ts';
import { calibration, stageMeans } from './figures.ts';
import { formatCount, formatNumber, formatShare, formatSigned, gainWords } from './format.ts';
import { details, figure, type Html, heading, paragraph, table } from './page.ts';
import { shown } from './shown-number.ts';
import { marked } from './summary-section.ts';

/** Which turn helped and which hurt, and how far the critic is to be believed. */
export function creditSection(c: CriticReport, examples: readonly EpisodeExample[]): Html[] {
  return [
    heading(2, 'Which turns matter, and why', 'credit'),
    ...(c.actions.length > 0 ? [paragraph(`Actions: ${marked(c)}`, 'lead')] : []),
    paragraph(`${c.label.causal[0]!.toUpperCase()}${c.label.causal.slice(1)}.`),
    ...warningsList(c.warnings),
    ...byAction(c),
    ...exampleEpisodes(c, examples),
    ...details('How far the critic is to be believed', believed(c)),
  ];
}

function believed(c: CriticReport): Html[] {
  return [
    paragraph(`${c.estimand}. ${c.convention}.`, 'note'),
    ...heldOut(c),
    ...byTurn(c),
    figure(
      calibration(c.calibration),
      `Calibration of V: mean V and mean return still to come, in tenths of the turns by V, ± 1.96 standard errors clustered by task. Dashed: where they agree.${
        c.calibration.some((k) => k.se === null)
          ? ' A dot without a line has no standard error: one task, or outcomes that are all alike.'
          : ''
      }`,
    ),
  ];
}

function heldOut(c: CriticReport): Html[] {
  const row = (
    what: string,
    of: string,
    e: { rmse: number; r2: number | null },
    first: { rmse: number; r2: number | null } | null,
  ) => [
    what,
    shown(`credit/${of}/rmse`, e.rmse),
    shown(`credit/${of}/r2`, e.r2),
    shown(`credit/${of}/turn0/rmse`, first?.rmse),
    shown(`credit/${of}/turn0/r2`, first?.r2),
  ];
  const numeric = ['RMSE', 'R²', 'RMSE, first turn', 'R², first turn'];
  return [
    heading(3, 'Held out by task'),
    table(
      ['predictor', ...numeric],
      [
        row('critic', 'heldOut', c.heldOut, c.heldOut.turn0),
        row('a constant', 'constant', c.constant, c.constant.turn0),
        row('a constant by turn: what the length alone tells', 'constant/byTurn', c.constant.byTurn, null),
        row(`placebo: outcomes shuffled, ${c.placebo.runs} runs`, 'placebo', c.placebo, c.placebo.turn0),
      ],
      numeric,
    ),
    paragraph(
      'Errors of the predicted return still to come, on tasks the model did not see. R²: 1 is perfect, 0 no better than the mean of those outcomes. ' +
        `The placebo predicts shuffled outcomes, so compare its R², not its RMSE; ${c.placebo.asGood} of its ${c.placebo.runs} runs have an R² like the critic’s. ` +
        `The critic’s squared error is ${gainWords(c.heldOut.gain)} the constant’s (standard error ${formatNumber(c.heldOut.gainSe, 4)}). ` +
        `${formatCount(c.n)} episodes, ${formatCount(c.turns)} turns, ${formatCount(c.tasks)} tasks, ${c.critic.folds} folds of whole tasks. ` +
        `${formatShare(c.supportedShare)} of the turns have others like them in the logs.`,
      'note',
    ),
  ];
}

function byTurn(c: CriticReport): Html[] {
  const failed = c.stages.filter((s) => offCentre(c.stages, s));
  const verdict =
    failed.length === 0
      ? `None of the ${c.stages.length} turns is clearly off 0`
      : `Clearly off 0, in red: turn ${failed.map((s) => s.turn).join(', ')}, of ${c.stages.length}`;
  return [
    figure(
      stageMeans(
        c.stages.map((s) => ({
          stage: s.turn,
          mean: s.advantage.mean,
          se: s.advantage.se,
          off: offCentre(c.stages, s),
        })),
        { x: 'turn', y: 'mean A' },
      ),
      `Mean advantage at each turn, ± 1.96 standard errors clustered by task: 0 for a critic of the logging policy. ${verdict} (3 standard errors or more, raised for the number of turns).${
        c.stages.some((s) => s.advantage.se === null)
          ? ' A dot without a line has no standard error: one task got so far.'
          : ''
      }`,
    ),
  ];
}

const SHOWN = 20;

function byAction(c: CriticReport): Html[] {
  if (c.actions.length === 0) return [];
  const half = SHOWN / 2;
  const listed =
    c.actions.length <= SHOWN ? c.actions : [...c.actions.slice(0, half), ...c.actions.slice(-half)];
  const numeric = ['turns', 'tasks', 'contrast', 'SE of contrast', 'mean δ', 'mean A'];
  const left = c.actions.length - listed.length;
  const at = (a: (typeof listed)[number]) => `credit/actions/${c.actions.indexOf(a)}`;
  const signed = (of: string, x: number | null) => shown(of, x, x === null ? '–' : formatSigned(x));
  return [
    heading(3, 'By action'),
    table(
      ['action', ...numeric, 'mark'],
      listed.map((a) => [
        a.action,
        shown(`${at(a)}/n`, a.n, formatCount(a.n)),
        shown(`${at(a)}/tasks`, a.tasks, formatCount(a.tasks)),
        signed(`${at(a)}/contrast/mean`, a.contrast.mean),
        shown(`${at(a)}/contrast/se`, a.contrast.se),
        signed(`${at(a)}/delta/mean`, a.delta.mean),
        signed(`${at(a)}/advantage/mean`, a.advantage.mean),
        { helpful: '▲ helpful', harmful: '▼ harmful', none: '' }[actionMark(c, a) ?? 'none'],
      ]),
      numeric,
      { stack: true },
    ),
    paragraph(
      `From the largest contrast within tasks${left > 0 ? `; ${left} in between left out` : ''}. Standard errors by task. ${actionMarkNote(c)}`,
      'note',
    ),
  ];
}
