import { expect, test } from 'vitest';
import { chat } from '../../../src/ingest/formats/chat.ts';
import { contextOf, episodesOf } from './context.ts';

const read = async (messages: readonly object[]) =>
  (await episodesOf(chat, { id: 'c', messages }, contextOf('talk.jsonl')))[0]!.episode;
const call = (toolCallId: string, more: object) => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'f',
  ...more,
});
const result = (toolCallId: string, more: object) => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'f',
  ...more,
});

test('calls and results within contents: each result goes to its call, reasoning is no action', async () => {
  const episode = await read([
    { role: 'user', content: [{ type: 'text', text: 'q' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'both' },
        call('a', { input: { n: 1 } }),
        call('b', { args: '{"n":2}' }),
      ],
    },
    {
      role: 'tool',
      content: [
        result('b', { output: { type: 'error-text', value: 'no' } }),
        result('a', { output: { type: 'json', value: { m: 1 } } }),
      ],
    },
    { role: 'assistant', content: 'done' },
  ]);
  expect(episode.turns.map((t) => [t.observation, t.action])).toEqual([
    ['q', 'both'],
    ['no\n\n{"m":1}', 'done'],
  ]);
  expect(episode.turns[0]!.tool_calls).toEqual([
    { name: 'f', arguments: { n: 1 }, result: '{"m":1}', error: null },
    { name: 'f', arguments: { n: 2 }, result: 'no', error: true },
  ]);
  expect(episode.meta).toEqual({ reasoning_turns: 1 });
});

test.each([
  ['a result as it is', { result: 'fine' }, 'fine', null],
  ['a result that is an object', { result: { value: 7, ok: 1 } }, '{"value":7,"ok":1}', null],
  ['isError', { result: 'fine', isError: true }, 'fine', true],
  ['no result', {}, '', null],
  ['a tool that threw', { type: 'tool-error', error: 'boom' }, 'boom', true],
])('%s', async (_, part, text, error) => {
  const { turns } = await read([
    { role: 'assistant', content: [call('a', { input: {} })] },
    { role: 'tool', content: [result('a', part)] },
  ]);
  expect(turns).toMatchObject([{ action: null, tool_calls: [{ result: text, error }] }]);
});

test('a call that stands beside the content too is one', async () => {
  const { turns } = await read([
    {
      role: 'assistant',
      content: [call('a', { input: {} })],
      tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
    },
  ]);
  expect(turns[0]!.tool_calls).toHaveLength(1);
});

test('contents as parts, with Gemini\u2019s calls and responses', async () => {
  const { turns } = await read([
    { role: 'user', parts: [{ text: 'q' }] },
    { role: 'model', parts: [{ text: 'I look' }, { functionCall: { name: 'f', args: { n: 1 } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: { error: 'gone' } } }] },
    { role: 'model', parts: [{ text: 'done' }] },
  ]);
  expect(turns).toMatchObject([
    {
      observation: 'q',
      action: 'I look',
      tool_calls: [{ name: 'f', arguments: { n: 1 }, result: '{"error":"gone"}', error: true }],
    },
    { observation: '{"error":"gone"}', action: 'done', tool_calls: [] },
  ]);
});

test.each([
  ['toolCall', { id: 'x', name: 'f', arguments: { n: 1 } }],
  ['function_call', { call_id: 'x', id: 'fc_1', name: 'f', arguments: '{"n":1}' }],
  ['tool_call', { toolCallId: 'x', toolName: 'f', args: { n: 1 } }],
])('a part of type %s is a call', async (type, part) => {
  const { turns } = await read([
    { role: 'assistant', content: [{ type, ...part }] },
    { role: 'toolResult', toolCallId: 'x', content: [{ type: 'text', text: 'r' }], isError: true },
  ]);
  const call = { name: 'f', arguments: { n: 1 }, result: 'r', error: true };
  expect(turns).toMatchObject([{ action: null, tool_calls: [call] }]);
});

test.each(['toolCall', 'tool-invocation', 'mcp_function_use_block'])(
  'of a part of type %s in an unknown shape the calls are not known, and the type is named',
  async (type) => {
    const messages = [
      { role: 'assistant', content: [{ type, body: 1 }] },
      { role: 'tool', content: 'r' },
      { role: 'assistant', content: 'done' },
    ];
    const [found] = await chat.read({ id: 'c', messages }, contextOf('talk.jsonl'));
    expect(found!.episode.turns).toMatchObject([{ tool_calls: null }, { tool_calls: [] }]);
    expect(found!.notes).toEqual([
      { code: 'calls-unread', about: `content parts of type ${type}`, count: 1 },
    ]);
  },
);
