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
