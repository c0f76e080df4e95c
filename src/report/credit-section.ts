import type { CriticReport, EpisodeCredit } from '../schema/credit.ts';
import { warningsList } from './describe-section.ts';
import { calibration, episodeValues, stageMeans } from './figures.ts';
import { formatCount, formatNumber, formatShare } from './format.ts';
import { figure, type Html, heading, paragraph, table } from './page.ts';

/** One episode with the first line of each action. */
export interface EpisodeExample {
  readonly credit: EpisodeCredit;
  readonly actions: readonly string[];
}

/** Which turn helped and which hurt, and how far the critic is to be believed. */
export function creditSection(c: CriticReport, examples: readonly EpisodeExample[]): Html[] {
  const row = (
    what: string,
    e: { rmse: number; r2: number | null; turn0: { rmse: number; r2: number | null } },
  ) => [what, formatNumber(e.rmse), formatNumber(e.r2), formatNumber(e.turn0.rmse), formatNumber(e.turn0.r2)];
  return [
    heading(2, 'Which turn helped, which hurt', 'credit'),
    paragraph(c.label.causal, 'lead'),
    paragraph(`${c.estimand} ${c.convention}`, 'note'),
    ...warningsList(c.warnings),
    heading(3, 'Held out by task'),
    table(
      ['predictor', 'RMSE', 'R²', 'RMSE, first turn', 'R², first turn'],
      [
        row('critic', c.heldOut),
        row('a constant', c.constant),
        row(`placebo: outcomes shuffled, ${c.placebo.runs} runs`, c.placebo),
      ],
      ['RMSE', 'R²', 'RMSE, first turn', 'R², first turn'],
    ),
    paragraph(
      `${formatCount(c.n)} episodes, ${formatCount(c.turns)} turns, ${formatCount(c.tasks)} tasks, ${c.critic.folds} folds of whole tasks. ` +
        `${formatShare(c.supportedShare)} of the turns have others like them in the logs.`,
      'note',
    ),
    figure(
      stageMeans(
        c.stages.map((s) => ({ stage: s.turn, mean: s.advantage.mean, se: s.advantage.se })),
        { x: 'turn', y: 'mean A' },
      ),
      'Mean advantage at each turn, ± 1.96 standard errors clustered by task: about 0 for a critic of the logging policy.',
    ),
    figure(
      calibration(c.calibration),
      'Calibration of V, in tenths of the turns; standard errors clustered by task.',
    ),
    heading(3, 'By action'),
    table(
      ['action', 'turns', 'mean A', 'SE of A', 'mean δ', 'SE of δ'],
      c.actions
        .slice(0, 20)
        .map((a) => [
          a.action,
          formatCount(a.n),
          formatNumber(a.advantage.mean),
          formatNumber(a.advantage.se),
          formatNumber(a.delta.mean),
          formatNumber(a.delta.se),
        ]),
      ['turns', 'mean A', 'SE of A', 'mean δ', 'SE of δ'],
    ),
    ...examples.flatMap(episode),
  ];
}

function episode({ credit, actions }: EpisodeExample): Html[] {
  const { turns } = credit;
  const best = extreme(
    turns.map((t) => t.advantage),
    1,
  );
  const worst = extreme(
    turns.map((t) => t.advantage),
    -1,
  );
  // What the episode looked like before turn k: rewards already paid + V(s_k) = V(s_0) + Σ_{j<k} δ_j; at the end, G.
  const predicted = [turns[0]?.v ?? 0];
  for (const t of turns) predicted.push(predicted.at(-1)! + t.delta);
  return [
    heading(
      3,
      `Episode ${credit.episode}${credit.task === null ? '' : ` (task ${credit.task})`}, return ${formatNumber(credit.return)}`,
    ),
    figure(
      episodeValues(
        turns.map((t, k) => ({ turn: t.turn, v: predicted[k]!, next: predicted[k + 1]! })),
        credit.return,
      ),
      'Predicted return before each turn; green rises, red falls; the diamond is the return.',
    ),
    table(
      ['turn', 'V before', 'A', 'δ', '', 'action'],
      turns.map((t, k) => [
        String(t.turn),
        formatNumber(t.v),
        formatNumber(t.advantage),
        formatNumber(t.delta),
        [
          k === best ? '▲ most helpful' : '',
          k === worst ? '▼ most harmful' : '',
          t.supported ? '' : 'unlike the logs',
        ]
          .filter(Boolean)
          .join(', '),
        actions[k] ?? '',
      ]),
      ['turn', 'V before', 'A', 'δ'],
    ),
  ];
}

/** Place of the largest value in direction `sign`; −1 where none has that sign. */
function extreme(values: readonly number[], sign: 1 | -1): number {
  let at = -1;
  values.forEach((value, k) => {
    if (value * sign > 0 && (at < 0 || value * sign > values[at]! * sign)) at = k;
  });
  return at;
}
