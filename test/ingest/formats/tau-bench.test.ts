import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

describe('the task carries its domain', () => {
  const run = (more: object = {}) => ({ task_id: 3, trial: 0, reward: 1, info: {}, traj: [], ...more });
  const system = (content: string) => ({ traj: [{ role: 'system', content }] });
  const call = (name: string) => ({
    traj: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: '{}' } }],
      },
    ],
  });
  const task = async (record: object, at = path) =>
    (await episodesOf(tauBench, record, contextOf(at)))[0]!.episode.task_id;

  test.each<[string, object, string]>([
    ['by the head of its policy', system('# Airline Agent Policy\n\nThe current time is'), 'airline/3'],
    ['of retail', system('# Retail agent policy\n\nAs a retail agent, you can help'), 'retail/3'],
    ['of telecom', system('<policy>\n# Telecom Agent Policy\n'), 'telecom/3'],
    ['of a domain of its own', system('# Hotel Agent Policy\n'), 'hotel/3'],
    ['by what the agent is', system('You are a retail customer service agent.'), 'retail/3'],
    ['by a tool of the airline', call('get_reservation_details'), 'airline/3'],
    ['by a tool of the shop', call('exchange_delivered_order_items'), 'retail/3'],
    ['by a tool of the carrier', call('refuel_data'), 'telecom/3'],
    [
      'by the names of the gold actions',
      { info: { task: { actions: [{ name: 'cancel_pending_order', kwargs: {} }] } } },
      'retail/3',
    ],
    ['by a field', { env: 'MockRetailDomainEnv' }, 'retail/3'],
    [
      'by a field of info, which comes first',
      { info: { domain: 'telecom' }, ...system('# Airline Agent Policy') },
      'telecom/3',
    ],
    ['once', { task_id: 'airline_3', ...system('# Airline Agent Policy') }, 'airline_3'],
    ['not by what any agent is', system('You are a helpful agent.'), '3'],
    ['not by tools of both', call('transfer_to_human_agents'), '3'],
  ])('%s', async (_, more, expected) => expect(await task(run(more))).toBe(expected));

  test.each([
    ['/logs/gpt-4o-retail.json', 'retail/3'],
    ['/logs/airline_run_2.json.gz', 'airline/3'],
    ['/logs/retailer.json', '3'],
    ['-', '3'],
  ])('else by the name of the file: %s', async (at, expected) =>
    expect(await task(run(), at)).toBe(expected),
  );

  test('a run that crashed at once has the domain of those beside it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnwise-tau-'));
    const at = join(folder, 'runs.json');
    const crashed = run({ info: { error: 'rate limit' } });
    writeFileSync(at, JSON.stringify([crashed, run(system('# Airline Agent Policy\n'))]));
    expect(await task(crashed, at)).toBe('airline/3');
    writeFileSync(at, JSON.stringify([crashed, run(call('return_delivered_order_items'))]));
    expect(await task(crashed, at)).toBe('retail/3');
    rmSync(folder, { recursive: true });
  });
});

test('what nobody needs is left out, named and counted; the run is kept', async () => {
  const record = {
    ...runs[0],
    trial: 'first',
    info: { ...runs[0].info, user_cost: 'free', task: { user_id: ['ada'], instruction: 'x' } },
  };
  const [found] = await tauBench.read(record, contextOf(path, 4));
  expect(found!.episode).toMatchObject({
    episode_id: 'tau-bench/3/#4',
    trial: null,
    reward: 1,
    ending: 'terminated',
  });
  expect(found!.episode.turns).toHaveLength(4);
  expect(found!.notes).toEqual(
    ['trial', 'info.user_cost', 'info.task.user_id'].map((about) => ({ code: 'field-left-out', about })),
  );
  const [bare] = await tauBench.read({ ...runs[0], info: 'none' }, contextOf(path));
  expect(bare!.episode.reward).toBe(1);
  expect(bare!.notes).toEqual([{ code: 'field-left-out', about: 'info' }]);
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
    expect(new Set(episodes.map((e) => e.task_id))).toEqual(
      new Set(Array.from({ length: 50 }, (_, k) => `airline/${k}`)),
    );
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
