import { isTooDeep, MAX_ARGUMENTS_DEPTH } from '../../json/depth.ts';
import { parseExact } from '../../json/exact-json.ts';
import type { EpisodeInput } from '../../schema/episode.ts';
import { type Matchable, resultMatcher } from './match-results.ts';
import { withTextCalls } from './text-calls.ts';
import { toolFailed } from './tool-outcome.ts';

type TurnInput = EpisodeInput['turns'][number];
type CallInput = NonNullable<TurnInput['tool_calls']>[number];

/** A message of a chat, whichever provider wrote it. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** null: no text (an assistant that only calls tools). */
  readonly text: string | null;
  /** What an assistant calls. */
  readonly calls: readonly Call[];
  /** What tools answered: one for an OpenAI tool message, any number inside an Anthropic user message. */
  readonly results: readonly ToolResult[];
  /** Reasoning was logged beside the text. */
  readonly reasoning: boolean;
  /** Sampled tokens, where the log says. */
  readonly tokens: number | null;
  /** Log-probabilities of the sampled tokens, where the log has them; null: that one is not known. */
  readonly logprobs: readonly (number | null)[] | null;
  /** Calls are there and cannot be read: the shape they are written in. */
  readonly unread?: string | undefined;
  /** Declared beside the message. */
  readonly actionClass?: string | null | undefined;
  readonly logPropensity?: number | null | undefined;
}

/** A message that holds nothing yet. */
export function plainMessage<R extends Message['role']>(role: R): Message & { readonly role: R } {
  return { role, text: null, calls: [], results: [], reasoning: false, tokens: null, logprobs: null };
}

export interface Call {
  readonly id: string | null;
  readonly name: string;
  /** Parsed where it parses, else the text the model wrote. */
  readonly arguments: unknown;
}

export interface ToolResult {
  readonly id: string | null;
  /** An id of the message, which answers the call that has it, if one does. */
  readonly ownId?: string | null | undefined;
  readonly name: string | null;
  readonly text: string;
  /** What the log says; null: nothing. */
  readonly error: boolean | null;
  /** Where neither the log nor the text says that it failed, it worked. */
  readonly worksUnlessSaid?: boolean | undefined;
  /** false: its text is observed with the text of its message. Default true. */
  readonly observed?: boolean | undefined;
  /** What is observed, where that is not the text itself. */
  readonly observedAs?: string | undefined;
}

export interface ChatTurns {
  readonly turns: TurnInput[];
  /** What came in after the last assistant message: nobody acted on it. */
  readonly finalObservation: string | null;
  /** Turns with reasoning beside the text: it is not part of the action. */
  readonly reasoningTurns: number;
  /** Turns whose log-probabilities do not cover the sampled tokens: none is kept. */
  readonly partialLogprobTurns: number;
  /** Turns with a stand-in among their log-probabilities, from 0: none is kept. */
  readonly standInTurns: readonly number[];
  /** Results that belong to no call. */
  readonly orphanedResults: number;
  /** By shape, the turns whose calls cannot be read. */
  readonly unreadCalls: ReadonlyMap<string, number>;
}

/** A call as it will be stored, with what its results are matched by. */
type OpenCall = Matchable & { readonly stored: CallInput };

/**
 * One assistant message = one turn. Its observation is what came in since the previous assistant
 * message, joined by blank lines: system prompt and first user message before turn 0, tool results
 * and user messages after. Its action is its text; reasoning is left out and counted.
 *
 * match-results.ts says which call a result belongs to; one that belongs to none is observed all the
 * same, and counted. tool-outcome.ts says whether a call failed; `worksUnlessSaid`: in this log, every
 * answer that is not a failure is a success. Calls written as text: text-calls.ts; where they cannot be
 * read, the turn has null for its calls, which is not an empty list.
 *
 * Σ log b is kept only where the log-probabilities are known to cover the whole action: as many as
 * sampled tokens; without a count, only for a turn without tool calls (their tokens may be left out).
 * One that is null, or stands in for a probability that is not known, leaves no sum.
 */
export function turnsOfMessages(given: readonly Message[], worksUnlessSaid = false): ChatTurns {
  const turns: TurnInput[] = [];
  const matcher = resultMatcher<OpenCall>();
  let observed: string[] = [];
  let reasoningTurns = 0;
  let partialLogprobTurns = 0;
  const standInTurns: number[] = [];
  let orphanedResults = 0;
  /** The calls of the last turn could not be read: what answers them is no orphan. */
  let unreadLast = false;
  const unreadCalls = new Map<string, number>();

  const takeUp = (result: ToolResult): void => {
    const call = matcher.answer(result);
    if (call) answer(call, result, worksUnlessSaid);
    else if (!unreadLast) orphanedResults++;
    if (result.observed !== false) observed.push(result.observedAs ?? result.text);
  };
  for (const message of withTextCalls(given)) {
    if (message.role !== 'assistant') {
      for (const result of message.results) takeUp(result);
      if (message.text !== null) observed.push(message.text);
      continue;
    }
    const calls = message.calls.map(({ id, name, arguments: given }): OpenCall => {
      return { id, name, answered: false, stored: { name, arguments: given, result: null, error: null } };
    });
    matcher.made(calls);
    unreadLast = message.unread !== undefined;
    const logprob = coveredLogprob(message);
    if (message.reasoning) reasoningTurns++;
    if (message.logprobs !== null && logprob === null) partialLogprobTurns++;
    if (message.logprobs !== null && holdsStandIn(message.logprobs)) standInTurns.push(turns.length);
    if (message.unread !== undefined)
      unreadCalls.set(message.unread, (unreadCalls.get(message.unread) ?? 0) + 1);
    const observation = joined(observed);
    observed = [];
    turns.push({
      observation,
      action: message.text,
      tool_calls: message.unread === undefined ? calls.map((c) => c.stored) : null,
      behaviour_logprob: logprob,
      n_action_tokens: message.tokens ?? (logprob === null ? null : message.logprobs!.length),
      action_class: message.actionClass ?? null,
      behaviour_log_propensity: message.logPropensity ?? null,
    });
    // What a server's own tool answered within the message is seen by the next turn.
    for (const result of message.results) takeUp(result);
  }
  return {
    turns,
    finalObservation: joined(observed),
    reasoningTurns,
    partialLogprobTurns,
    standInTurns,
    orphanedResults,
    unreadCalls,
  };
}

function joined(texts: readonly string[]): string | null {
  const some = texts.filter((text) => text !== '');
  return some.length === 0 ? null : some.join('\n\n');
}

/** Arguments as an object where the text is JSON that can be stored, else the text itself. */
export function parsedArguments(text: string): unknown {
  try {
    const value = parseExact(text);
    return isTooDeep(value, MAX_ARGUMENTS_DEPTH) ? text : value;
  } catch {
    return text;
  }
}

function answer({ stored }: OpenCall, result: ToolResult, worksUnlessSaid: boolean): void {
  const works = worksUnlessSaid || result.worksUnlessSaid === true;
  const error = toolFailed(result.text, result.error) ?? (works ? false : null);
  stored.result = stored.result == null ? result.text : `${stored.result}\n\n${result.text}`;
  stored.error = stored.error === true || error === true ? true : (error ?? stored.error ?? null);
}

/** A turn of fewer tokens may be certain of all of them. */
const TOKENS_OF_CERTAINTY = 8;

/**
 * Servers write −9999 or the least double for a probability that they do not have; no sampled token has it.
 * Where every token of a turn has exactly 0, nothing was measured, or nothing was sampled.
 */
function holdsStandIn(logprobs: readonly (number | null)[]): boolean {
  const zeros = logprobs.length >= TOKENS_OF_CERTAINTY && logprobs.every((x) => x === 0);
  return zeros || logprobs.some((x) => x !== null && x <= -9999);
}

function coveredLogprob(message: Message): number | null {
  const { logprobs, tokens, calls, unread } = message;
  if (logprobs === null) return null;
  if (tokens === null ? calls.length > 0 || unread !== undefined : tokens !== logprobs.length) return null;
  if (holdsStandIn(logprobs)) return null;
  let sum = 0;
  for (const logprob of logprobs) {
    if (logprob === null) return null;
    sum += logprob;
  }
  return sum;
}
