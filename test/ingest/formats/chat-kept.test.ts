import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fc } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { chat } from '../../../src/ingest/formats/chat.ts';
import { isGold } from '../../../src/ingest/formats/gold.ts';
import { similarColumn } from '../../../src/ingest/formats/similar-columns.ts';
import { instantOf } from '../../../src/schema/instant.ts';
import { contextOf, episodesOf, readLines, shared } from './context.ts';

const talk = [
  { role: 'user', content: 'u' },
  { role: 'assistant', content: 'a' },
];
async function read(record: object) {
  const [found] = await chat.read(record, contextOf('talk.jsonl'));
  const { episode, fenced } = (await episodesOf(chat, record, contextOf('talk.jsonl')))[0]!;
  return { episode, fenced, notes: found!.notes!, unchecked: found!.episode };
}
const leftOut = (about: string) => ({ code: 'field-left-out', about });

test.each([
  ['reward', '1.0'],
  ['reward', true],
  ['rewards', { a: 'x' }],
  ['trial', -1],
  ['trial', 'first'],
  ['task_id', { a: 1 }],
  ['task_id', ''],
  ['episode_id', []],
  ['policy', {}],
  ['ending', 'crashed'],
  ['cost', 'free'],
  ['started_at', 'yesterday'],
  ['ended_at', 1700000000],
])('%s of %j is left out, noted and kept in meta as it was written', async (name, value) => {
  const { episode, notes } = await read({ messages: talk, reward: 0.5, [name]: value });
  expect(episode.turns.length).toBe(1);
  expect(episode.reward).toBe(name === 'reward' ? null : 0.5);
  expect(episode.meta).toEqual({ [name]: value });
  expect(notes.length).toBe(1);
  expect(notes[0]!.code).toBe('field-left-out');
  expect(notes[0]!.about.startsWith(name)).toBe(true);
});

test.each([
  [{ usage: 'many' }, 'messages[].usage'],
  [{ usage: { completion_tokens: -3 } }, 'messages[].usage.completion_tokens'],
  [{ logprobs: [1, 2] }, 'messages[].logprobs'],
  [{ logprobs: { content: [{ logprob: 'x' }] } }, 'messages[].logprobs.content[].logprob'],
  [{ action_class: {} }, 'messages[].action_class'],
  [{ behaviour_log_propensity: 'x' }, 'messages[].behaviour_log_propensity'],
])('of a message, %j is left out and noted', async (fields, about) => {
  const { episode, notes } = await read({ messages: [talk[0], { ...talk[1], ...fields }], reward: 1 });
  expect(episode).toMatchObject({ reward: 1, turns: [{ action: 'a' }] });
  expect(notes).toEqual([leftOut(about)]);
});

test('calls that cannot be read are null, and the turn stays', async () => {
  for (const tool_calls of ['x', [3], [{ id: 'a' }]]) {
    const { episode, notes } = await read({ messages: [talk[0], { ...talk[1], tool_calls }] });
    expect(episode.turns).toMatchObject([{ action: 'a', tool_calls: null, tool_errors: null }]);
    expect(notes.map((n) => n.code)).toEqual(['field-left-out', 'calls-unread']);
  }
});

test.each([
  [{ messages: 3 }],
  [{ messages: ['x'] }],
  [{ messages: [{ content: 'no role' }] }],
  [{ messages: [{ role: 'user', content: 5 }] }],
  [{}],
])('%j is no conversation', async (record) => {
  await expect(async () => chat.read(record, contextOf('x.jsonl'))).rejects.toThrow(/messages|record/);
});

test('one token without a log-probability leaves no sum, and everything else', async () => {
  const spoken = (logprobs: (number | null)[]) => ({
    role: 'assistant',
    content: 'a',
    usage: { completion_tokens: logprobs.length },
    logprobs: { content: logprobs.map((logprob) => ({ logprob })) },
  });
  const { episode, notes } = await read({
    reward: 1,
    messages: [
      spoken([-1, null]),
      spoken([-1, -2]),
      spoken([-1, -9999]),
      spoken([-0.5, -1e308]),
      spoken([0, 0, 0, 0, 0, 0, 0, 0]),
      spoken([0, -0.5]),
    ],
  });
  expect(episode.turns.map((t) => t.behaviour_logprob)).toEqual([null, -3, null, null, null, -0.5]);
  expect(episode.turns.map((t) => t.n_action_tokens)).toEqual([2, 2, 2, 2, 8, 2]);
  expect(episode.meta).toEqual({ partial_logprob_turns: 4, stand_in_logprob_turns: [2, 3, 4] });
  expect(notes).toEqual([
    { code: 'logprobs-partial', about: 'do not cover the action', count: 1 },
    { code: 'logprobs-partial', about: 'hold a stand-in such as −9999', count: 3 },
  ]);
});

test('a time without a zone is UTC, and noted', async () => {
  const { episode, notes } = await read({
    messages: talk,
    started_at: '2026-01-05T10:00:00.123456',
    ended_at: '2026-01-05 10:01:00+02:00',
  });
  expect(episode).toMatchObject({
    started_at: '2026-01-05T10:00:00.123456Z',
    ended_at: '2026-01-05T10:01:00+02:00',
    meta: null,
  });
  expect(notes).toEqual([{ code: 'time-without-zone', about: 'started_at' }]);
});

test.each([
  ['2026-01-05T10:00:00Z', '2026-01-05T10:00:00Z'],
  ['2026-01-05 10:00:00', '2026-01-05T10:00:00Z'],
  ['2026-01-05 10:00', '2026-01-05T10:00:00Z'],
  ['2026-01-05t10:00:00,5z', '2026-01-05T10:00:00.5Z'],
  ['2026-01-05 10:00:00 UTC', '2026-01-05T10:00:00Z'],
  ['2026-01-05T10:00:00+0530', '2026-01-05T10:00:00+05:30'],
  ['2026-01-05T10:00:00-08', '2026-01-05T10:00:00-08:00'],
  ['2024-02-29T00:00:00', '2024-02-29T00:00:00Z'],
  ['2023-02-29T00:00:00', null],
  ['2026-01-05', null],
  ['2026-01-05T25:00:00', null],
  ['10:00:00', null],
  ['', null],
])('%j is the instant %j', (text, instant) => expect(instantOf(text)).toBe(instant));

test('what stands on messages beside what is read is kept by turn and counted', async () => {
  const { episode, notes } = await read({
    messages: [
      { role: 'user', content: 'u', channel: 'web' },
      {
        ...talk[1],
        action_class: 'ask',
        behaviour_log_propensity: -0.5,
        weight: 0,
        audio: null,
        finish_reason: 'stop',
      },
      { role: 'user', content: 'v', channel: 'app' },
      { message: { role: 'assistant', content: 'b', weight: 1 }, index: 0 },
    ],
  });
  expect(episode.turns.map((t) => [t.action_class, t.behaviour_log_propensity])).toEqual([
    ['ask', -0.5],
    [null, null],
  ]);
  expect(episode.meta).toEqual({
    message_fields: [
      { turn: 0, role: 'user', fields: { channel: 'web' } },
      { turn: 0, role: 'assistant', fields: { weight: 0, finish_reason: 'stop' } },
      { turn: 1, role: 'user', fields: { channel: 'app' } },
      { turn: 1, role: 'assistant', fields: { index: 0, weight: 1 } },
    ],
  });
  expect(notes.filter((n) => n.about === 'channel').length).toBe(2);
  expect(new Set(notes.map((n) => n.code))).toEqual(new Set(['message-field-kept']));
});

test('columns that look like known ones are kept in meta, with the known one named', async () => {
  const { episode, notes } = await read({
    messages: talk,
    task: 't1',
    score: 1,
    metadata: { model: 'm', seed: 3 },
    seed: 4,
    policy: 'p',
    model: 'base',
  });
  expect(episode).toMatchObject({ task_id: null, reward: null, policy: 'p' });
  // Nothing takes the place of another: two columns of one name stand side by side.
  expect(episode.meta).toEqual({
    task: 't1',
    score: 1,
    seed: 4,
    model: 'base',
    'metadata.model': 'm',
    'metadata.seed': 3,
  });
  expect(notes).toEqual([
    { code: 'column-looks-like', about: 'task, kept in meta: did you mean task_id?' },
    { code: 'column-looks-like', about: 'score, kept in meta: did you mean reward?' },
    { code: 'column-kept-in-meta', about: 'seed' },
  ]);
  const named = await read({ messages: talk, metadata: { model: 'm', task_id: 't' } });
  expect(named.notes.map((n) => n.about)).toEqual([
    'metadata.model, kept in meta: did you mean policy?',
    'metadata.task_id, kept in meta: did you mean task_id?',
  ]);
});

test('names that are like others', () => {
  expect(similarColumn('tasks_id', false)).toBe('task_id');
  expect(similarColumn('Reward_', false)).toBe('reward');
  expect(similarColumn('seed', false)).toBeUndefined();
  expect(similarColumn('question', false)).toBeUndefined();
});

test('right answers are fenced wherever they stand', async () => {
  const { episode, fenced, notes } = await read({
    messages: talk,
    expectedAnswer: 4,
    ground_truths: ['x'],
    extra_info: { answer: 'y', split: 'train' },
    reward_model: { style: 'rule', ground_truth: 'z' },
    metadata: { reference_solution: 's', deep: { labels: [1] } },
  });
  expect(fenced).toEqual({
    expectedAnswer: 4,
    ground_truths: ['x'],
    'extra_info.answer': 'y',
    'reward_model.ground_truth': 'z',
    'metadata.reference_solution': 's',
    'metadata.deep.labels': [1],
  });
  expect(episode.meta).toEqual({ extra_info: { split: 'train' }, reward_model: { style: 'rule' }, deep: {} });
  expect(notes.filter((n) => n.code === 'gold-fenced').map((n) => n.about)).toEqual(Object.keys(fenced!));
});

test('names of right answers', () => {
  for (const name of [
    'gold_patch',
    'GoldPatch',
    'reference answer',
    'correct_answer',
    'gt',
    'target',
    'expected_output',
    'FAIL_TO_PASS',
  ])
    expect([name, isGold(name)]).toEqual([name, true]);
  for (const name of [
    'model',
    'answered',
    'target_length',
    'reference_url',
    'labelled_by',
    'goldfish',
    'patch',
  ])
    expect([name, isGold(name)]).toEqual([name, false]);
});

test('no column is lost: each is read, in meta, or behind the fence', async () => {
  const name = fc.oneof(
    fc.constantFrom(
      'answer',
      'task',
      'score',
      'seed',
      'model',
      'metadata_x',
      'labels',
      '__proto__',
      'tools_x',
      'id',
    ),
    fc.string({ minLength: 1, maxLength: 8 }),
  );
  const value = fc.oneof(fc.string(), fc.integer(), fc.constant({ a: 1 }));
  const known = ['messages', 'system', 'tools', 'metadata', 'rewards'];
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, value), fc.dictionary(name, value), async (columns, metadata) => {
      fc.pre(known.every((k) => !Object.hasOwn(columns, k)));
      const { unchecked: episode, fenced } = await read({ ...columns, metadata, messages: talk });
      const texts = JSON.stringify([episode, fenced]);
      for (const given of [columns, metadata])
        for (const [key, v] of Object.entries(given)) expect(texts, key).toContain(JSON.stringify(v));
    }),
    { seed: 20, numRuns: 300 },
  );
});

test('calls and results as other clients write them', async () => {
  const { episode, notes } = await read({
    messages: [
      talk[0],
      {
        role: 'model',
        content: null,
        tool_calls: [
          { id: 'a', name: 'f', args: { x: 1 } },
          { id: 'b', name: 'g', arguments: '{"y": 2}' },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: { error: 'gone', code: 7 } },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'ok' }, { rows: [1] }] },
    ],
  });
  expect(episode.turns[0]!.tool_calls).toEqual([
    { name: 'f', arguments: { x: 1 }, result: '{"error":"gone","code":7}', error: true },
    { name: 'g', arguments: { y: 2 }, result: 'ok\n{"rows":[1]}', error: null },
  ]);
  expect(notes).toEqual([]);
});

test('a conversation that nobody known acts in is refused, not stored as empty', async () => {
  await expect(read({ messages: [talk[0], { role: 'planner', content: 'x' }] })).rejects.toThrow(
    "messages hold no turn: no role is assistant, and one is 'planner'",
  );
  expect((await read({ messages: [talk[0]] })).episode.turns).toEqual([]);
});

const found = (name: string) => join(shared, 'found', name, 'log.jsonl');
test.skipIf(!existsSync(found('10-null-logprob')))(
  'public logs (skipped: ../shared is not here)',
  async () => {
    const one = (await read(readLines(found('10-null-logprob'))[0])).episode;
    expect(one.turns.length).toBeGreaterThan(0);
    expect(one.meta).toMatchObject({ partial_logprob_turns: 1 });
    const times = readLines(found('14-naive-time'));
    for (const record of times) {
      const { episode } = await read(record);
      expect(episode.started_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$/);
    }
    const stand = (await read(readLines(found('11-sentinel-9999'))[0])).episode;
    expect(stand.turns.some((t) => t.behaviour_logprob !== null && t.behaviour_logprob < -9000)).toBe(false);
    expect(stand.meta).toHaveProperty('stand_in_logprob_turns');
  },
);
