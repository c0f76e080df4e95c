import { parseExact } from '../../json/exact-json.ts';
import type { EpisodeInput } from '../../schema/episode.ts';

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
  /** Log-probabilities of the sampled tokens, where the log has them. */
  readonly logprobs: readonly number[] | null;
}

export interface Call {
  readonly id: string | null;
  readonly name: string;
  /** Parsed where it parses, else the text the model wrote. */
  readonly arguments: unknown;
}

export interface ToolResult {
  readonly id: string | null;
  readonly name: string | null;
  readonly text: string;
  /** What the log says; null: nothing. */
  readonly error: boolean | null;
}

export interface ChatTurns {
  readonly turns: TurnInput[];
  /** What came in after the last assistant message: nobody acted on it. */
  readonly finalObservation: string | null;
  /** Turns with reasoning beside the text: it is not part of the action. */
  readonly reasoningTurns: number;
  /** Turns whose log-probabilities do not cover the sampled tokens: none is kept. */
  readonly partialLogprobTurns: number;
}

type OpenCall = { -readonly [K in keyof CallInput]: CallInput[K] } & { id: string | null };

/**
 * One assistant message = one turn. Its observation is what came in since the previous assistant
 * message, joined by blank lines: system prompt and first user message before turn 0, tool results
 * and user messages after. Its action is its text; reasoning is left out and counted.
 *
 * A result belongs to the latest call of its id; without an id, to the first unanswered call of the
 * last turn (of the same name, if it names one). One that belongs to no call is still observed.
 *
 * Σ log b is kept only where the log-probabilities are known to cover the whole action: as many as
 * sampled tokens; without a count, only for a turn without tool calls (their tokens may be left out).
 *
 * `failed` decides whether a call failed from what its tool answered.
 */
export function turnsOfMessages(
  messages: readonly Message[],
  failed: (result: ToolResult) => boolean | null,
): ChatTurns {
  const turns: TurnInput[] = [];
  const byId = new Map<string, OpenCall>();
  let open: OpenCall[] = []; // calls of the last turn that no result has answered
  let observed: string[] = [];
  let reasoningTurns = 0;
  let partialLogprobTurns = 0;

  for (const message of messages) {
    if (message.role !== 'assistant') {
      for (const result of message.results) {
        answer(result, byId, open, failed);
        if (result.text !== '') observed.push(result.text);
      }
      if (message.text !== null && message.text !== '') observed.push(message.text);
      continue;
    }
    const calls = message.calls.map((call): OpenCall => ({ ...call, result: null, error: null }));
    for (const call of calls) if (call.id !== null) byId.set(call.id, call);
    open = [...calls];
    const logprob = coveredLogprob(message);
    if (message.reasoning) reasoningTurns++;
    if (message.logprobs !== null && logprob === null) partialLogprobTurns++;
    turns.push({
      observation: observed.length === 0 ? null : observed.join('\n\n'),
      action: message.text,
      tool_calls: calls as CallInput[],
      behaviour_logprob: logprob,
      n_action_tokens: message.tokens ?? (logprob === null ? null : message.logprobs!.length),
    });
    observed = [];
  }
  for (const turn of turns) for (const call of turn.tool_calls as Partial<OpenCall>[]) delete call.id;
  return {
    turns,
    finalObservation: observed.length === 0 ? null : observed.join('\n\n'),
    reasoningTurns,
    partialLogprobTurns,
  };
}

/** What a tool said of itself; null where it said nothing: silence is not success. */
export function saysItFailed(result: ToolResult): boolean | null {
  if (result.error !== null) return result.error;
  if (/^\s*error(?![-\w])/i.test(result.text)) return true;
  if (!/^\s*\{/.test(result.text) || !result.text.includes('"error"')) return null;
  try {
    const parsed: unknown = JSON.parse(result.text);
    const error = Object.getOwnPropertyDescriptor(parsed, 'error');
    return error === undefined ? null : Boolean(error.value);
  } catch {
    return null;
  }
}

/** Arguments as an object where the text is JSON that can be stored, else the text itself. */
export function parsedArguments(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

function answer(
  result: ToolResult,
  byId: ReadonlyMap<string, OpenCall>,
  open: OpenCall[],
  failed: (result: ToolResult) => boolean | null,
): void {
  const call =
    result.id !== null
      ? byId.get(result.id)
      : open.find((c) => result.name === null || c.name === result.name);
  if (call === undefined) return;
  const error = failed(result);
  call.result = call.result == null ? result.text : `${call.result}\n\n${result.text}`;
  call.error = call.error === true || error === true ? true : (error ?? call.error ?? null);
  const at = open.indexOf(call);
  if (at >= 0) open.splice(at, 1);
}

function coveredLogprob(message: Message): number | null {
  const { logprobs, tokens, calls } = message;
  if (logprobs === null) return null;
  if (tokens === null ? calls.length > 0 : tokens !== logprobs.length) return null;
  let sum = 0;
  for (const logprob of logprobs) sum += logprob;
  return sum;
}
