import { RecordError } from '../log-format.ts';
import {
  asCountOrNull,
  asFields,
  asFieldsOrNull,
  asList,
  asListOrEmpty,
  asNumber,
  asText,
  asTextOrNull,
  type Fields,
  field,
  isFields,
} from './fields.ts';
import { type Call, type Message, parsedArguments, type ToolResult } from './messages.ts';

/**
 * Messages in OpenAI's shape: {role, content: text | parts | null, tool_calls?, tool_call_id?, name?,
 * refusal?, reasoning_content?, usage?, logprobs?}; the legacy function_call and role `function`; and
 * a choice {message, logprobs, finish_reason} in place of a message. `developer` counts as system.
 * Throws RecordError with the path of the field that is wrong.
 */
export function openaiMessages(list: unknown, path: string): Message[] {
  return asList(list, path).map((value, i) => openaiMessage(value, `${path}[${i}]`));
}

function openaiMessage(value: unknown, path: string): Message {
  const outer = asFields(value, path);
  const inner = field(outer, 'message');
  const choice = field(outer, 'role') === undefined && isFields(inner);
  const message = choice ? inner : outer;
  const at = choice ? `${path}.message` : path;
  const role = asText(field(message, 'role'), `${at}.role`);
  const content = textOfContent(field(message, 'content'), `${at}.content`);
  const plain = { text: content, calls: [], results: [], reasoning: false, tokens: null, logprobs: null };
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', ...plain };
    case 'user':
      return { role: 'user', ...plain };
    case 'tool':
    case 'function':
      return { role: 'tool', ...plain, text: null, results: [toolResult(message, content ?? '', at)] };
    case 'assistant':
      return {
        role: 'assistant',
        text: content ?? asTextOrNull(field(message, 'refusal'), `${at}.refusal`),
        calls: callsOf(message, at),
        results: [],
        reasoning: Boolean(field(message, 'reasoning_content') ?? field(message, 'reasoning')),
        tokens: sampledTokens(field(message, 'usage') ?? field(outer, 'usage'), `${at}.usage`),
        logprobs: logprobsOf(field(outer, 'logprobs') ?? field(message, 'logprobs'), `${path}.logprobs`),
      };
    default:
      throw new RecordError(
        `${at}.role is '${role}', expected system, developer, user, assistant, tool or function`,
        `${at}.role`,
      );
  }
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

/** Sampled tokens as `usage` counts them: OpenAI's completion_tokens, Anthropic's output_tokens. */
export function sampledTokens(usage: unknown, path: string): number | null {
  const fields = asFieldsOrNull(usage, path);
  if (fields === null) return null;
  return (
    asCountOrNull(field(fields, 'completion_tokens'), `${path}.completion_tokens`) ??
    asCountOrNull(field(fields, 'output_tokens'), `${path}.output_tokens`)
  );
}

function callsOf(message: Fields, path: string): Call[] {
  const calls = asListOrEmpty(field(message, 'tool_calls'), `${path}.tool_calls`).map((value, i) => {
    const at = `${path}.tool_calls[${i}]`;
    const call = asFields(value, at);
    // Custom tools write free text under `custom` instead of JSON under `function`.
    const kind = field(call, 'function') === undefined && field(call, 'custom') !== undefined;
    const id = asTextOrNull(field(call, 'id'), `${at}.id`);
    return kind
      ? namedCall(field(call, 'custom'), 'input', id, `${at}.custom`)
      : namedCall(field(call, 'function'), 'arguments', id, `${at}.function`);
  });
  const legacy = asFieldsOrNull(field(message, 'function_call'), `${path}.function_call`);
  if (legacy !== null) calls.push(namedCall(legacy, 'arguments', null, `${path}.function_call`));
  return calls;
}

function namedCall(value: unknown, input: string, id: string | null, path: string): Call {
  const called = asFields(value, path);
  const given = field(called, input);
  return {
    id,
    name: asText(field(called, 'name'), `${path}.name`),
    arguments: typeof given === 'string' ? parsedArguments(given) : (given ?? null),
  };
}

/** `is_error` or `error` on the message is the log's own word; any text or object under `error` is one. */
function toolResult(message: Fields, text: string, path: string): ToolResult {
  const flag = field(message, 'is_error') ?? field(message, 'error');
  return {
    id: asTextOrNull(field(message, 'tool_call_id'), `${path}.tool_call_id`),
    name: asTextOrNull(field(message, 'name'), `${path}.name`),
    text,
    error: flag === undefined || flag === null ? null : Boolean(flag),
  };
}

function logprobsOf(value: unknown, path: string): number[] | null {
  const logprobs = asFieldsOrNull(value, path);
  const content = logprobs === null ? undefined : field(logprobs, 'content');
  if (content === undefined || content === null) return null;
  return asList(content, `${path}.content`).map((token, i) => {
    const at = `${path}.content[${i}]`;
    return asNumber(field(asFields(token, at), 'logprob'), `${at}.logprob`);
  });
}
