import { turnMarkNote } from '../critic/marks.ts';
import type { CriticReport, EpisodeCredit } from '../schema/credit.ts';
import { escapeHtml } from './escape.ts';
import { episodeValues } from './figures.ts';
import { formatNumber, formatSigned } from './format.ts';
import { figure, type Html, heading, html, paragraph, table } from './page.ts';

/** One episode with the first line of each action. */
export interface EpisodeExample {
  readonly credit: EpisodeCredit;
  readonly actions: readonly string[];
}

/** The example episodes, why these, and how to read them. */
export function exampleEpisodes(c: CriticReport, examples: readonly EpisodeExample[]): Html[] {
  if (examples.length === 0) return [];
  return [
    heading(3, 'Two episodes, turn by turn'),
    paragraph(
      'Of the episodes of 2 to 12 turns, those below and those above the middle of the returns: of each half the one in the middle by its clearest supported turn, |A| over its error. They are typical, not picked for their size. ' +
        'V: return still to come as predicted before the turn. δ = reward + V after − V before; the δ sum to the return less the first V. ' +
        'A ± its standard error: the turn against the average turn of this agent there; ± –: no error, a feature of the turn never varied where the model was fitted.',
      'note',
    ),
    ...examples.flatMap((example) => episode(c, example)),
  ];
}

function episode(c: CriticReport, { credit, actions }: EpisodeExample): Html[] {
  const { turns } = credit;
  // Reward so far + V(s_k) = V(s_0) + Σ_{j<k} δ_j; at the end, G.
  const predicted = [turns[0]?.v ?? 0];
  for (const t of turns) predicted.push(predicted.at(-1)! + t.delta);
  const head = ['turn', 'V before', 'reward', 'V after', 'δ', 'A ± SE', '', 'action'];
  return [
    heading(
      3,
      `Episode ${credit.episode}${credit.task === null ? '' : ` (task ${credit.task})`}, return ${formatNumber(credit.return)}`,
    ),
    figure(
      episodeValues(
        turns.map((t, k) => ({ turn: t.turn, v: predicted[k]!, next: predicted[k + 1]!, mark: t.mark })),
        credit.return,
      ),
      'Reward so far + V before each turn: the return as foreseen there. Each line is a turn and rises or falls by its δ, coloured only where the turn is marked (green: helpful, red: harmful); the diamond is the return.',
    ),
    table(
      head,
      turns.map((t, k) => [
        String(t.turn),
        formatNumber(t.v),
        t.reward === 0 ? '' : formatSigned(t.reward),
        k + 1 < turns.length ? formatNumber(turns[k + 1]!.v) : 'end',
        formatSigned(t.delta),
        `${formatSigned(t.advantage)} ± ${formatNumber(t.advantageSe)}`,
        [
          t.mark === 'helpful' ? '▲ helpful' : '',
          t.mark === 'harmful' ? '▼ harmful' : '',
          t.supported ? '' : 'unlike the logs',
        ]
          .filter(Boolean)
          .join(', '),
        html(`<span class="act">${escapeHtml(actions[k] ?? '')}</span>`),
      ]),
      head.slice(0, 6),
      { wide: true },
    ),
    paragraph(turnMarkNote(c), 'note'),
  ];
}
