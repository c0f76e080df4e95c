import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fc } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { chat } from '../../../src/ingest/formats/chat.ts';
import type { FormatNote } from '../../../src/ingest/notes.ts';
import type { Episode } from '../../../src/schema/episode.ts';
import { cpuSeconds } from '../../helpers/cpu-seconds.ts';
import { contextOf, episodesOf, readLines, shared } from './context.ts';

async function read(
  record: unknown,
): Promise<{ episode: Episode; notes: readonly FormatNote[]; fenced?: object | undefined }> {
  const [found] = await chat.read(record, contextOf('talk.jsonl'));
  const { episode, fenced } = (await episodesOf(chat, record, contextOf('talk.jsonl')))[0]!;
  return { episode, notes: found!.notes ?? [], fenced };
}
const call = (name: string, id?: string) => ({ id, function: { name, arguments: '{}' } });
const calling = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls });
const result = (content: string, fields: object = {}) => ({ role: 'tool', content, ...fields });
const results = (episode: Episode) => episode.turns.map((t) => t.tool_calls!.map((c) => c.result));

test.each([
  [
    'an empty id is none: order decides',
    [
      calling(call('f', ''), call('g', '')),
      result('F', { tool_call_id: '' }),
      result('G', { tool_call_id: '' }),
    ],
    [['F', 'G']],
  ],
  [
    'an empty id is none: a name decides before order',
    [calling(call('f', ''), call('g', '')), result('G', { tool_call_id: '', name: 'g' }), result('F')],
    [['F', 'G']],
  ],
  [
    'the same id twice in a turn: order decides, or the name',
    [
      calling(call('f', 'x'), call('g', 'x')),
      result('G', { tool_call_id: 'x', name: 'g' }),
      result('F', { tool_call_id: 'x' }),
    ],
    [['F', 'G']],
  ],
  [
    'an id used again, answered late: the latest turn first, then the one before',
    [
      calling(call('f', 'x')),
      calling(call('g', 'x')),
      result('G', { tool_call_id: 'x' }),
      result('F', { tool_call_id: 'x' }),
    ],
    [['F'], ['G']],
  ],
  [
    'an id used again in the next turn: a name decides before the turn',
    [
      calling(call('f', 'x')),
      calling(call('g', 'x')),
      result('F', { tool_call_id: 'x', name: 'f' }),
      result('G', { tool_call_id: 'x', name: 'g' }),
    ],
    [['F'], ['G']],
  ],
  [
    'an id used again: a name that no call with it has decides nothing',
    [
      calling(call('f', 'x'), call('g', 'x')),
      result('F', { tool_call_id: 'x', name: 'h' }),
      result('G', { tool_call_id: 'x', name: 'h' }),
    ],
    [['F', 'G']],
  ],
  ...['toolCallId', 'call_id', 'tool_use_id', 'id'].map(
    (key) =>
      [
        `the call's id under the name ${key}`,
        [calling(call('f', 'x'), call('f', 'y')), result('Y', { [key]: 'y' }), result('X', { [key]: 'x' })],
        [['X', 'Y']],
      ] as const,
  ),
  [
    'an id of the message that no call has decides nothing',
    [calling(call('f', 'x'), call('g', 'y')), result('F', { id: 'm1' }), result('G', { id: 'm2' })],
    [['F', 'G']],
  ],
  [
    'of two ids of a call the results name call_id',
    [
      calling({ ...call('f', 'fc_1'), call_id: 'b' }, { ...call('f', 'fc_2'), call_id: 'a' }),
      result('2', { tool_call_id: 'a' }),
      result('1', { tool_call_id: 'b' }),
    ],
    [['1', '2']],
  ],
  [
    'parts of one answer stay together',
    [calling(call('f', 'x')), result('one', { tool_call_id: 'x' }), result('two', { tool_call_id: 'x' })],
    [['one\n\ntwo']],
  ],
  [
    'calls without an id, results with one',
    [calling(call('f'), call('g')), result('F', { tool_call_id: 'a' }), result('G', { tool_call_id: 'b' })],
    [['F', 'G']],
  ],
  [
    'a late result without an id, after a turn that calls nothing',
    [calling(call('f', 'x')), { role: 'assistant', content: 'wait' }, result('F')],
    [['F'], []],
  ],
  [
    'a result of an unknown id answers none, though one call waits',
    [calling(call('f', 'x')), result('lost', { tool_call_id: 'other' })],
    [[null]],
  ],
  ['a result of another tool answers none', [calling(call('f')), result('lost', { name: 'g' })], [[null]]],
] as const)('%s', async (_what, messages, expected) => {
  const { episode, notes } = await read({ messages });
  expect(results(episode)).toEqual(expected);
  const lost = messages.filter((m) => 'content' in m && m.content === 'lost').length;
  const about = notes.filter((n) => n.code !== 'message-field-kept');
  expect(about).toEqual(lost === 0 ? [] : [{ code: 'results-orphaned', about: 'results', count: lost }]);
  expect(episode.meta?.orphaned_results ?? 0).toBe(lost);
});

describe('laws', () => {
  const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 });

  test('the order of parallel results with ids of their own changes no call', async () => {
    const cases = ids.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ([list, shuffled]) => {
        const turn = calling(...list.map((id) => call('f', id)));
        const answers = (order: readonly string[]) =>
          order.map((id) => result(`of ${id}`, { tool_call_id: id }));
        const one = await read({ messages: [turn, ...answers(list)] });
        const other = await read({ messages: [turn, ...answers(shuffled)] });
        expect(other.episode.turns).toEqual(one.episode.turns);
        expect(results(one.episode)).toEqual([list.map((id) => `of ${id}`)]);
      }),
      { seed: 20 },
    );
  });

  test('no result is lost or told twice, whatever its id and name', async () => {
    const id = fc.constantFrom(undefined, '', 'a', 'b', 'c');
    const name = fc.constantFrom('f', 'g');
    const message = fc.oneof(
      fc.array(fc.tuple(name, id), { maxLength: 3 }).map((made) => ({ made })),
      fc.tuple(id, fc.option(name, { nil: undefined })).map((answered) => ({ answered })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (plan) => {
        const messages = plan.map((step, i) =>
          'made' in step
            ? { role: 'assistant', content: `t${i}`, tool_calls: step.made.map(([n, x]) => call(n, x)) }
            : result(`r${i}.`, { tool_call_id: step.answered[0], name: step.answered[1] }),
        );
        const { episode } = await read({ messages });
        const told = messages.flatMap((m) => (m.role === 'tool' ? [m.content] : [])).sort();
        const stored = results(episode)
          .flat()
          .flatMap((text) => text?.split('\n\n') ?? []);
        const orphaned = (episode.meta?.orphaned_results as number | undefined) ?? 0;
        expect(stored.length + orphaned).toBe(told.length);
        expect(new Set(stored).size).toBe(stored.length);
        const seen = [
          ...episode.turns.map((t) => t.observation),
          episode.meta?.final_observation as string | undefined,
        ]
          .flatMap((text) => text?.split('\n\n') ?? [])
          .sort();
        expect(seen).toEqual(told);
      }),
      { seed: 20, numRuns: 500 },
    );
  });
});

test('a hundred thousand calls of one turn are answered at once', async () => {
  const n = 100_000;
  const made = Array.from({ length: n }, (_, k) => call(`t${k % 7}`, k % 3 === 0 ? 'same' : undefined));
  const answers = made.map((c, k) => result(`${k}`, { tool_call_id: c.id, name: `t${k % 7}` }));
  const start = cpuSeconds();
  const record = { messages: [calling(...made), ...answers.reverse()] };
  const [found] = await chat.read(record, contextOf('talk.jsonl'));
  expect(found!.episode.turns[0]!.tool_calls!.filter((c) => c.result !== null).length).toBe(n);
  expect(cpuSeconds() - start).toBeLessThan(10);
});

const found = (name: string) => join(shared, 'found', name);
const openai = found('15-orphan-results/openai.jsonl');
describe.skipIf(!existsSync(openai))('one peculiarity each (skipped: ../shared is not here)', () => {
  const all = existsSync(openai) ? readLines(openai) : [];
  const one = (id: string) => read(all.find((r) => r.episode_id === id));
  const outcomes = (e: Episode) => e.turns.map((t) => t.tool_calls?.map((c) => [c.name, c.result, c.error]));

  test.each([
    [
      'parallel-reversed',
      [
        [
          ['f', 'Error: RA', true],
          ['g', 'RB', null],
        ],
        [],
      ],
    ],
    ['ids-reused', [[['f', 'R1', null]], [['g', 'Error: R2', true]], []]],
    [
      'ids-empty-parallel',
      [
        [
          ['f', 'RF', null],
          ['g', 'Error: RG', true],
        ],
        [],
      ],
    ],
    [
      'ids-same-parallel',
      [
        [
          ['f', 'RF', null],
          ['g', 'Error: RG', true],
        ],
        [],
      ],
    ],
    ['ids-unknown', [[['f', null, null]], []]],
    [
      'ids-missing-on-tool',
      [
        [
          ['f', 'RF', null],
          ['g', 'RG', null],
        ],
        [],
      ],
    ],
    ['late-result', [[['f', 'Error: late', true]], [], []]],
    ['legacy-function', [[['f', '{"error":"bad"}', true]], []]],
    ['truncated-end', [[['f', null, null]]]],
    ['tool-name-null', [[['', 'r', null]], []]],
    ['xml-calls', [[['f', 'Error: nope', true]], []]],
  ])('%s', async (id, expected) => expect(outcomes((await one(id)).episode)).toEqual(expected));

  test('orphaned results are counted', async () => {
    expect((await one('ids-unknown')).episode.meta).toEqual({ orphaned_results: 1 });
    expect((await one('ids-unknown')).episode.turns[1]!.observation).toBe('Error: lost');
    expect((await one('multimodal')).episode.meta).toMatchObject({ orphaned_results: 1 });
  });

  test('forms of errors', async () => {
    const { episode } = await one('error-forms');
    // By the numbers of the tools t00 to t21, read off the file by eye.
    const told = {
      failed: [0, 1, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21],
      worked: [4, 5, 6],
    };
    const errors = episode.turns.flatMap((t) => t.tool_calls!.map((c) => c.error));
    expect(errors.flatMap((e, k) => (e === true ? [k] : []))).toEqual(told.failed);
    expect(errors.flatMap((e, k) => (e === false ? [k] : []))).toEqual(told.worked);
  });

  test('every conversation is kept', async () => {
    const read31 = await Promise.all(all.map(read));
    expect(read31.length).toBe(31);
    // A reward that cannot be read is not known; it stays in meta as it was written.
    for (const id of ['reward-string', 'reward-bool', 'reward-dollar', 'reward-nan']) {
      const { episode, notes } = await one(id);
      expect([episode.reward, episode.meta!.reward]).toEqual([
        null,
        all.find((r) => r.episode_id === id).reward,
      ]);
      expect(notes).toEqual([{ code: 'field-left-out', about: 'reward' }]);
    }
    for (const id of ['role-env', 'role-ipython'])
      expect((await one(id)).episode.turns[1]!.observation).toBe('obs');
  });

  test('right answers under other names are fenced', async () => {
    const { episode, fenced, notes } = await one('gold-cols');
    expect(fenced).toEqual({
      expected_answer: '42',
      gold_patch: 'diff',
      reference_solution: 'y',
      correct_answer: '42',
      labels: ['z'],
      'metadata.answer': '42',
      'metadata.ground_truth': 'x',
    });
    expect(episode.meta).toBeNull();
    expect(notes.map((n) => n.about).sort()).toEqual(Object.keys(fenced!).sort());
  });
});

const anthropic = found('16-anthropic/anthropic.jsonl');
test.skipIf(!existsSync(anthropic))('Anthropic’s own tools (skipped: ../shared is not here)', async () => {
  const episodes = new Map<string, Episode>();
  for (const line of readLines(anthropic)) episodes.set(line.episode_id, (await read(line)).episode);
  const outcomes = (id: string) =>
    episodes.get(id)!.turns.map((t) => t.tool_calls?.map((c) => [c.name, c.result, c.error]));
  expect(outcomes('an-parallel')).toEqual([
    [
      ['f', 'RA', false],
      ['g', 'RB', true],
    ],
    [],
  ]);
  expect(outcomes('an-server-tool')).toEqual([
    [['web_search', '{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}', true]],
    [['f', 'ok', false]],
    [],
  ]);
  expect(episodes.get('an-server-tool')!.turns[0]!.action).toBe('searching\nfound');
  expect(outcomes('an-mcp')).toEqual([[['lookup', 'boom', true]], [['f', 'ok', false]]]);
  expect(outcomes('an-image-result')).toEqual([[['shot', '[image]', false]], []]);
  expect(outcomes('an-no-content-result')).toEqual([[['shot', '', false]], []]);
  expect(outcomes('an-tool-role-mixed')).toEqual([[['f', 'ok', null]], []]);
  expect(episodes.size).toBe(8);
});
