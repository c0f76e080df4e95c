import { RecordError } from '../log-format.ts';
import { sampledTokens, textOfContent, textOfPart } from './chat-openai.ts';
import { asFields, asList, asText, asTextOrNull, type Fields, field, isFields } from './fields.ts';
import type { Call, Message, ToolResult } from './messages.ts';

/** Blocks that only Anthropic's shape has. */
const OWN_BLOCKS: ReadonlySet<unknown> = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
]);

/** Whether a content holds a block that only Anthropic writes; plain text reads the same in both shapes. */
export function looksAnthropic(messages: readonly unknown[]): boolean {
  return messages.some((message) => {
    const content = isFields(message) ? field(message, 'content') : undefined;
    return (
      Array.isArray(content) &&
      content.some((block) => isFields(block) && OWN_BLOCKS.has(field(block, 'type')))
    );
  });
}

/**
 * Messages in Anthropic's shape: {role: user | assistant | system, content: text | [text, tool_use,
 * tool_result, thinking, image, …], usage?}. A user message holds the tools' answers; `is_error`
 * says whether a call failed. Throws RecordError with the path of the field that is wrong.
 */
export function anthropicMessages(list: unknown, path: string): Message[] {
  return asList(list, path).map((value, i) => anthropicMessage(value, `${path}[${i}]`));
}

function anthropicMessage(value: unknown, path: string): Message {
  const message = asFields(value, path);
  const role = asText(field(message, 'role'), `${path}.role`);
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw new RecordError(`${path}.role is '${role}', expected user, assistant or system`, `${path}.role`);
  if (field(message, 'tool_calls') !== undefined)
    throw new RecordError(`${path}.tool_calls stands beside Anthropic's blocks, expected one shape`, path);
  const tokens = sampledTokens(field(message, 'usage'), `${path}.usage`);
  const content = field(message, 'content');
  if (!Array.isArray(content)) {
    const text = textOfContent(content, `${path}.content`);
    return { role, text, calls: [], results: [], reasoning: false, tokens, logprobs: null };
  }
  const calls: Call[] = [];
  const results: ToolResult[] = [];
  const texts: string[] = [];
  let reasoning = false;
  for (const [i, item] of content.entries()) {
    const at = `${path}.content[${i}]`;
    const type = typeof item === 'string' ? 'text' : asText(field(asFields(item, at), 'type'), `${at}.type`);
    if (type === 'tool_use' && role === 'assistant') calls.push(toolUse(item as Fields, at));
    else if (type === 'tool_result' && role === 'user') results.push(toolResult(item as Fields, at));
    else if (type === 'thinking' || type === 'redacted_thinking') reasoning = true;
    else texts.push(textOfPart(item, at));
  }
  const text = texts.length === 0 ? null : texts.join('\n');
  return { role, text, calls, results, reasoning, tokens, logprobs: null };
}

function toolUse(block: Fields, path: string): Call {
  return {
    id: asTextOrNull(field(block, 'id'), `${path}.id`),
    name: asText(field(block, 'name'), `${path}.name`),
    arguments: field(block, 'input') ?? null,
  };
}

function toolResult(block: Fields, path: string): ToolResult {
  const flag = field(block, 'is_error');
  return {
    id: asTextOrNull(field(block, 'tool_use_id'), `${path}.tool_use_id`),
    name: null,
    text: textOfContent(field(block, 'content'), `${path}.content`) ?? '',
    error: flag === undefined || flag === null ? null : Boolean(flag),
  };
}
