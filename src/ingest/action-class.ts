import type { Episode, EpisodeInput } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';

/** Gives turns their action class, and counts those that get none. */
export interface ActionClasses {
  /** Turns that have a class keep it. */
  amend(episode: EpisodeInput): EpisodeInput;
  /** Turns of all episodes so far: with a class in the end, and without one. */
  readonly turns: { classed: number; without: number };
}

type Turn = Episode['turns'][number];
type Rule = (turn: Turn, beside: (name: string) => unknown) => string | null;

export const ACTION_CLASS_HELP =
  'tool, column:NAME or /PATTERN/: what declares the action class of a turn that has none; see below';

/**
 * A declaration of action classes for logs that have none.
 *
 * - `tool`: the tool that the turn calls; several: their names in order of the alphabet, each once, with `+`
 *   between; none: `no-tool`. A turn whose calls could not be read has no class.
 * - `column:NAME`: a field of the turn, or of the assistant's message that it was read from.
 * - `/PATTERN/` or `/PATTERN/i`: a regular expression for the action's text; the class is its first group, or
 *   else all that it matches. A turn that it does not match has no class.
 *
 * @throws a failure that names what is wrong with `given`
 */
export function actionClasses(given: string): ActionClasses {
  const rule = ruleOf(given);
  const turns = { classed: 0, without: 0 };
  return {
    turns,
    amend(episode) {
      const read = episode as Episode;
      const beside = fieldsBeside(read.meta);
      return {
        ...read,
        turns: read.turns.map((turn, k) => {
          const action_class = turn.action_class ?? rule(turn, (name) => beside.get(k)?.[name]);
          if (action_class === null) turns.without++;
          else turns.classed++;
          return action_class === turn.action_class ? turn : { ...turn, action_class };
        }),
      };
    },
  };
}

function ruleOf(given: string): Rule {
  if (given === 'tool') return toolClass;
  const column = /^column:(.+)$/s.exec(given)?.[1];
  if (column !== undefined)
    return (turn, beside) =>
      nameOf(Object.hasOwn(turn, column) ? turn[column as keyof Turn] : beside(column));
  const pattern = /^\/(.+)\/([imsu]*)$/s.exec(given);
  if (pattern === null)
    throw failure({
      subject: 'action class',
      wrong: 'is no declaration',
      got: JSON.stringify(given),
      expected: 'tool, column:NAME or /PATTERN/',
      exitCode: 2,
    });
  let expression: RegExp;
  try {
    expression = new RegExp(pattern[1]!, pattern[2]);
  } catch (cause) {
    throw failure({ subject: 'action class', wrong: (cause as Error).message, exitCode: 2, cause });
  }
  return ({ action }) => {
    const match = action === null ? null : expression.exec(action);
    return match === null ? null : (match[1] ?? match[0]) || null;
  };
}

function toolClass({ tool_calls }: Turn): string | null {
  if (tool_calls === null) return null;
  const names = new Set(tool_calls.map((call) => call.name));
  if (names.has('')) return null;
  return names.size === 0 ? 'no-tool' : [...names].sort().join('+');
}

function nameOf(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** By turn, the fields of its assistant's message that its format does not know (formats/message-fields.ts). */
function fieldsBeside(meta: Episode['meta']): ReadonlyMap<number, Readonly<Record<string, unknown>>> {
  const list = meta?.message_fields;
  if (!Array.isArray(list)) return new Map();
  return new Map(list.filter((m) => m?.role === 'assistant').map((m) => [m.turn, m.fields]));
}
