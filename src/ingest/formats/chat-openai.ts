import { jsonText } from '../json-text.ts';
import { RecordError } from '../log-format.ts';
import type { FormatNote } from '../notes.ts';
import { type ContentParts, contentParts } from './chat-parts.ts';
import {
  asCountOrNull,
  asFields,
  asFieldsOrNull,
  asList,
  asListOrEmpty,
  asNameOrNull,
  asNumberOrNull,
  asText,
  asTextOrNull,
  type Fields,
  field,
  isFields,
} from './fields.ts';
import { type Call, type Message, parsedArguments, plainMessage, type ToolResult } from './messages.ts';
import { tolerant } from './tolerant.ts';
import { failureFlag } from './tool-outcome.ts';

/** Fields of a message that are read, or say nothing that is not read elsewhere. */
export const OPENAI_FIELDS: ReadonlySet<string> = new Set([
  ...['role', 'content', 'tool_calls', 'tool_call_id', 'function_call', 'name', 'refusal', 'message'],
  ...['reasoning', 'reasoning_content', 'usage', 'logprobs', 'action_class', 'behaviour_log_propensity'],
  ...['is_error', 'isError', 'error', 'status', 'toolCallId', 'call_id', 'tool_use_id'],
]);

/**
 * Messages in OpenAI's shape: {role, content: text | parts | null, tool_calls?, tool_call_id?, name?,
 * refusal?, reasoning_content?, usage?, logprobs?, action_class?, behaviour_log_propensity?}; the legacy
 * function_call and role `function`; roles `model` and `ai` for assistant; and a choice {message, logprobs, finish_reason} in place of a
 * message. `developer` counts as system, `ipython` as a tool, a role that is not known as what came in.
 * Fields that nobody needs are left out and noted where they cannot be read. Throws RecordError with the
 * path of a role or a content that cannot.
 */
export function openaiMessages(list: unknown, path: string, notes: FormatNote[]): Message[] {
  return asList(list, path).map((value, i) => openaiMessage(value, `${path}[${i}]`, notes));
}

export function openaiMessage(value: unknown, path: string, notes: FormatNote[]): Message {
  const outer = asFields(value, path);
  const inner = field(outer, 'message');
  const choice = field(outer, 'role') === undefined && isFields(inner);
  const message = choice ? inner : outer;
  const at = choice ? `${path}.message` : path;
  const role = asText(field(message, 'role'), `${at}.role`);
  // Gemini's contents are `parts`.
  const key =
    field(message, 'content') === undefined && Array.isArray(field(message, 'parts')) ? 'parts' : 'content';
  const content = field(message, key);
  const contentPath = `${at}.${key}`;
  const parts = contentParts(content, contentPath, notes);
  if (TOOL_ROLES.has(role) && parts.results.length > 0) {
    return { ...plainMessage('tool'), text: textOfContent(parts.rest, contentPath), results: parts.results };
  }
  if (TOOL_ROLES.has(role)) {
    const result = toolResult(message, resultText(content, contentPath), at, notes);
    return { ...plainMessage('tool'), results: [result] };
  }
  const text = textOfContent(parts.rest, contentPath);
  switch (role) {
    case 'system':
    case 'developer':
      return { ...plainMessage('system'), text };
    case 'assistant':
    case 'model':
    case 'ai': {
      const usage = field(message, 'usage') ?? field(outer, 'usage');
      const logprobs = field(outer, 'logprobs') ?? field(message, 'logprobs');
      return {
        ...plainMessage('assistant'),
        text: text ?? tolerant(notes, `${at}.refusal`, (p) => asTextOrNull(field(message, 'refusal'), p)),
        ...withParts(callsOf(message, at, notes), parts),
        results: parts.results,
        reasoning:
          parts.reasoning || Boolean(field(message, 'reasoning_content') ?? field(message, 'reasoning')),
        tokens: tolerant(notes, `${at}.usage`, (p) => sampledTokens(usage, p)),
        logprobs: tolerant(notes, `${path}.logprobs`, (p) => logprobsOf(logprobs, p)),
        ...declared(message, at, notes),
      };
    }
    default:
      if (role !== 'user') notes.push({ code: 'role-as-input', about: role });
      return { ...plainMessage('user'), text, results: parts.results };
  }
}

/** Calls beside the content, and those within it that are not written a second time. */
function withParts(
  beside: Pick<Message, 'calls' | 'unread'>,
  { calls: within, unread }: ContentParts,
): Pick<Message, 'calls' | 'unread'> {
  // The same call beside the content says what the part in it does not.
  if (unread !== undefined && beside.calls.length === 0) return { calls: [], unread };
  if (within.length === 0) return beside;
  const known = new Set(beside.calls.map((c) => c.id));
  const more = within.filter((c) => (c.id === null ? beside.calls.length === 0 : !known.has(c.id)));
  return { ...beside, calls: [...beside.calls, ...more] };
}

const TOOL_ROLES: ReadonlySet<string> = new Set([
  ...['tool', 'function', 'ipython', 'toolResult', 'tool_result', 'tool_response'],
]);

/** What a log declares of the action beside the message. */
export function declared(message: Fields, path: string, notes: FormatNote[]) {
  return {
    actionClass: tolerant(notes, `${path}.action_class`, (p) =>
      asNameOrNull(field(message, 'action_class'), p),
    ),
    logPropensity: tolerant(notes, `${path}.behaviour_log_propensity`, (p) =>
      asNumberOrNull(field(message, 'behaviour_log_propensity'), p),
    ),
  };
}

/** Text of a content: as it is, or its text parts, one a line; other parts by their type in brackets. */
export function textOfContent(content: unknown, path: string): string | null {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content))
    throw new RecordError(`${path} is neither text nor an array of parts nor null`, path);
  return content.length === 0 ? null : content.map((part, i) => textOfPart(part, `${path}[${i}]`)).join('\n');
}

export function textOfPart(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  const part = asFields(value, path);
  const text = field(part, 'text') ?? field(part, 'refusal');
  return text === undefined || text === null
    ? `[${asText(field(part, 'type'), `${path}.type`)}]`
    : asText(text, `${path}.text`);
}

/** What a tool answered: text as it is, anything else (search results, a program's output) as its JSON. */
export function resultText(content: unknown, path: string): string {
  if (isFields(content)) return typeof content.text === 'string' ? content.text : jsonText(content);
  if (!Array.isArray(content)) return textOfContent(content, path) ?? '';
  return content
    .map((part, i) => {
      const type = isFields(part) ? field(part, 'type') : undefined;
      const shown = typeof type === 'string' && SHOWN.has(type);
      const own =
        typeof part !== 'string' && !shown && !(isFields(part) && typeof field(part, 'text') === 'string');
      return own ? jsonText(part) : textOfPart(part, `${path}[${i}]`);
    })
    .join('\n');
}

/** Parts that are shown by their type: what they hold is no text. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['image', 'document', 'audio', 'image_url', 'input_image', 'input_audio', 'file'],
]);

/** Sampled tokens as `usage` counts them: OpenAI's completion_tokens, Anthropic's output_tokens. */
export function sampledTokens(usage: unknown, path: string): number | null {
  const fields = asFieldsOrNull(usage, path);
  if (fields === null) return null;
  return (
    asCountOrNull(field(fields, 'completion_tokens'), `${path}.completion_tokens`) ??
    asCountOrNull(field(fields, 'output_tokens'), `${path}.output_tokens`)
  );
}

/** The calls; where one cannot be read, none, since the others are not all. */
export function callsOf(
  message: Fields,
  path: string,
  notes: FormatNote[],
): Pick<Message, 'calls' | 'unread'> {
  const calls = tolerant(notes, `${path}.tool_calls`, (at) => {
    const list = asListOrEmpty(field(message, 'tool_calls'), at).map((value, i) =>
      callOf(asFields(value, `${at}[${i}]`), `${at}[${i}]`, notes),
    );
    const legacy = asFieldsOrNull(field(message, 'function_call'), `${path}.function_call`);
    if (legacy !== null) list.push(namedCall(legacy, 'arguments', null, `${path}.function_call`, notes));
    return list;
  });
  return calls === null ? { calls: [], unread: 'tool_calls' } : { calls };
}

function callOf(call: Fields, path: string, notes: FormatNote[]): Call {
  // Where both stand, `id` is that of the item and `call_id` that of the call, which results name.
  const id = firstId(call, CALL_IDS, path, notes) ?? idOf(call, 'id', path, notes);
  // Custom tools write free text under `custom` instead of JSON under `function`.
  if (field(call, 'function') === undefined && field(call, 'custom') !== undefined)
    return namedCall(field(call, 'custom'), 'input', id, `${path}.custom`, notes);
  // Some clients leave out the `function` between.
  if (field(call, 'function') === undefined && typeof field(call, 'name') === 'string')
    return namedCall(call, field(call, 'arguments') === undefined ? 'args' : 'arguments', id, path, notes);
  return namedCall(field(call, 'function'), 'arguments', id, `${path}.function`, notes);
}

/** A call without a readable name is a call all the same: its name is empty. */
function namedCall(
  value: unknown,
  input: string,
  id: string | null,
  path: string,
  notes: FormatNote[],
): Call {
  const called = asFields(value, path);
  const given = field(called, input);
  return {
    id,
    name: tolerant(notes, `${path}.name`, (p) => asText(field(called, 'name'), p)) ?? '',
    arguments: typeof given === 'string' ? parsedArguments(given) : (given ?? null),
  };
}

/** An empty id is none. */
export function idOf(fields: Fields, key: string, path: string, notes: FormatNote[]): string | null {
  const id = field(fields, key);
  return id === '' ? null : tolerant(notes, `${path}.${key}`, (p) => asNameOrNull(id, p));
}

/** Other names, in other clients, of the id that a call and its result share. */
const CALL_IDS = ['tool_call_id', 'toolCallId', 'call_id', 'tool_use_id'];

function firstId(fields: Fields, names: readonly string[], path: string, notes: FormatNote[]): string | null {
  for (const name of names) {
    const id = idOf(fields, name, path, notes);
    if (id !== null) return id;
  }
  return null;
}

function toolResult(message: Fields, text: string, path: string, notes: FormatNote[]): ToolResult {
  return {
    id: firstId(message, CALL_IDS, path, notes),
    // tau2-bench writes the call's id as that of the message; of most clients it is the message's own.
    ownId: idOf(message, 'id', path, []),
    name: idOf(message, 'name', path, notes),
    text,
    error: failureFlag(message),
  };
}

/** A log-probability that is null stays so: the sum over its turn is then not known. */
function logprobsOf(value: unknown, path: string): (number | null)[] | null {
  const logprobs = asFieldsOrNull(value, path);
  const content = logprobs === null ? undefined : field(logprobs, 'content');
  if (content === undefined || content === null) return null;
  return asList(content, `${path}.content`).map((token, i) => {
    const at = `${path}.content[${i}]`;
    return asNumberOrNull(field(asFields(token, at), 'logprob'), `${at}.logprob`);
  });
}
