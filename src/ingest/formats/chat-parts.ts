import { jsonText } from '../json-text.ts';
import type { FormatNote } from '../notes.ts';
import { asNameOrNull, asText, type Fields, field, isFields } from './fields.ts';
import { type Call, parsedArguments, type ToolResult } from './messages.ts';
import { tolerant } from './tolerant.ts';
import { failureFlag } from './tool-outcome.ts';

/** What the content of a message holds beside text, in the shape of the AI SDK. */
export interface ContentParts {
  readonly calls: readonly Call[];
  readonly results: readonly ToolResult[];
  readonly reasoning: boolean;
  /** The parts that are none of these. */
  readonly rest: unknown;
}

/**
 * Parts of a content that are calls {type: "tool-call", toolCallId, toolName, input | args}, results
 * {type: "tool-result", toolCallId, toolName, output: {type, value} | result, isError?} and reasoning
 * {type: "reasoning"}; a content without any is its own rest.
 */
export function contentParts(content: unknown, path: string, notes: FormatNote[]): ContentParts {
  const calls: Call[] = [];
  const results: ToolResult[] = [];
  let reasoning = false;
  if (!Array.isArray(content)) return { calls, results, reasoning, rest: content };
  const rest = content.filter((part, i) => {
    const type = isFields(part) ? field(part, 'type') : undefined;
    const at = `${path}[${i}]`;
    if (type === 'tool-call') calls.push(callOf(part, at, notes));
    else if (type === 'tool-result' || type === 'tool-error') results.push(resultOf(part, at, notes));
    else if (type === 'reasoning') reasoning = true;
    else return true;
    return false;
  });
  return { calls, results, reasoning, rest: rest.length === content.length ? content : rest };
}

function callOf(part: Fields, path: string, notes: FormatNote[]): Call {
  const given = field(part, 'input') ?? field(part, 'args') ?? null;
  return {
    id: nameOf(part, 'toolCallId', path, notes),
    name: tolerant(notes, `${path}.toolName`, (at) => asText(field(part, 'toolName'), at)) ?? '',
    arguments: typeof given === 'string' ? parsedArguments(given) : given,
  };
}

function resultOf(part: Fields, path: string, notes: FormatNote[]): ToolResult {
  const given = field(part, 'output') ?? field(part, 'result') ?? field(part, 'error') ?? null;
  // {type: "text" | "json" | "error-text" | "error-json" | "content", value}
  const kind = isFields(given) && Object.hasOwn(given, 'value') ? field(given, 'type') : undefined;
  const value = typeof kind === 'string' ? field(given as Fields, 'value') : given;
  const failed =
    field(part, 'type') === 'tool-error' || (typeof kind === 'string' && kind.startsWith('error'));
  return {
    id: nameOf(part, 'toolCallId', path, notes),
    name: nameOf(part, 'toolName', path, notes),
    text: value === null || value === undefined ? '' : typeof value === 'string' ? value : jsonText(value),
    error: failed ? true : failureFlag(part),
  };
}

function nameOf(part: Fields, key: string, path: string, notes: FormatNote[]): string | null {
  const name = field(part, key);
  return name === '' ? null : tolerant(notes, `${path}.${key}`, (at) => asNameOrNull(name, at));
}
