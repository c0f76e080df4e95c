import { runsFencedCommands, withFencedCommands } from './fenced-commands.ts';
import type { Call, Message, ToolResult } from './messages.ts';
import { parsedArguments } from './messages.ts';
import { printedFields, printedValue } from './printed-value.ts';

/** What a text says of the calls in it; `calls` null: it has the shape, and they cannot be read. */
interface TextCalls {
  readonly shape: string;
  readonly calls: readonly Call[] | null;
}

/**
 * Calls and results that a log writes as text, made into calls and results; the texts stay as they are.
 *
 * - `Action: {"name", "arguments"}` at the end, answered by `API output: …`: tau-bench's text agents. The
 *   action `respond` is what the agent says, and no call; so is an action that is no JSON, which tau-bench
 *   hands to the user as it stands.
 * - `Action: NAME` and `Action Input: …`, answered by `Observation: …`: ReAct.
 * - `<tool_call>{"name", "arguments"}</tool_call>`, or <function=NAME><parameter=KEY>…, answered by
 *   `<tool_response>…</tool_response>` in any message: Hermes, Qwen.
 * - A command in a fenced block, answered by `<returncode>N</returncode>`: mini-swe-agent (fenced-commands.ts).
 * - Other shapes are told by their marks only; `unread` of the message then names the shape.
 *
 * A conversation that holds calls outside its texts is left alone: there a mark is something quoted.
 */
export function withTextCalls(messages: readonly Message[]): readonly Message[] {
  if (messages.some((m) => m.calls.length > 0 || m.unread !== undefined)) return messages;
  if (runsFencedCommands(messages)) return withFencedCommands(messages);
  const apiOutput = messages.some((m) => m.role === 'user' && isApiOutput(m.text));
  /** Whether the last turn made calls: without any, a mark in what came in is something quoted. */
  let called = false;
  return messages.map((message, i) => {
    if (message.role !== 'assistant') return called ? withTextResults(message) : message;
    const read = withCalls(message, apiOutput && !isApiOutput(messages[i + 1]?.text ?? null));
    called = read.calls.length > 0;
    return read;
  });
}

/** `toUser`: what is no action was handed to the user. */
function withCalls(message: Message, toUser: boolean): Message {
  const found = message.text === null ? undefined : textCalls(message.text);
  if (found === undefined) return message;
  if (found.calls !== null) return { ...message, calls: found.calls };
  return found.shape === ACTION && toUser ? message : { ...message, unread: found.shape };
}

const ACTION = 'Action: {json}';

function textCalls(text: string): TextCalls | undefined {
  if (text.includes('<tool_call>')) return { shape: '<tool_call>', calls: markedCalls(text) };
  const shape = SHAPES.find(({ mark }) => mark.test(text))?.shape;
  if (shape !== undefined) return { shape, calls: null };
  const at = text.lastIndexOf('Action:');
  if (at < 0 || !/(?:^|[\n*#>])[ \t]*$/.test(text.slice(Math.max(0, at - 20), at))) return reactCall(text);
  const action = unfenced(text.slice(at + 'Action:'.length).replace(/^\**/, ''));
  if (!action.startsWith('{')) return reactCall(text);
  const call = jsonCall(action);
  if (call === null) return { shape: ACTION, calls: null };
  return { shape: ACTION, calls: call.name === 'respond' ? [] : [call] };
}

/** Marks of calls whose inside is not read here. */
const SHAPES: readonly { readonly shape: string; readonly mark: RegExp }[] = [
  { shape: '<function_calls>', mark: /<(?:antml:)?function_calls>|<(?:antml:)?invoke name=/ },
  { shape: '<function=NAME>', mark: /<function=[\w.-]+>/ },
  { shape: '[TOOL_CALLS]', mark: /\[TOOL_CALLS\]/ },
  { shape: '<|python_tag|>', mark: /<\|python_tag\|>/ },
  { shape: '<|tool_call|>', mark: /<\|tool_calls?(?:_section)?(?:_begin)?\|>/ },
  { shape: '<｜tool▁calls▁begin｜>', mark: /<｜tool▁calls?▁begin｜>/ },
  { shape: '<tool_use>', mark: /<tool_use>/ },
  { shape: '```tool_code', mark: /```tool_(?:code|call)\b/ },
  { shape: '<execute_…>', mark: /<execute_(?:bash|ipython|browse)>/ },
];

/** Every <tool_call>; null where one cannot be read. The last may lack its end. */
function markedCalls(text: string): Call[] | null {
  const calls: Call[] = [];
  for (const part of text.split('<tool_call>').slice(1)) {
    const inside = part.split('</tool_call>', 1)[0]!.trim();
    const call = inside.startsWith('<function=') ? taggedCall(inside) : jsonCall(inside);
    if (call === null) return null;
    calls.push(call);
  }
  return calls;
}

/** {"name": …, "arguments" | "parameters" | "kwargs": …}; the arguments may be JSON in a text. */
function jsonCall(text: string): Call | null {
  const call = parsedArguments(text);
  if (typeof call !== 'object' || call === null || Array.isArray(call)) return null;
  const name = (call as Record<string, unknown>).name;
  if (typeof name !== 'string' || name === '') return null;
  const { arguments: a, parameters, kwargs, id } = call as Record<string, unknown>;
  const given = a ?? parameters ?? kwargs ?? null;
  return {
    id: typeof id === 'string' && id !== '' ? id : null,
    name,
    arguments: typeof given === 'string' ? parsedArguments(given) : given,
  };
}

/** <function=NAME><parameter=KEY>value</parameter>…</function>: values are text. */
function taggedCall(text: string): Call | null {
  const name = /^<function=([^>\s]+)>/.exec(text)?.[1];
  if (name === undefined) return null;
  const values = text.split('<parameter=').slice(1);
  const given: [string, string][] = [];
  for (const value of values) {
    const end = value.indexOf('>');
    if (end < 0) return null;
    const inside = value.slice(end + 1).split('</parameter>', 1)[0]!;
    given.push([value.slice(0, end), inside.replace(/^\n/, '').replace(/\n$/, '')]);
  }
  return { id: null, name, arguments: Object.fromEntries(given) };
}

/** ReAct; a text that also holds the observation was not written by the model alone. */
function reactCall(text: string): TextCalls | undefined {
  const found = /(?:^|\n)[ \t]*Action:([^\n]*)\n+[ \t]*Action Input:/g;
  const matches = [...text.matchAll(found)];
  const match = matches.at(-1);
  if (match === undefined) return undefined;
  const shape = 'Action: NAME, Action Input: …';
  if (matches.length > 1 || /\n[ \t]*Observation:/.test(text)) return { shape, calls: null };
  const given = unfenced(text.slice(match.index + match[0].length));
  return { shape, calls: [{ id: null, name: match[1]!.trim(), arguments: parsedArguments(given) }] };
}

function unfenced(text: string): string {
  const inside = text.trim().replace(/^```(?:json)?/, '');
  return (inside.endsWith('```') ? inside.slice(0, -3) : inside).trim();
}

function isApiOutput(text: string | null): boolean {
  return text?.startsWith('API output:') ?? false;
}

/** The answers in a message of the user's or a tool's; what is observed stays the text as it was. */
function withTextResults(message: Message): Message {
  if (message.results.length > 0)
    return { ...message, results: message.results.flatMap((r) => splitResponses(r) ?? [r]) };
  const { text } = message;
  if (text === null || message.role === 'system') return message;
  const results = textResults(text);
  return results.length === 0 ? message : { ...message, results };
}

function textResults(text: string): ToolResult[] {
  const marked = responses(text);
  if (marked.length > 0) return marked;
  const prefix = /^\s*(?:API output:|Observation:)[ \t]?/.exec(text)?.[0];
  if (prefix === undefined) return [];
  return [{ id: null, name: null, text: text.slice(prefix.length), error: null, observed: false }];
}

/** A tool's message may hold the marks too: what is judged is what stands between them. */
function splitResponses(result: ToolResult): ToolResult[] | undefined {
  const found = responses(result.text);
  if (found.length === 0) return undefined;
  const whole: ToolResult = { ...result, text: found.map((r) => r.text).join('\n\n') };
  return found.length === 1 || result.id !== null
    ? [{ ...whole, name: result.name ?? found[0]!.name, observedAs: result.text }]
    : found.map((r, i) => ({ ...r, observed: i === 0, observedAs: result.text }));
}

function responses(text: string): ToolResult[] {
  if (!text.includes('<tool_response>')) return [];
  return text
    .split('<tool_response>')
    .slice(1)
    .map((part) => response(part.split('</tool_response>', 1)[0]!.trim()));
}

/** Hermes wraps a result as {"name": …, "content": …}. */
function response(text: string): ToolResult {
  const plain: ToolResult = { id: null, name: null, text, error: null, observed: false };
  const printed = text.startsWith('{') ? printedValue(text) : undefined;
  if (printed?.kind !== 'object') return plain;
  let { id, name } = plain;
  let content: string | undefined;
  for (const [key, value, from] of printedFields(text, printed)) {
    if (key === 'content') content = value.kind === 'text' ? value.text : text.slice(from, value.end);
    else if (key === 'name' && value.kind === 'text') name = value.text;
    else if (key === 'tool_call_id' && value.kind === 'text') id = value.text || null;
    else return plain;
  }
  return content === undefined ? plain : { ...plain, id, name, text: content.trimEnd() };
}
