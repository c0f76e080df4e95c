import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fc, test as property } from '@fast-check/vitest';
import { afterEach, expect, describe as group, test } from 'vitest';
import { describe } from '../../src/inspect/describe.ts';
import { Description } from '../../src/schema/describe.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import type { Store } from '../../src/store/store.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});
async function described(episodes: Iterable<EpisodeInput>, sql?: string): Promise<Description> {
  const store = await storeOf(episodes);
  opened.push(store);
  if (sql) await plant(store, sql);
  return Description.parse(await describe(store));
}

let next = 0;
const episode = (
  task: string | null,
  reward: number | null,
  more: Partial<EpisodeInput> = {},
): EpisodeInput => ({
  episode_id: `e${next++}`,
  task_id: task,
  reward,
  turns: [{ action: 'a' }],
  ...more,
});

/** Rewards of one task after the other, [tasks][trials]. */
const grid = (rewards: readonly (readonly number[])[]): EpisodeInput[] =>
  rewards.flatMap((row, c) => row.map((r) => episode(`t${c}`, r)));

const airline = resolve(import.meta.dirname, '../../../shared/logs/tau-bench/gpt-4o-airline.json');

/** The 200 rewards of the gpt-4o airline log of tau-bench: successes of four trials, task by task in the counts of its published histogram. */
const AIRLINE = [
  [0, 14],
  [1, 12],
  [2, 10],
  [3, 4],
  [4, 10],
].flatMap(([s, tasks]) => Array.from({ length: tasks! }, () => [0, 1, 2, 3].map((k) => (k < s! ? 1 : 0))));

test('four trials of fifty airline tasks: the published summary', async () => {
  const d = await described(grid(AIRLINE));
  expect(d.episodes).toBe(200);
  expect(d.tasks).toBe(50);
  expect(d.trialsPerTask).toEqual({ min: 4, mean: 4, max: 4, histogram: [{ trials: 4, tasks: 50 }] });
  expect(d.reward!.mean).toBeCloseTo(0.42, 12);
  expect(d.reward!.seNaive).toBeCloseTo(0.0349, 4);
  expect(Math.abs(d.reward!.se! - 0.0522)).toBeLessThan(0.0002);
  expect(Math.abs(d.reward!.theseTasks!.se - 0.027)).toBeLessThan(0.0005);
  expect(d.zeroVarianceTasks).toBe(24);
  expect(d.successHistogram!.map((h) => h.tasks)).toEqual([14, 12, 10, 4, 10]);
  // agentic-known-answers.json, tau_bench_gpt4o_airline
  [0.42, 0.2733333333333333, 0.22, 0.2].forEach((p, k) => {
    expect(d.passHatK![k]).toBeCloseTo(p, 12);
  });
  expect(d.reward!.interval!.method).toContain('49 degrees');
});

test('se is CR1 and theseTasks.se is the spread within, by hand', async () => {
  // Tasks (1, 0), (3, 3), (2, 4): mean 13/6; cluster sums of deviations −10/3, 5/3, 5/3.
  const d = await described(
    grid([
      [1, 0],
      [3, 3],
      [2, 4],
    ]),
  );
  const r = d.reward!;
  expect(r.mean).toBeCloseTo(13 / 6, 12);
  expect(r.se).toBeCloseTo(Math.sqrt((3 / 2) * (100 / 9 + 25 / 9 + 25 / 9)) / 6, 12);
  // Within: s² = ½, 0, 2; Σ n s² = 5.
  expect(r.theseTasks!.se).toBeCloseTo(Math.sqrt(5) / 6, 12);
  expect(r.interval).toBeNull(); // 3 tasks; 3 degrees of freedom within them
  expect(r.theseTasks!.interval).toBeNull();
  expect(d.zeroVarianceTasks).toBe(1);
  expect(d.passHatK).toBeNull();
  expect(d.successHistogram).toBeNull();
});

test('the interval is of t from 5 tasks on, with the tasks less one degrees of freedom', async () => {
  const r = (await described(grid([[1, 0], [3, 3], [2, 4], [1], [0, 0, 2]]))).reward!;
  // t quantile .975 with 4 degrees of freedom is 2.7764451051977987.
  expect(r.interval!.hi - r.mean).toBeCloseTo(2.7764451051977987 * r.se!, 9);
  const four = await described(grid([[1, 0], [3, 3], [2, 4], [1]]));
  expect(four.reward!.interval).toBeNull();
  expect(four.reward!.se).toBeGreaterThan(0);
  expect(four.warnings.map((w) => w.message).join()).toContain('(here 4)');
});

const sumOf = (r: readonly number[]): number => r.reduce((a, b) => a + b, 0);
/** C(n, k). */
const choose = (n: number, k: number): number =>
  k < 0 || k > n ? 0 : k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k;

property.prop(
  [fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 })],
  {
    numRuns: 15,
  },
)('pass^k is the mean of C(c, k)/C(n, k), and pass^1 the mean over tasks', async (rewards) => {
  const d = await described(grid(rewards));
  const fewest = Math.min(...rewards.map((r) => r.length));
  expect(d.passHatK!.length).toBe(fewest);
  for (let k = 1; k <= fewest; k++) {
    const each = rewards.map((r) => choose(sumOf(r), k) / choose(r.length, k));
    expect(d.passHatK![k - 1]).toBeCloseTo(each.reduce((a, b) => a + b, 0) / rewards.length, 12);
  }
  expect(d.reward!.theseTasks === null).toBe(fewest < 2);
});

group('who is out of the reward statistics', () => {
  test('aborted and unrewarded episodes, with both denominators', async () => {
    const d = await described([
      episode('a', 1),
      episode('a', 0),
      episode('b', 1, { ending: 'aborted' }),
      episode('b', null),
      episode('b', null, { turns: [{ reward: 0.5 }, { reward: 0.25 }] }),
      episode(null, 1),
    ]);
    expect(d.reward).toMatchObject({
      n: 4,
      episodes: 6,
      aborted: 1,
      withoutReward: 1,
      missingTask: 1,
      clusters: 3,
    });
    expect(d.reward!.mean).toBeCloseTo((1 + 0 + 0.75 + 1) / 4, 12);
    expect(d.reward!.theseTasks).toBeNull();
    expect(d.endings).toEqual({ terminated: 4, limit: 0, truncated: 0, aborted: 1, unfinished: 1 });
    expect(d.warnings.map((w) => w.code)).toEqual(
      expect.arrayContaining(['aborted', 'without-reward', 'missing-task', 'few-clusters', 'cut-short']),
    );
  });

  test('returns that are not finite', async () => {
    const d = await described(
      [episode('a', 1), episode('b', 1), episode('c', 2)],
      "UPDATE episodes SET reward = 'nan'::DOUBLE WHERE task_id = 'a'",
    );
    expect(d.reward).toMatchObject({ n: 2, nonFinite: 1, mean: 1.5 });
    expect(d.warnings.map((w) => w.code)).toContain('return-not-finite');
  });

  test('no reward at all, and no episode at all', async () => {
    expect((await described([episode('a', null)])).reward).toBeNull();
    const d = await described([]);
    expect([d.episodes, d.reward, d.tokens, d.trialsPerTask, d.turnsPerEpisode]).toEqual([
      0,
      null,
      null,
      null,
      null,
    ]);
    expect(d.warnings.map((w) => w.code)).toEqual(['no-episodes']);
  });
});

test('a task with one trial has no spread to speak of, and is not counted as without', async () => {
  expect((await described(grid([[1], [1, 1], [0, 1], [0, 0, 0]]))).zeroVarianceTasks).toBe(2);
});

test('turns, tokens, tools, versions, policies and columns are counted', async () => {
  const tool = (name: string, error: boolean | null) => ({ name, arguments: {}, error });
  const d = await described([
    episode('a', 1, {
      policy: 'P',
      version_start: '3',
      turns: [
        { tool_calls: [tool('search', true), tool('search', false)], n_action_tokens: 2, version: '4' },
        { tool_calls: [tool('search', null), tool('click', null)], n_action_tokens: 1 },
        { action: 'bye', features: [1, 2] },
      ],
      segments: [
        {
          token_ids: [5, 6, 7, 8],
          action_mask: [0, 1, 1, 1],
          behaviour_logprobs: [-9, -1, null, -2], // the first was not sampled
        },
      ],
    }),
    episode('b', 0, { policy: 'Q' }),
    episode('c', 0, { policy: 'P' }),
  ]);
  expect(d.turns).toBe(5);
  expect(d.turnsPerEpisode).toMatchObject({ mean: 5 / 3, min: 1, p50: 1, max: 3 });
  expect(d.turnsPerEpisode!.p90).toBeCloseTo(1 + 0.8 * 2, 12); // h = 2 · .9 between the second and the third
  expect(d.tokens).toMatchObject({ segments: 1, tokens: 4, actionTokens: 3, withLogprob: 2 / 3 });
  expect(d.tokens!.perTurn).toMatchObject({ mean: 1.5, max: 2 });
  expect(d.tools).toEqual([
    { tool: 'search', calls: 3, errors: 1, errorRate: 1 / 2, errorRateAtLeast: 1 / 3, errorUnknown: 1 },
    { tool: 'click', calls: 1, errors: 0, errorRate: null, errorRateAtLeast: 0, errorUnknown: 1 },
  ]);
  expect(d.versions).toEqual([
    { version: '3', turns: 2, episodes: 1 },
    { version: '4', turns: 1, episodes: 1 },
  ]);
  expect(d.policies).toMatchObject([
    { policy: 'P', episodes: 2, n: 2, meanReward: 0.5 },
    { policy: 'Q', episodes: 1, n: 1, meanReward: 0 },
  ]);
  const present = (table: string, column: string) =>
    d.columns.find((c) => c.table === table && c.column === column)!.present;
  expect(present('turns', 'tool_calls')).toBeCloseTo(2 / 5, 12);
  expect(present('turns', 'features')).toBeCloseTo(1 / 5, 12);
  expect(present('turns', 'action')).toBeCloseTo(3 / 5, 12);
  expect(present('episodes', 'version_start')).toBeCloseTo(1 / 3, 12);
  expect(present('segments', 'behaviour_logprobs')).toBe(1);
  expect(present('segments', 'versions')).toBe(0);
});

test('simulated episodes: counts agree with the episodes themselves', async () => {
  const episodes = [...simulateToolAgent({ tasks: 40, episodes: 400, seed: 1 })];
  const G = episodes.map((e) => e.reward! + e.turns.reduce((sum, t) => sum + t.reward!, 0));
  const d = await described(episodes);
  expect(d.turns).toBe(episodes.reduce((sum, e) => sum + e.turns.length, 0));
  expect(d.reward!.mean).toBeCloseTo(G.reduce((a, b) => a + b, 0) / 400, 12);
  expect(d.endings.limit).toBe(episodes.filter((e) => e.ending === 'limit').length);
  expect(d.reward!.binary).toBe(false);
  expect(d.warnings.map((w) => w.code)).toEqual(['simulated']);
});

test.skipIf(!existsSync(airline))('the airline log itself (skipped: ../shared is not here)', async () => {
  const runs = JSON.parse(readFileSync(airline, 'utf8')) as {
    task_id: number;
    trial: number;
    reward: number;
    traj: { role: string }[];
  }[];
  const d = await described(
    runs.map((run, i) =>
      episode(String(run.task_id), run.reward, {
        episode_id: `run ${i}`,
        trial: run.trial,
        turns: run.traj.filter((m) => m.role === 'assistant').map(() => ({ action: 'a' })),
      }),
    ),
  );
  expect([d.episodes, d.tasks, d.turns, d.zeroVarianceTasks]).toEqual([200, 50, 2454, 24]);
  expect(d.turnsPerEpisode).toMatchObject({ mean: 12.27, max: 30 });
  expect(d.reward!.mean).toBeCloseTo(0.42, 12);
  expect(Math.abs(d.reward!.se! - 0.0522)).toBeLessThan(0.0002);
});
