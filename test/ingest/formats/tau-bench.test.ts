import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tauBench } from '../../../src/ingest/formats/tau-bench.ts';
import { contextOf, episodesOf, fixtures, readJson, shared } from './context.ts';

const path = join(fixtures, 'tau-bench.json');
const runs = readJson(path);
const read = async (run: unknown, ordinal = 0) =>
  (await episodesOf(tauBench, run, contextOf(path, ordinal)))[0]!;

test('an assistant message is a turn; what came in since the last one is its observation', async () => {
  const { episode } = await read(runs[0]);
  expect(episode).toMatchObject({
    episode_id: 'tau-bench/3/0',
    task_id: '3',
    trial: 0,
    policy: 'tau-bench',
    reward: 1,
    ending: 'terminated',
    cost: null,
  });
  expect(episode.turns.map((t) => [t.observation, t.action])).toEqual([
    ['You book rooms.\n\nA room, please.', 'Which one?'],
    ['Seven.', null],
    ['Error: room 8 is taken', 'Again.'],
    ['{"booked": 7}', 'Room 7 is yours.'],
  ]);
  expect(episode.turns.map((t) => t.tool_calls)).toEqual([
    [],
    [{ name: 'book', arguments: { room: 8 }, result: 'Error: room 8 is taken', error: true }],
    [{ name: 'book', arguments: { room: 7 }, result: '{"booked": 7}', error: false }],
    [],
  ]);
});

test('arguments that are no JSON stay the text the model wrote', async () => {
  const { episode } = await read(runs[1]);
  expect(episode.turns[0]!.tool_calls).toEqual([
    { name: 'transfer_to_human_agents', arguments: '{not json', result: 'Transfer successful', error: false },
  ]);
  expect(episode).toMatchObject({ ending: 'terminated', reward: 0 });
});

test('gold answers go behind the fence, the cost of the simulated user to meta', async () => {
  const { episode, fenced } = await read(runs[0]);
  expect(fenced).toEqual({
    'task.instruction': 'You are ada. You want room 7.',
    'task.actions': [{ name: 'book', kwargs: { room: 7 } }],
    'task.outputs': ['7'],
    reward_info: runs[0].info.reward_info,
  });
  expect(episode.meta).toEqual({ user_cost: 0.25, user_id: 'ada', final_observation: '###STOP###' });
  expect(JSON.stringify(episode)).not.toContain('feed');
});

test('a crash of the harness is aborted, and its reward of 0 is none', async () => {
  const { episode } = await read(runs[2]);
  expect(episode).toMatchObject({ ending: 'aborted', reward: null, turns: [] });
  expect(episode.meta).toEqual({ error: 'rate limit', logged_reward: 0 });
});

test.each([
  [29, null, undefined, 'truncated'],
  [29, undefined, undefined, 'terminated'],
  [30, null, undefined, 'limit'],
  [30, undefined, undefined, 'limit'],
  [30, null, '###STOP###', 'terminated'],
  [30, {}, undefined, 'terminated'],
])('%i turns, reward_info %j, last word %j: %s', async (turns, rewardInfo, last, ending) => {
  const traj = Array.from({ length: turns }, () => [
    { role: 'user', content: 'And?' },
    { role: 'assistant', content: 'Wait.' },
  ]).flat();
  if (last !== undefined) traj.push({ role: 'user', content: last });
  const run = { task_id: 1, trial: 0, reward: 0, info: { reward_info: rewardInfo }, traj };
  expect((await read(run)).episode.ending).toBe(ending);
});

test('a run without reward has no ending of its own; one without trial is named by its place', async () => {
  const { episode } = await read({ task_id: 'x', reward: null, traj: [] }, 5);
  expect(episode).toMatchObject({ episode_id: 'tau-bench/x/#5', reward: null, trial: null });
  expect(episode.ending).toBeUndefined();
});

const airline = join(shared, 'logs/tau-bench/gpt-4o-airline.json');
// Expected: cases/agentic-known-answers.json, tau_bench_gpt4o_airline; tool calls and failures
// counted from the file by a separate script (1,164 calls, 73 answers that start with "Error").
test.skipIf(!existsSync(airline))(
  'the airline log comes out whole (skipped: ../shared is not here)',
  async () => {
    const all = await Promise.all(
      (readJson(airline) as unknown[]).map(
        async (run, i) => (await episodesOf(tauBench, run, contextOf(airline, i)))[0]!,
      ),
    );
    const episodes = all.map((a) => a.episode);
    const turns = episodes.flatMap((e) => e.turns);
    const calls = turns.flatMap((t) => t.tool_calls!);
    expect(new Set(episodes.map((e) => e.episode_id)).size).toBe(200);
    expect(new Set(episodes.map((e) => e.task_id)).size).toBe(50);
    expect(turns.length).toBe(2454);
    expect(episodes.reduce((sum, e) => sum + e.reward!, 0)).toBe(84);
    expect(calls.length).toBe(1164);
    expect(calls.filter((c) => c.error).length).toBe(73);
    expect(calls.every((c) => c.result !== null)).toBe(true);
    expect(episodes.filter((e) => e.ending === 'limit').map((e) => e.turns.length)).toEqual([
      30, 30, 30, 30, 30,
    ]);
    expect(episodes.filter((e) => e.ending === 'terminated').length).toBe(195);
    expect(all.every((a) => a.fenced !== undefined && 'task.actions' in a.fenced)).toBe(true);
    expect(episodes.some((e) => JSON.stringify(e).includes('gt_data_hash'))).toBe(false);
  },
);
