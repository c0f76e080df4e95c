import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chat } from '../../../src/ingest/formats/chat.ts';
import { contextOf, episodesOf, fixtures, readLines, shared } from './context.ts';

const openai = join(fixtures, 'chat-openai.jsonl');
const anthropic = join(fixtures, 'chat-anthropic.jsonl');
const read = async (record: unknown, path = 'talk.jsonl', ordinal = 0) =>
  (await episodesOf(chat, record, contextOf(path, ordinal)))[0]!;
const withMessages = async (messages: unknown[], columns = {}) =>
  (await read({ messages, ...columns })).episode;

describe.each([
  ['OpenAI', openai, '[image_url]', null],
  // Anthropic's is_error is false where it is absent; in OpenAI's shape nothing marks a success.
  ['Anthropic', anthropic, '[image]', false],
])('%s', (_shape, path, image, worked) => {
  const records = readLines(path);

  test('the same conversation in both shapes gives the same turns', async () => {
    const { episode } = await read(records[0], path);
    expect(episode.turns.map((t) => [t.observation, t.action])).toEqual([
      [`Be brief.\n\nWhat is in\n${image}\nthis picture?`, 'I look.'],
      ['no zoom\n\na cat', 'A cat.'],
    ]);
    expect(episode.turns.map((t) => t.tool_calls)).toEqual([
      [
        { name: 'look', arguments: { at: 'picture' }, result: 'a cat', error: worked },
        { name: 'zoom', arguments: {}, result: 'no zoom', error: true },
      ],
      [],
    ]);
    expect(episode.turns[0]!.n_action_tokens).toBe(12);
  });

  test('columns beside the messages', async () => {
    const { episode } = await read(records[0], path);
    expect(episode).toMatchObject({
      episode_id: 'run-1',
      task_id: '17',
      trial: 2,
      policy: 'm-1',
      reward: 0.75,
      rewards: { right: { score: 1, weight: 0.5 }, short: { score: 0.25, weight: 1 } },
      meta: { seed: 5 },
    });
    expect(episode.ending).toBeUndefined();
  });

  test('no id: named by file and line; no reward: null, and the ending is left open', async () => {
    const { episode } = await read(records[1], path, 1);
    const name = path === openai ? 'chat-openai' : 'chat-anthropic';
    expect(episode).toMatchObject({ episode_id: `${name}#2`, reward: null, task_id: null, meta: null });
    expect(episode.ending).toBeUndefined();
    expect(episode.turns).toMatchObject([{ observation: 'Hello', action: 'Hi.' }]);
  });
});

test('Σ log b where the log-probabilities cover the sampled tokens', async () => {
  const { episode, fenced } = await read(readLines(openai)[0]);
  expect(episode.turns[1]).toMatchObject({
    behaviour_logprob: -0.875,
    n_action_tokens: 3,
    logprob_kind: null,
  });
  expect(episode.turns[0]!.behaviour_logprob).toBeNull();
  expect(episode.meta).toEqual({ seed: 5, split: 'train', tools: ['look', 'zoom'] });
  expect(fenced).toEqual({ answer: 'cat' });
});

test('log-probabilities that do not cover the action give no sum, and are counted', async () => {
  const logprobs = { content: [{ logprob: -1 }, { logprob: -2 }] };
  const call = { function: { name: 'f', arguments: '' } };
  const episode = await withMessages([
    { role: 'assistant', content: 'ab', logprobs, usage: { completion_tokens: 3 } },
    { role: 'assistant', content: 'ab', logprobs, tool_calls: [call] },
    { role: 'assistant', content: 'ab', logprobs },
    { message: { role: 'assistant', content: 'ab' }, logprobs, usage: { completion_tokens: 2 } },
    { role: 'assistant', content: 'ab', logprobs: { content: null } },
  ]);
  expect(episode.turns.map((t) => t.behaviour_logprob)).toEqual([null, null, -3, -3, null]);
  expect(episode.turns.map((t) => t.n_action_tokens)).toEqual([3, null, 2, 2, null]);
  expect(episode.meta).toEqual({ partial_logprob_turns: 2 });
});

test('reasoning is not the action, and is counted', async () => {
  expect((await read(readLines(anthropic)[0])).episode.meta).toMatchObject({ reasoning_turns: 1 });
  const episode = await withMessages([{ role: 'assistant', content: 'yes', reasoning_content: 'hm' }]);
  expect(episode.turns[0]!.action).toBe('yes');
  expect(episode.meta).toEqual({ reasoning_turns: 1 });
});

test.each([
  [{ content: 'Error: no' }, true],
  [{ content: 'error' }, true],
  [{ content: 'Errors: none' }, null],
  [{ content: 'error-free' }, null],
  [{ content: '{"error": "no"}' }, true],
  [{ content: '{"error": null, "ok": 1}' }, false],
  [{ content: '{"text": "an \\"error\\""}' }, null],
  [{ content: 'fine' }, null],
  [{ content: 'fine', error: { code: 5 } }, true],
  [{ content: 'Error: quoted', is_error: false }, false],
  [{ content: null }, null],
])('a tool that answers %j failed: %j', async (answer, error) => {
  const episode = await withMessages([
    { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', ...answer },
  ]);
  expect(episode.turns[0]!.tool_calls![0]!.error).toBe(error);
});

test('a result without an id answers the first open call of its name; an unknown id answers none', async () => {
  const call = (name: string, id?: string) => ({ id, function: { name, arguments: '{}' } });
  const episode = await withMessages([
    { role: 'assistant', tool_calls: [call('f'), call('g'), call('f'), call('h', 'h1')] },
    { role: 'function', name: 'g', content: 'g1' },
    { role: 'tool', name: 'f', content: 'f1' },
    { role: 'tool', name: 'f', content: 'f2' },
    { role: 'tool', tool_call_id: 'zzz', content: 'lost' },
    { role: 'assistant', function_call: { name: 'old', arguments: '{"a":1}' } },
    { role: 'function', name: 'old', content: 'o1' },
    { role: 'tool', tool_call_id: 'h1', content: 'late' },
  ]);
  expect(episode.turns.map((t) => t.tool_calls!.map((c) => c.result))).toEqual([
    ['f1', 'g1', 'f2', 'late'],
    ['o1'],
  ]);
  expect(episode.turns[1]!.observation).toBe('g1\n\nf1\n\nf2\n\nlost');
  expect(episode.turns[1]!.tool_calls![0]!.arguments).toEqual({ a: 1 });
  expect(episode.meta).toEqual({ orphaned_results: 1, final_observation: 'o1\n\nlate' });
});

test('an id used again belongs to the latest call', async () => {
  const turn = {
    role: 'assistant',
    tool_calls: [{ id: 'call_0', function: { name: 'f', arguments: '{}' } }],
  };
  const result = (content: string) => ({ role: 'tool', tool_call_id: 'call_0', content });
  const episode = await withMessages([turn, result('one'), turn, result('two')]);
  expect(episode.turns.map((t) => t.tool_calls![0]!.result)).toEqual(['one', 'two']);
});

test('rewards without a reward: their weighted sum is the reward', async () => {
  const rewards = { right: { score: 1, weight: 0.5 }, short: { score: 0.25, weight: -1 }, base: 2 };
  expect((await withMessages([], { rewards })).reward).toBe(2.25);
  expect((await withMessages([], { rewards, reward: 0 })).reward).toBe(0);
});

test('a key named __proto__ changes nothing', async () => {
  const record = JSON.parse(
    '{"messages":[{"role":"assistant","content":"x","__proto__":{"tool_calls":"bad"}}],' +
      '"__proto__":{"reward":5,"polluted":1},"metadata":{"__proto__":{"polluted":1}},"rewards":{"__proto__":1}}',
  );
  const { episode } = await read(record);
  expect(episode.episode_id).toBe('talk#1');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect((episode as Record<string, unknown>).polluted).toBeUndefined();
});

const tinker = join(shared, 'logs/chat/tinker_conversations.jsonl');
// Counted from the file by a separate script: 128 conversations of one assistant message, 25 with a system prompt.
test.skipIf(!existsSync(tinker))('plain conversations (skipped: ../shared is not here)', async () => {
  const lines = readLines(tinker);
  const episodes = await Promise.all(lines.map(async (line, i) => (await read(line, tinker, i)).episode));
  expect(episodes.length).toBe(128);
  expect(new Set(episodes.map((e) => e.episode_id)).size).toBe(128);
  expect(episodes.every((e) => e.turns.length === 1 && e.reward === null)).toBe(true);
  expect(episodes.filter((e) => e.turns[0]!.observation!.includes('\n\n')).length).toBeGreaterThanOrEqual(25);
});
