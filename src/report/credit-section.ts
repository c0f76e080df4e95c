import { actionMark, actionMarkNote, offCentre } from '../critic/marks.ts';
import type { CriticReport } from '../schema/credit.ts';
import { warningsList } from './describe-section.ts';
import { type EpisodeExample, exampleEpisodes } from './episode-section.ts';
import { calibration, stageMeans } from './figures.ts';
import { formatCount, formatNumber, formatSigned } from './format.ts';
import { details, figure, type Html, heading, paragraph, table } from './page.ts';
import { cited, joined, shown, shownCount, shownCounted, shownShare, words } from './shown-number.ts';
import { marked } from './summary-section.ts';

/** Which turn helped and which hurt, and how far the critic is to be believed. */
export function creditSection(c: CriticReport, examples: readonly EpisodeExample[]): Html[] {
  return [
    heading(2, 'Which turns matter, and why', 'credit'),
    ...(c.actions.length > 0 ? [paragraph(words`Actions: ${marked(c)}`, 'lead')] : []),
    paragraph(words`${cited('credit/label/causal', c.label.causal)}.`, 'sentence'),
    ...warningsList(c.warnings, 'credit/warnings'),
    ...byAction(c),
    ...exampleEpisodes(c, examples),
    ...details('How far the critic is to be believed', believed(c)),
  ];
}

function believed(c: CriticReport): Html[] {
  return [
    paragraph(
      words`${cited('credit/estimand', c.estimand)}. ${cited('credit/convention', c.convention)}.`,
      'note',
    ),
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
    what: string | Html,
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
        row(
          words`placebo: outcomes shuffled, ${shownCounted('credit/placebo/runs', c.placebo.runs, 'run')}`,
          'placebo',
          c.placebo,
          c.placebo.turn0,
        ),
      ],
      numeric,
    ),
    paragraph(
      joined(
        [
          words`Errors of the predicted return still to come, on tasks the model did not see. R²: 1 is perfect, 0 no better than the mean of those outcomes.`,
          words`The placebo predicts shuffled outcomes, so compare its R², not its RMSE; ${shownCount('credit/placebo/asGood', c.placebo.asGood)} of its ${shownCounted('credit/placebo/runs', c.placebo.runs, 'run')} have an R² like the critic’s.`,
          words`The constant’s mean squared error less the critic’s: ${shown('credit/heldOut/gain', c.heldOut.gain, formatSigned(c.heldOut.gain, 4))} (standard error ${shown('credit/heldOut/gainSe', c.heldOut.gainSe, formatNumber(c.heldOut.gainSe, 4))}).`,
          words`${shownCounted('credit/n', c.n, 'episode')}, ${shownCounted('credit/turns', c.turns, 'turn')}, ${shownCounted('credit/tasks', c.tasks, 'task')}, ${shownCounted('credit/critic/folds', c.critic.folds, 'fold')} of whole tasks.`,
          words`${shownShare('credit/supportedShare', c.supportedShare)} of the turns have others like them in the logs.`,
        ],
        ' ',
      ),
      'note',
    ),
  ];
}

function byTurn(c: CriticReport): Html[] {
  const failed = c.stages.flatMap((s, k) =>
    offCentre(c.stages, s) ? [shownCount(`credit/stages/${k}/turn`, s.turn)] : [],
  );
  const all = shownCount('credit/stages/length', c.stages.length);
  const verdict =
    failed.length === 0
      ? words`None of the ${all} turns is clearly off 0`
      : words`Clearly off 0, in red: turn ${joined(failed, ', ')}, of ${all}`;
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
      words`Mean advantage at each turn, ± 1.96 standard errors clustered by task: 0 for a critic of the logging policy. ${verdict} (3 standard errors or more, raised for the number of turns).${
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
        cited(`${at(a)}/action`, a.action),
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
