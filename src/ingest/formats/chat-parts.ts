import { jsonText } from '../json-text.ts';
import type { FormatNote } from '../notes.ts';
import { asNameOrNull, asText, type Fields, field, isFields } from './fields.ts';
import { type Call, parsedArguments, type ToolResult } from './messages.ts';
import { tolerant } from './tolerant.ts';
import { failureFlag } from './tool-outcome.ts';

/** What the content of a message holds beside text, in other shapes than OpenAI's and Anthropic's. */
export interface ContentParts {
  readonly calls: readonly Call[];
  readonly results: readonly ToolResult[];
  readonly reasoning: boolean;
  /** A part that is a call by its type, in a shape that is not known. */
  readonly unread: string | undefined;
  /** The parts that are none of these. */
  readonly rest: unknown;
}

const CALL = /^(?:tool|function)[-_]?call$/i;
const RESULT = /^tool-?(?:result|error)$/i;
/** Types that say that a tool was called, whatever the shape. */
const LIKE_CALL = /(?:tool|function).*(?:call|use|invocation)/i;

/**
 * Parts of a content that are calls {type: "tool-call" | "toolCall" | "function_call", toolCallId | call_id | id,
 * toolName | name, input | args | arguments}, results {type: "tool-result", toolCallId, toolName, output: {type, value} |
 * result, isError?}, reasoning {type: "reasoning"}, or Gemini's {functionCall: {name, args}} and {functionResponse:
 * {name, response}}; a content without any is its own rest.
 */
export function contentParts(content: unknown, path: string, notes: FormatNote[]): ContentParts {
  const calls: Call[] = [];
  const results: ToolResult[] = [];
  let reasoning = false;
  let unread: string | undefined;
  if (!Array.isArray(content)) return { calls, results, reasoning, unread, rest: content };
  const rest = content.filter((part, i) => {
    if (!isFields(part)) return true;
    const at = `${path}[${i}]`;
    const given = field(part, 'type');
    const type = typeof given === 'string' ? given : '';
    const called = field(part, 'functionCall');
    const answered = field(part, 'functionResponse');
    if (isFields(called)) calls.push(callOf(called, `${at}.functionCall`, notes));
    else if (isFields(answered)) results.push(resultOf(answered, `${at}.functionResponse`, notes));
    else if (CALL.test(type) && nameField(part) !== undefined) calls.push(callOf(part, at, notes));
    else if (RESULT.test(type)) results.push(resultOf(part, at, notes));
    else if (type === 'reasoning') reasoning = true;
    else {
      if (LIKE_CALL.test(type)) unread ??= `content parts of type ${type}`;
      return true;
    }
    return false;
  });
  return { calls, results, reasoning, unread, rest: rest.length === content.length ? content : rest };
}

function nameField(part: Fields): 'toolName' | 'name' | undefined {
  return (['toolName', 'name'] as const).find((key) => typeof field(part, key) === 'string');
}

function idOf(part: Fields, path: string, notes: FormatNote[]): string | null {
  for (const key of ['toolCallId', 'call_id', 'tool_call_id', 'id']) {
    const id = nameOf(part, key, path, notes);
    if (id !== null) return id;
  }
  return null;
}

function callOf(part: Fields, path: string, notes: FormatNote[]): Call {
  const given = field(part, 'input') ?? field(part, 'args') ?? field(part, 'arguments') ?? null;
  const key = nameField(part) ?? 'name';
  return {
    id: idOf(part, path, notes),
    name: tolerant(notes, `${path}.${key}`, (at) => asText(field(part, key), at)) ?? '',
    arguments: typeof given === 'string' ? parsedArguments(given) : given,
  };
}

function resultOf(part: Fields, path: string, notes: FormatNote[]): ToolResult {
  const names = ['output', 'result', 'response', 'error'];
  const given = names.map((key) => field(part, key) ?? null).find((value) => value !== null) ?? null;
  // {type: "text" | "json" | "error-text" | "error-json" | "content", value}
  const kind = isFields(given) && Object.hasOwn(given, 'value') ? field(given, 'type') : undefined;
  const value = typeof kind === 'string' ? field(given as Fields, 'value') : given;
  const failed =
    field(part, 'type') === 'tool-error' || (typeof kind === 'string' && kind.startsWith('error'));
  return {
    id: idOf(part, path, notes),
    name: nameOf(part, nameField(part) ?? 'name', path, notes),
    text: value === null || value === undefined ? '' : typeof value === 'string' ? value : jsonText(value),
    error: failed ? true : failureFlag(part),
  };
}

function nameOf(part: Fields, key: string, path: string, notes: FormatNote[]): string | null {
  const name = field(part, key);
  return name === '' ? null : tolerant(notes, `${path}.${key}`, (at) => asNameOrNull(name, at));
}
