import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chat } from '../../../src/ingest/formats/chat.ts';
import { tauBench } from '../../../src/ingest/formats/tau-bench.ts';
import { cpuSeconds } from '../../helpers/cpu-seconds.ts';
import { contextOf, episodesOf, readJson, shared } from './context.ts';

const talk = async (...messages: object[]) => {
  const [found] = await chat.read({ messages }, contextOf('talk.jsonl'));
  const { episode } = (await episodesOf(chat, { messages }, contextOf('talk.jsonl')))[0]!;
  return { episode, notes: found!.notes, calls: episode.turns.map((t) => t.tool_calls) };
};
const said = (content: string) => ({ role: 'assistant', content });
const user = (content: string) => ({ role: 'user', content });

describe('tau-bench text agents', () => {
  // As tau-bench's chat_react_agent writes them: a thought, the action as JSON, the answer as a user's message.
  const messages = [
    { role: 'system', content: 'policy' },
    user('Cancel it.'),
    said('Thought:\nI look.\nAction:\n{"name": "get_user", "arguments": {"id": "u1"}}'),
    user('API output: Error: user not found'),
    said('Action: {"name": "get_order", "arguments": {"id": 7}}'),
    user('API output: {"order": 7}'),
    said('Action:\n{"name": "respond", "arguments": {"content": "Done?"}}'),
    user('Thanks ###STOP###'),
  ];
  test('actions are calls, the API output their results; `respond` is what it says', async () => {
    const run = { task_id: 3, reward: 1, traj: messages, info: {}, trial: 0 };
    const { turns } = (await episodesOf(tauBench, run, contextOf('runs.json')))[0]!.episode;
    expect(turns.map((t) => t.tool_calls)).toEqual([
      [{ name: 'get_user', arguments: { id: 'u1' }, result: 'Error: user not found', error: true }],
      [{ name: 'get_order', arguments: { id: 7 }, result: '{"order": 7}', error: false }],
      [],
    ]);
    // Texts stay as the model wrote and saw them.
    expect(turns.map((t) => t.action)).toEqual(
      messages.filter((m) => m.role === 'assistant').map((m) => m.content),
    );
    expect(turns[1]!.observation).toBe('API output: Error: user not found');
  });

  test('the same in a chat, where nothing marks a success', async () => {
    const { calls, notes } = await talk(...messages);
    expect(calls.map((c) => c!.map((x) => x.error))).toEqual([[true], [null], []]);
    expect(notes).toEqual([]);
  });

  test('an action that is no JSON goes to the user as it stands, as tau-bench has it', async () => {
    const broken = said('Action: {"name": "get_user", "arguments": {"id": ');
    const { calls } = await talk(...messages, broken, user('what?'));
    expect(calls.at(-1)).toEqual([]);
    const answered = await talk(...messages, broken, user('API output: x'));
    expect(answered.calls.at(-1)).toBeNull();
    expect(answered.notes).toContainEqual({ code: 'calls-unread', about: 'Action: {json}', count: 1 });
  });
});

describe('<tool_call> and <tool_response>', () => {
  test('calls and their answers, in the order they stand', async () => {
    const { calls, episode } = await talk(
      user('u'),
      said(
        'I try.\n<tool_call>\n{"name":"f","arguments":{"x":1}}\n</tool_call>\n<tool_call>{"name": "g", "arguments": "{\\"y\\": 2}"}</tool_call>',
      ),
      user('<tool_response>\nError: nope\n</tool_response>\n<tool_response>\n{"rows": 3}\n</tool_response>'),
      said('done'),
    );
    expect(calls).toEqual([
      [
        { name: 'f', arguments: { x: 1 }, result: 'Error: nope', error: true },
        { name: 'g', arguments: { y: 2 }, result: '{"rows": 3}', error: null },
      ],
      [],
    ]);
    expect(episode.turns[1]!.observation).toContain('<tool_response>\nError: nope');
  });

  test('a named answer finds its call; the content is judged, with every digit', async () => {
    const { calls } = await talk(
      said('<tool_call>{"name":"f","arguments":{}}</tool_call><tool_call>{"name":"g","arguments":{}}'),
      {
        role: 'tool',
        content: '<tool_response>{"name": "g", "content": {"id": 12345678901234567890}}</tool_response>',
      },
      {
        role: 'tool',
        content: '<tool_response>\n{"name": "f", "content": {"error": "no"}}\n</tool_response>',
      },
    );
    expect(calls[0]).toMatchObject([
      { name: 'f', result: '{"error": "no"}', error: true },
      { name: 'g', result: '{"id": 12345678901234567890}', error: null },
    ]);
  });

  test('the tags of Qwen’s coder', async () => {
    const { calls } = await talk(
      said(
        '<tool_call>\n<function=edit>\n<parameter=path>\na.ts\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>',
      ),
    );
    expect(calls[0]).toMatchObject([{ name: 'edit', arguments: { path: 'a.ts', n: '3' } }]);
  });

  test('what cannot be read is null, not an empty list, and its shape is named', async () => {
    const { calls, notes } = await talk(
      said(
        '<tool_call>{"name":"f","arguments":{}}</tool_call>\n<tool_call>get_weather\n<arg_key>a</arg_key></tool_call>',
      ),
      user('<tool_response>Error: x</tool_response>'),
      said('fine'),
    );
    expect(calls).toEqual([null, []]);
    expect(notes).toContainEqual({ code: 'calls-unread', about: '<tool_call>', count: 1 });
    expect(notes!.length).toBe(1);
  });
});

test('ReAct: the action and its input, answered by an observation', async () => {
  const { calls } = await talk(
    user('u'),
    said('Thought: hm\nAction: search\nAction Input: {"q": "x"}'),
    user('Observation: Error: offline'),
    said('Thought: no\nAction: search\nAction Input: plain words'),
    user('Observation: found'),
    said('Final Answer: x'),
  );
  expect(calls).toMatchObject([
    [{ name: 'search', arguments: { q: 'x' }, result: 'Error: offline', error: true }],
    [{ name: 'search', arguments: 'plain words', result: 'found', error: null }],
    [],
  ]);
  const whole = await talk(said('Action: a\nAction Input: b\nObservation: c\nAction: d\nAction Input: e'));
  expect(whole.calls).toEqual([null]);
});

test.each([
  ['<function_calls>\n<invoke name="f">\n</invoke>\n</function_calls>', '<function_calls>'],
  ['<function=f>{"a": 1}</function>', '<function=NAME>'],
  ['[TOOL_CALLS] [{"name": "f", "arguments": {}}]', '[TOOL_CALLS]'],
  ['<|python_tag|>{"name": "f"}', '<|python_tag|>'],
  ['<｜tool▁calls▁begin｜>x', '<｜tool▁calls▁begin｜>'],
  ['```tool_code\nprint(f())\n```', '```tool_code'],
  ['<execute_bash>ls</execute_bash>', '<execute_…>'],
])('%j is told as calls that are not read', async (text, about) => {
  const { calls, notes, episode } = await talk(user('u'), said(text));
  expect(calls).toEqual([null]);
  expect(episode.turns[0]!.tool_errors).toBeNull();
  expect(notes).toEqual([{ code: 'calls-unread', about, count: 1 }]);
});

test('marks are quotations where calls stand outside the texts, and words are no marks', async () => {
  const { calls } = await talk(
    { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'a', content: 'ok' },
    said('Write <tool_call>{"name": "x"}</tool_call> to call.'),
  );
  expect(calls.map((c) => c?.length)).toEqual([1, 0]);
  const words = await talk(said('My plan of Action: {go} on'), said('Call to Action: buy'));
  expect(words.calls).toEqual([[], []]);
});

describe('commands in fenced blocks, as mini-swe-agent logs them', () => {
  const block = (command: string, word = 'mswea_bash_command') =>
    `I look.\n\n\`\`\`${word}\n${command}\n\`\`\``;
  const answer = (code: number, output: string) =>
    user(`<returncode>${code}</returncode>\n<output>\n${output}\n</output>`);

  test('one block is a call, the return code says whether it worked', async () => {
    const { calls, episode, notes } = await talk(
      user('Solve it.'),
      said(block('cat a.py')),
      answer(1, 'cat: a.py: No such file or directory'),
      said(block('ls\nls -a', 'bash')),
      answer(0, 'Error: this is printed'),
      said('I have two ideas.'),
      user('Please provide exactly one action.'),
      said(block('echo COMPLETE')),
      user('diff --git a b'),
    );
    const called = (name: string, command: string, result: string, error: boolean | null) => [
      { name, arguments: { command }, result, error },
    ];
    expect(calls).toEqual([
      called(
        'mswea_bash_command',
        'cat a.py',
        answer(1, 'cat: a.py: No such file or directory').content,
        true,
      ),
      called('bash', 'ls\nls -a', answer(0, 'Error: this is printed').content, false),
      [],
      called('mswea_bash_command', 'echo COMPLETE', 'diff --git a b', null),
    ]);
    expect(episode.turns[2]!.observation).toBe(answer(0, 'Error: this is printed').content);
    expect(notes).toEqual([]);
  });

  test('several blocks that were answered: the calls are not known, and named', async () => {
    const two = said(`${block('ls')}\n${block('pwd')}`);
    const { calls, notes } = await talk(user('u'), two, answer(0, 'x'), said(block('ls')), answer(0, 'y'));
    expect(calls[0]).toBeNull();
    expect(calls[1]).toMatchObject([{ error: false }]);
    expect(notes).toContainEqual({ code: 'calls-unread', about: '```bash', count: 1 });
  });

  test('a block that nobody runs is shown, not called', async () => {
    const { calls, notes } = await talk(
      user('How do I list files?'),
      said(block('ls', 'bash')),
      user('Thanks'),
    );
    expect(calls).toEqual([[]]);
    expect(notes).toEqual([]);
  });
});

test('a mark in what came in is a result only where the last turn called', async () => {
  const { notes, episode } = await talk(
    user('Answer in <tool_response>x</tool_response>.'),
    said('Hello'),
    user('Observation: it rains'),
    said('Indeed'),
  );
  expect(notes).toEqual([]);
  expect(episode.meta).toBeNull();
});

test('long texts take time that grows with their length', async () => {
  const n = 200_000;
  const pieces = [' ', '\n', 'Action:', 'Action: a\n', '<tool_call>', '```', '{', '<function=f>', '"'];
  const start = cpuSeconds();
  for (const piece of pieces)
    for (const head of [
      '',
      'Action:',
      'Action: {',
      'Action: x\nAction Input:',
      '<tool_call><function=f><parameter=',
    ]) {
      const text = `${head}${piece.repeat(n / piece.length)}x`;
      await talk(said(text), user(`<tool_response>${text}`), user(`Observation:${text}`));
    }
  expect(cpuSeconds() - start).toBeLessThan(30);
});

const airline = join(shared, 'logs/tau-bench/gpt-4o-airline.json');
test.skipIf(!existsSync(airline))(
  'the airline log as text agents write it gives the same calls, results and failures (skipped: ../shared is not here)',
  async () => {
    type Logged = {
      role: string;
      content: string;
      tool_calls?: { function: { name: string; arguments: string } }[];
    };
    const asText = ({ role, content, tool_calls }: Logged) => {
      if (role === 'tool') return user(`API output: ${content}`);
      if (role !== 'assistant') return { role, content };
      const called = tool_calls?.[0]?.function;
      const action = called
        ? { name: called.name, arguments: JSON.parse(called.arguments) }
        : { name: 'respond', arguments: { content } };
      return said(`Thought:\nhm\nAction:\n${JSON.stringify(action)}`);
    };
    let [calls, failed] = [0, 0];
    for (const run of readJson(airline) as { traj: Logged[] }[]) {
      // tau-bench carries out the first call of a message only.
      expect(run.traj.every((m) => (m.tool_calls?.length ?? 1) === 1)).toBe(true);
      const native = (await episodesOf(tauBench, run, contextOf('a.json')))[0]!.episode;
      const text = (
        await episodesOf(tauBench, { ...run, traj: run.traj.map(asText) }, contextOf('a.json'))
      )[0]!.episode;
      expect(text.turns.map((t) => t.tool_calls)).toEqual(native.turns.map((t) => t.tool_calls));
      const told = (e: typeof text) => [e.task_id, e.ending, e.reward];
      expect(told(text)).toEqual(told(native));
      for (const call of text.turns.flatMap((t) => t.tool_calls!)) {
        calls++;
        if (call.error) failed++;
      }
    }
    // Counted from the file by a separate script.
    expect([calls, failed]).toEqual([1164, 73]);
  },
);

test('a text agent that hands over to a person ended the run', async () => {
  const handed = said('Action: {"name": "transfer_to_human_agents", "arguments": {"summary": "x"}}');
  const run = { task_id: 1, reward: 0, info: { reward_info: null }, traj: [user('u'), handed] };
  const { episode } = (await episodesOf(tauBench, run, contextOf('runs.json')))[0]!;
  expect(episode.ending).toBe('terminated');
  const other = { ...run, traj: [user('u'), said('Action: {"name": "get_user", "arguments": {}}')] };
  expect((await episodesOf(tauBench, other, contextOf('runs.json')))[0]!.episode.ending).toBe('truncated');
});
