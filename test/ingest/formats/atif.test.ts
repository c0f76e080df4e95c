import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { atif } from '../../../src/ingest/formats/atif.ts';
import { RecordError } from '../../../src/ingest/log-format.ts';
import { contextOf, episodesOf, fixtures, readJson, shared } from './context.ts';

const temp = mkdtempSync(join(tmpdir(), 'turnwise-atif-'));
afterAll(() => rmSync(temp, { recursive: true }));

const read = (path: string) => episodesOf(atif, readJson(path), contextOf(path));
const one = async (path: string) => (await read(path))[0]!.episode;
const fixture = (name: string) => join(fixtures, 'atif', name);
let made = 0;
/** Writes documents into a folder of their own; gives the path of the first. */
function folder(documents: Record<string, unknown>): string {
  const dir = join(temp, String(made++));
  for (const [name, value] of Object.entries(documents)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), JSON.stringify(value));
  }
  return join(dir, Object.keys(documents)[0]!);
}
const trajectory = (steps: unknown[], more = {}) => ({
  schema_version: 'ATIF-v1.7',
  session_id: 's',
  agent: { name: 'a', version: '1' },
  steps,
  ...more,
});
const step = { step_id: 1, source: 'agent', message: 'go' };

describe('a trajectory with a continuation', async () => {
  const episode = await one(fixture('trajectory.json'));

  test('is one episode; copied and model-free steps are context, not turns', () => {
    expect(episode.turns.map((t) => [t.observation, t.action])).toEqual([
      ['Find the file.', 'I list.'],
      ['a.txt', 'I try both.'],
      [
        'found\n\nError: no such file\n\n$ \n\n[autosave]\n\nsaved\n\nContext summarised.\n\nSummary: a.txt is the file.',
        'Done:\na.txt',
      ],
    ]);
  });

  test('a result answers the call it names, or the only one; a screen after two calls answers neither', () => {
    expect(episode.turns.map((t) => t.tool_calls)).toEqual([
      [{ name: 'sh', arguments: { cmd: 'ls' }, result: 'a.txt', error: null }],
      [
        { name: 'sh', arguments: { cmd: 'cat b.txt' }, result: 'Error: no such file', error: true },
        { name: 'sh', arguments: { cmd: 'cat a.txt' }, result: 'found', error: null },
      ],
      [],
    ]);
  });

  test('names, cost and times', () => {
    expect(episode).toMatchObject({
      episode_id: 's-1',
      policy: 'acme/m-1',
      task_id: null,
      reward: null,
      cost: 0.875,
      started_at: '2026-01-05T10:00:00Z',
      ended_at: '2026-01-05T10:05:00+00:00',
      meta: {
        session_id: 's-1',
        files: 2,
        context_agent_steps: 2,
        reasoning_turns: 1,
        final_metrics: { total_cost_usd: 1.5 },
      },
    });
    expect(episode.ending).toBeUndefined();
    expect(episode.turns[0]!.sampling).toEqual({ temperature: 0.5, top_p: null, top_k: null });
  });

  test('an append-only context is one segment; a rebuilt one starts another', () => {
    expect(episode.segments).toEqual([
      {
        token_ids: [1, 2, 3, 4, 5, 6, 7, 8],
        action_mask: [false, false, false, true, true, false, false, true],
        behaviour_logprobs: [null, null, null, -0.5, -0.25, null, null, -1],
        versions: null,
        token_turn: [null, null, null, 0, 0, null, null, 1],
      },
      {
        token_ids: [1, 9, 10, 11],
        action_mask: [false, false, true, true],
        behaviour_logprobs: null,
        versions: null,
        token_turn: [null, null, 2, 2],
      },
    ]);
    expect(episode.turns.map((t) => [t.segment, t.behaviour_logprob, t.n_action_tokens])).toEqual([
      [0, -0.75, 2],
      [0, -1, 1],
      [1, null, 2],
    ]);
  });

  test('the continuation and the sub-agent give no episode of their own', async () => {
    expect(await read(fixture('trajectory.cont-1.json'))).toEqual([]);
    expect(await read(fixture('trajectory.summary-1.json'))).toEqual([]);
  });
});

test('the same sub-agent file with nothing beside it is a trajectory', async () => {
  expect(await read(folder({ 'trajectory.summary-1.json': trajectory([step]) }))).toHaveLength(1);
});

test('a continuation whose first file does not refer to it is refused', async () => {
  const path = folder({
    'trajectory.cont-1.json': trajectory([step]),
    'trajectory.json': trajectory([step]),
  });
  await expect(read(path)).rejects.toThrow(/'trajectory\.cont-1\.json' continues another trajectory/);
  const agent = { name: 'a', extra: { continuation_index: 2 } };
  await expect(read(folder({ 'second.json': trajectory([step], { agent }) }))).rejects.toThrow(RecordError);
});

test('a missing continuation is named', async () => {
  const path = folder({ 'trajectory.json': trajectory([step], { continued_trajectory_ref: 'gone.json' }) });
  await expect(read(path)).rejects.toThrow(/continued_trajectory_ref: 'gone\.json' cannot be read/);
});

test('a cycle of continuations is refused by name', async () => {
  const path = folder({
    'a.json': trajectory([step], { continued_trajectory_ref: 'b.json' }),
    'b.json': trajectory([step], { continued_trajectory_ref: './a.json' }),
  });
  await expect(read(path)).rejects.toThrow(
    /'b\.json' continued_trajectory_ref leads back to 'a\.json'.*cycle/,
  );
});

test('what is wrong in a continuation names its file', async () => {
  const path = folder({
    'a.json': trajectory([step], { continued_trajectory_ref: 'b.json' }),
    'b.json': trajectory([{ source: 'robot' }]),
  });
  await expect(read(path)).rejects.toThrow(
    "'b.json' steps[0].source is 'robot', expected system, user or agent",
  );
});

describe('what nobody needs is left out, named and counted; the rollout is kept', () => {
  const kept = async (steps: unknown[], more = {}) => {
    const path = folder({ 'a.json': trajectory(steps, more) });
    const [found] = await atif.read(readJson(path), contextOf(path));
    const left = found!.notes!.map((n) => (n.code === 'field-left-out' ? n.about : n.code));
    return { episode: found!.episode, left };
  };

  test.each([
    ['no agent', { agent: undefined }, ['agent']],
    ['an agent of null', { agent: null }, ['agent']],
    ['an agent that is a name', { agent: 'terminus' }, ['agent']],
    ['an empty session', { session_id: '', trajectory_id: 't' }, ['session_id']],
    ['a session that is no name', { session_id: ['s'], trajectory_id: 7 }, ['session_id']],
  ])('%s', async (_, more, expected) => {
    const { episode, left } = await kept([step], more);
    expect(left).toEqual(expected);
    expect(episode).toMatchObject({ turns: [{ action: 'go' }] });
    expect(episode.episode_id).toBe('trajectory_id' in more ? String(more.trajectory_id) : 's');
  });

  test('a trajectory without any name has that of its trial, else of its file', async () => {
    const nameless = trajectory([step], { session_id: undefined });
    expect((await one(folder({ 'run-7.json': nameless }))).episode_id).toBe('run-7');
    expect((await one(folder({ 'job/task__x1/agent/trajectory.json': nameless }))).episode_id).toBe(
      'task__x1',
    );
  });

  test('a call without a name is a call; calls that are no list are not known', async () => {
    const observation = { results: [{ source_call_id: 'b', content: 'B' }] };
    const { episode, left } = await kept([
      {
        ...step,
        tool_calls: [{ tool_call_id: 'a' }, { tool_call_id: 'b', function_name: 'f' }],
        observation,
      },
      { ...step, tool_calls: { function_name: 'f' } },
      { ...step, tool_calls: ['f'], observation: { results: [{ content: 'seen' }] } },
      step,
    ]);
    expect(left).toEqual([
      ...['steps[].tool_calls[].function_name', 'steps[].tool_calls', 'steps[].tool_calls[]'],
      'calls-unread',
    ]);
    expect(episode.turns.map((t) => t.tool_calls)).toEqual([
      [
        { name: '', arguments: null, result: null, error: null },
        { name: 'f', arguments: null, result: 'B', error: null },
      ],
      null,
      null,
      [],
    ]);
    expect(episode.turns[3]!.observation).toBe('seen');
  });

  test('log-probabilities of another length than the token ids: no sum, none in the segment', async () => {
    const metrics = { prompt_token_ids: [5], completion_token_ids: [1, 2], logprobs: [-1] };
    const { episode, left } = await kept([{ ...step, metrics }]);
    expect(episode.turns[0]).toMatchObject({ behaviour_logprob: null, n_action_tokens: 2 });
    expect(episode.segments![0]).toMatchObject({ token_ids: [5, 1, 2], behaviour_logprobs: null });
    expect([episode.meta!.partial_logprob_turns, left]).toEqual([1, ['logprobs-partial']]);
  });

  test.each([
    ['null', null, null],
    ['the stand-in of vLLM', -9999, -9999],
    ['the least double', -1.7e308, null],
    ['text', 'low', null],
  ])('one log-probability is %s: no sum, the others kept', async (_, odd, stored) => {
    const metrics = { prompt_token_ids: [5], completion_token_ids: [1, 2], logprobs: [-1, odd] };
    const { episode, left } = await kept([
      { ...step, metrics },
      { ...step, metrics: { cost_usd: 1 } },
    ]);
    expect(episode.turns.map((t) => t.behaviour_logprob)).toEqual([null, null]);
    expect(episode.segments![0]!.behaviour_logprobs).toEqual([null, -1, stored]);
    expect(episode.meta!.partial_logprob_turns).toBe(1);
    expect(left).toEqual([...(odd === 'low' ? ['steps[].metrics.logprobs[]'] : []), 'logprobs-partial']);
  });

  test.each<[string, object, string]>([
    ['a time', { timestamp: 17 }, 'steps[].timestamp'],
    ['a count of calls', { llm_call_count: 'two' }, 'steps[].llm_call_count'],
    ['a name of a model', { model_name: ['m'] }, 'steps[].model_name'],
    ['metrics', { metrics: 'none' }, 'steps[].metrics'],
    ['a cost', { metrics: { cost_usd: '$1', completion_tokens: 4 } }, 'steps[].metrics.cost_usd'],
    ['a count of tokens', { metrics: { completion_tokens: -1 } }, 'steps[].metrics.completion_tokens'],
    [
      'token ids',
      { metrics: { prompt_token_ids: [1.5], completion_token_ids: [1] } },
      'steps[].metrics.prompt_token_ids[]',
    ],
  ])('%s', async (_, more, about) => {
    const { episode, left } = await kept([{ ...step, ...more }, step]);
    expect(episode.turns.map((t) => t.action)).toEqual(['go', 'go']);
    expect(left).toEqual([about]);
  });

  test('of the document', async () => {
    const more = {
      agent: { name: 7, model_name: {}, extra: 'x' },
      final_metrics: { total_cost_usd: 'much' },
    };
    const { episode, left } = await kept([step], more);
    expect(episode).toMatchObject({ policy: null, cost: null });
    expect(left).toEqual(['agent.extra', 'agent.name', 'agent.model_name', 'final_metrics.total_cost_usd']);
    expect((await kept([step], { final_metrics: [] })).left).toEqual(['final_metrics']);
  });
});

describe('an observation in another shape than results', () => {
  const call = { tool_call_id: 'a', function_name: 'f', arguments: {} };
  const asks = { ...step, tool_calls: [call] };
  const observes = (observation: unknown) => ({ source: 'system', message: '', observation });
  const read = async (...steps: unknown[]) => (await one(folder({ 'a.json': trajectory(steps) }))).turns;

  test.each<[string, unknown, string, boolean | null]>([
    [
      'content and what became of it',
      { content: 'EACCES', result: { success: false, error: 'EACCES' } },
      'EACCES',
      true,
    ],
    ['content', { type: 'tool_result', content: 'fine' }, 'fine', null],
    ['content in parts', { content: [{ type: 'text', text: 'fine' }] }, 'fine', null],
    ['content that is an object', { content: { n: 1 } }, '{"n":1}', null],
    ['its own word', { content: 'fine', is_error: false }, 'fine', false],
    ['text', 'fine', 'fine', null],
    ['a list', [{ source_call_id: 'a', content: 'fine' }], 'fine', null],
    ['one result that is no list', { results: { content: 'fine' } }, 'fine', null],
    ['no content', { output: 'fine', code: 0 }, '{"output":"fine","code":0}', null],
    ['results, one with an exception', { results: [{ content: 'no', is_error: true }] }, 'no', true],
  ])('%s', async (_, observation, result, error) => {
    for (const steps of [
      [{ ...asks, observation }, step],
      [asks, observes(observation), step],
    ]) {
      const [first, second] = await read(...steps);
      expect(first!.tool_calls).toEqual([{ name: 'f', arguments: {}, result, error }]);
      expect(second!.observation).toBe(result);
    }
  });

  test('beside two calls it answers neither; a second one answers none', async () => {
    const two = [call, { ...call, tool_call_id: 'b' }];
    const [first, second] = await read({ ...asks, tool_calls: two }, observes({ content: 'screen' }), step);
    expect(first!.tool_calls!.map((c) => c.result)).toEqual([null, null]);
    expect(second!.observation).toBe('screen');
    const [once, after] = await read(asks, observes('one'), observes('more'), step);
    expect([once!.tool_calls![0]!.result, after!.observation]).toEqual(['one', 'one\n\nmore']);
  });

  const found = join(shared, 'found/20-atif/obs-content.json');
  test.skipIf(!existsSync(found))('as it was found (skipped: ../shared is not here)', async () => {
    const { turns } = await one(found);
    expect(turns[0]!.tool_calls).toEqual([
      { name: 'f', arguments: {}, result: 'EACCES permission denied', error: true },
    ]);
    expect(turns[1]).toMatchObject({
      observation: 'Tool result\n\nEACCES permission denied',
      action: 'done',
    });
  });
});

test('the folder of the trial is kept for the join; a time without an offset is UTC, and no time stays as written', async () => {
  const path = folder({
    'hello__abc/agent/trajectory.json': trajectory([
      { ...step, timestamp: '2026-01-05T10:00:00' },
      { ...step, timestamp: 'ten past' },
    ]),
  });
  const episode = await one(path);
  expect(episode).toMatchObject({ started_at: '2026-01-05T10:00:00Z', ended_at: null, policy: 'a' });
  expect(episode.meta).toMatchObject({
    trial_name: 'hello__abc',
    times_as_written: { started_at: '2026-01-05T10:00:00', ended_at: 'ten past' },
  });
});

const logs = join(shared, 'logs/atif');
describe.skipIf(!existsSync(logs))('Harbor trajectories (skipped: ../shared is not here)', () => {
  // Expected values read off the files by eye: steps, costs and token counts as they stand in them.
  test('terminus-2: three turns, then four in the continuation', async () => {
    const dir = mkdtempSync(join(temp, 'harbor-'));
    const log = (name: string) => join(logs, `harbor_terminus2_continuation${name}.json`);
    copyFileSync(log(''), join(dir, 'trajectory.json'));
    copyFileSync(log('_cont1'), join(dir, 'trajectory.cont-1.json'));
    const episode = await one(join(dir, 'trajectory.json'));
    expect(episode.turns.map((t) => t.n_action_tokens)).toEqual([60, 50, 50, 420, 40, 40, 30]);
    expect(episode).toMatchObject({ episode_id: 'harbor-terminus2-continuation', policy: 'openai/gpt-4o' });
    expect(episode.cost).toBeCloseTo(0.00723 + 0.00845 + 2 * 0.002525 + 0.002425, 12);
    // The handoff is observed, the task once only.
    const handoff = episode.turns[3]!.observation!;
    expect(handoff).toMatch(/^New Terminal Output:[\s\S]*picking up work[\s\S]*Here are the answers/);
    expect(handoff).not.toContain('You are an AI assistant tasked with');
    expect(await read(join(dir, 'trajectory.cont-1.json'))).toEqual([]);
    await expect(read(log('_cont1'))).rejects.toThrow(/continues another trajectory/);
    await expect(read(log(''))).rejects.toThrow(/'trajectory\.cont-1\.json' cannot be read/);
  });

  test('terminus-2 with token ids: one segment a turn, since every prompt is rebuilt', async () => {
    const episode = await one(join(logs, 'harbor_terminus2_summarization.json'));
    expect(episode.turns.map((t) => t.segment)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(episode.segments.map((s) => s.token_ids.length)).toEqual([742, 800, 870, 2120, 890, 890, 880]);
    expect(episode.segments.map((s) => s.action_mask.filter(Boolean).length)).toEqual([
      60, 50, 50, 420, 40, 40, 30,
    ]);
    // log b of token i is −(i + 1)/10: Σ over 60 tokens = −183.
    expect(episode.turns[0]!.behaviour_logprob).toBeCloseTo(-183, 9);
    expect(episode.turns.map((t) => t.tool_calls!.length)).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect(episode.turns.every((t) => t.tool_calls![0]!.result !== null)).toBe(true);
  });

  test('openhands: two turns, four messages before the first', async () => {
    const episode = await one(join(logs, 'harbor_openhands.json'));
    expect(episode.turns.map((t) => t.tool_calls![0]!.name)).toEqual(['str_replace_editor', 'finish']);
    expect(episode.turns[1]!.observation).toBe('File created successfully at: /app/hello.txt');
    expect(episode.policy).toBe('openhands');
    expect(episode.cost).toBeCloseTo(0.00135, 12);
  });
});
