import { turnMarkNote, unmarkedReason } from '../critic/marks.ts';
import type { CriticReport, EpisodeCredit } from '../schema/credit.ts';
import { episodeValues } from './figures.ts';
import { formatSigned } from './format.ts';
import { figure, type Html, heading, paragraph, table } from './page.ts';
import { cited, shown, words } from './shown-number.ts';
import { type TurnWords, turnWordsHtml } from './turn-words.ts';

/** One episode with the beginning of the texts of its turns. */
export interface EpisodeExample {
  readonly credit: EpisodeCredit;
  readonly texts: readonly TurnWords[];
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
    ...examples.flatMap((example, i) => episode(example, i, unmarkedReason(c) === null)),
    paragraph(turnMarkNote(c), 'note'),
  ];
}

function episode({ credit, texts }: EpisodeExample, i: number, judged: boolean): Html[] {
  const { turns } = credit;
  const at = (k: number) => `examples/${i}/credit/turns/${k}`;
  // Reward so far + V(s_k) = V(s_0) + Σ_{j<k} δ_j; at the end, G.
  const predicted = [turns[0]?.v ?? 0];
  for (const t of turns) predicted.push(predicted.at(-1)! + t.delta);
  const head = ['turn', 'V before', 'reward', 'V after', 'δ', 'A ± SE', 'mark', 'what happened'];
  return [
    heading(
      3,
      words`Episode ${cited(`examples/${i}/credit/episode`, credit.episode)}${credit.task === null ? '' : words` (task ${cited(`examples/${i}/credit/task`, credit.task)})`}, return ${shown(`examples/${i}/credit/return`, credit.return)}`,
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
        shown(`${at(k)}/turn`, t.turn, String(t.turn)),
        shown(`${at(k)}/v`, t.v),
        t.reward === 0 ? '' : shown(`${at(k)}/reward`, t.reward, formatSigned(t.reward)),
        k + 1 < turns.length ? shown(`${at(k + 1)}/v`, turns[k + 1]!.v) : 'end',
        shown(`${at(k)}/delta`, t.delta, formatSigned(t.delta)),
        words`${shown(`${at(k)}/advantage`, t.advantage, formatSigned(t.advantage))} ± ${shown(`${at(k)}/advantageSe`, t.advantageSe)}`,
        [
          t.mark === 'helpful' ? '▲ helpful' : '',
          t.mark === 'harmful' ? '▼ harmful' : '',
          t.supported ? '' : 'unlike the logs',
        ]
          .filter(Boolean)
          .join(', '),
        turnWordsHtml(texts[k], texts[k - 1], `examples/${i}/texts/${k}`),
      ]),
      head.slice(0, 6),
      { wide: true, stack: true },
    ),
    ...(!judged || turns.some((t) => t.mark !== null)
      ? []
      : [paragraph('No turn of this episode is marked.', 'note')]),
  ];
}
