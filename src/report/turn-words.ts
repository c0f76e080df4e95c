import { stringifyExact } from '../json/exact-json.ts';
import type { Report } from '../schema/report.ts';
import type { ToolCall } from '../schema/turn.ts';
import { type Html, html, render } from './page.ts';
import { firstLine } from './plain.ts';
import { cited } from './shown-number.ts';

/** A turn as the report quotes it: the beginnings of what it saw, wrote, called and was answered. */
export type TurnWords = Report['examples'][number]['texts'][number];

/** A report quotes so many characters of a text, and so many calls of a turn. */
const WIDTH = 160;
const CALLS = 4;

export function turnWords(text: {
  observation: string | null;
  action: string | null;
  tool_calls: readonly ToolCall[];
}): TurnWords {
  return {
    observation: quoted(text.observation),
    action: quoted(text.action),
    calls: text.tool_calls.slice(0, CALLS).map((c) => ({
      call: firstLine(`${c.name}(${argumentsOf(c.arguments)})`, WIDTH),
      answer: quoted(c.result),
      failed: c.error ?? null,
    })),
  };
}

/** On one line: the lines of a text are joined, as its first alone is often empty or a heading. */
const quoted = (text: string | null | undefined): string | null =>
  text
    ? firstLine(
        text
          .slice(0, 4 * WIDTH)
          .replaceAll(/\s+/g, ' ')
          .trim(),
        WIDTH,
      )
    : null;

function argumentsOf(given: unknown): string {
  if (given === null || given === undefined) return '';
  const text = typeof given === 'string' ? given : stringifyExact(given);
  return text === '{}' ? '' : text;
}

/**
 * What it saw, wrote, called and was answered, a line each; a failed call is said in words. What it saw is not
 * repeated where it is the answer to the last call of the turn before. `at`: where the words lie in the report.
 */
export function turnWordsHtml(words: TurnWords | undefined, before?: TurnWords, at = ''): Html {
  if (!words) return html('');
  const line = (name: string, text: string | Html | null, kind = '') =>
    text === null ? '' : `<span class="act"><b>${name}</b> ${render(text)}${kind}</span>`;
  const from = (of: string, text: string | null) => (text === null ? null : cited(`${at}/${of}`, text));
  return html(
    (words.observation !== null && words.observation === before?.calls.at(-1)?.answer
      ? line('saw', 'the answer above')
      : line('saw', from('observation', words.observation))) +
      line('wrote', from('action', words.action)) +
      words.calls
        .map(
          (c, k) =>
            line(
              'called',
              from(`calls/${k}/call`, c.call),
              c.failed === true ? ' <strong class="refused">✕ failed</strong>' : '',
            ) + line('answer', from(`calls/${k}/answer`, c.answer)),
        )
        .join(''),
  );
}
