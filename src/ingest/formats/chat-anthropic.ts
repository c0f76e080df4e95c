import type { FormatNote } from '../notes.ts';
import {
  callsOf,
  declared,
  idOf,
  openaiMessage,
  resultText,
  sampledTokens,
  textOfContent,
  textOfPart,
} from './chat-openai.ts';
import { asFields, asList, asText, type Fields, field, isFields } from './fields.ts';
import { type Call, type Message, plainMessage, type ToolResult } from './messages.ts';
import { tolerant } from './tolerant.ts';
import { failureFlag } from './tool-outcome.ts';

/** Blocks that only Anthropic's shape has: tool_use, server_tool_use, mcp_tool_use and their results. */
const OWN_BLOCK = /^(?:(?:\w+_)?tool_(?:use|result)|(?:redacted_)?thinking)$/;

/** Fields of a message that are read, or say nothing that is not read elsewhere. */
export const ANTHROPIC_FIELDS: ReadonlySet<string> = new Set([
  ...['role', 'content', 'usage', 'tool_calls', 'function_call', 'type', 'id'],
  ...['tool_call_id', 'name', 'action_class', 'behaviour_log_propensity'],
]);

/** Whether a content holds a block that only Anthropic writes; plain text reads the same in both shapes. */
export function looksAnthropic(messages: readonly unknown[]): boolean {
  return messages.some((message) => {
    const content = isFields(message) ? field(message, 'content') : undefined;
    return (
      Array.isArray(content) && content.some((block) => isFields(block) && OWN_BLOCK.test(typeOf(block)))
    );
  });
}

/**
 * Messages in Anthropic's shape: {role: user | assistant | system, content: text | [text, tool_use,
 * tool_result, thinking, image, …], usage?}. A user message holds the tools' answers; an assistant
 * message holds calls of the server's own tools (server_tool_use, mcp_tool_use) with their answers.
 * `is_error` says whether a call failed; absent, it is false. A message of another shape among them (a
 * role `tool`, `tool_calls`) is read as what it is. Throws RecordError with the path of a role or a content
 * that cannot be read.
 */
export function anthropicMessages(list: unknown, path: string, notes: FormatNote[]): Message[] {
  return asList(list, path).map((value, i) => anthropicMessage(value, `${path}[${i}]`, notes));
}

function anthropicMessage(value: unknown, path: string, notes: FormatNote[]): Message {
  const message = asFields(value, path);
  const role = asText(field(message, 'role'), `${path}.role`);
  const content = field(message, 'content');
  if (role !== 'assistant' && (role !== 'user' || !Array.isArray(content)))
    return openaiMessage(value, path, notes);
  const calls: Call[] = [];
  const results: ToolResult[] = [];
  const texts: string[] = [];
  let reasoning = false;
  const blocks = Array.isArray(content) ? content : [textOfContent(content, `${path}.content`) ?? []].flat();
  for (const [i, item] of blocks.entries()) {
    const at = `${path}.content[${i}]`;
    const block = typeof item === 'string' ? null : asFields(item, at);
    const type = block === null ? 'text' : typeOf(block);
    if (block !== null && /^(?:\w+_)?tool_use$/.test(type)) calls.push(toolUse(block, at, notes));
    else if (block !== null && /^(?:\w+_)?tool_result$/.test(type))
      results.push(toolResult(block, at, notes));
    else if (type === 'thinking' || type === 'redacted_thinking') reasoning = true;
    else texts.push(textOfPart(item, at));
  }
  const text = texts.length === 0 ? null : texts.join('\n');
  if (role === 'user') return { ...plainMessage('user'), text, results };
  // Some clients write the same calls a second time, in OpenAI's shape.
  const beside = callsOf(message, path, notes);
  const known = new Set(calls.map((c) => c.id));
  return {
    ...plainMessage('assistant'),
    ...beside,
    text,
    calls: [...calls, ...beside.calls.filter((c) => (c.id === null ? calls.length === 0 : !known.has(c.id)))],
    results,
    reasoning,
    tokens: tolerant(notes, `${path}.usage`, (p) => sampledTokens(field(message, 'usage'), p)),
    ...declared(message, path, notes),
  };
}

function typeOf(block: Fields): string {
  const type = field(block, 'type');
  return typeof type === 'string' ? type : '';
}

function toolUse(block: Fields, path: string, notes: FormatNote[]): Call {
  return {
    id: idOf(block, 'id', path, notes),
    name: tolerant(notes, `${path}.name`, (p) => asText(field(block, 'name'), p)) ?? '',
    arguments: field(block, 'input') ?? null,
  };
}

function toolResult(block: Fields, path: string, notes: FormatNote[]): ToolResult {
  const content = field(block, 'content');
  // {type: "web_search_tool_result_error", error_code}: a server's tool says so in place of its results.
  const refused = isFields(content) && typeOf(content).endsWith('_error');
  return {
    id: idOf(block, 'tool_use_id', path, notes),
    name: null,
    text: resultText(content, `${path}.content`),
    error: failureFlag(block) ?? (refused ? true : null),
    worksUnlessSaid: true,
  };
}
