import { expect, test } from 'vitest';
import { criticRows } from '../../src/critic/critic-rows.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { Store } from '../../src/store/store.ts';
import { fittedOn } from '../../src/trajectories/fitted-on.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { plant, storeOf } from '../helpers/store.ts';

/** Six finished episodes of two policies, and one of each kind that a critic leaves out. */
const EPISODES: EpisodeInput[] = [
  ...Array.from(
    { length: 6 },
    (_, i): EpisodeInput => ({
      episode_id: `e${i}`,
      task_id: `t${i % 3}`,
      policy: i < 4 ? 'old' : 'new',
      ending: i === 2 ? 'limit' : 'terminated',
      reward: i % 2,
      turns: [
        { observation: `ask ${i}`, action: 'look', action_class: 'a', features: [i, 0.5], reward: 0.25 },
        { observation: '', action: `say ${i}`, action_class: 'b', features: [i, 1], reward: null },
      ],
    }),
  ),
  {
    episode_id: 'cut',
    task_id: 't0',
    policy: 'old',
    ending: 'truncated',
    reward: 1,
    turns: [{ action: 'x' }],
  },
  { episode_id: 'open', task_id: 't0', policy: 'old', ending: 'unfinished', turns: [{ action: 'x' }] },
  {
    episode_id: 'lost',
    task_id: 't1',
    policy: 'old',
    ending: 'aborted',
    reward: 1,
    turns: [{ action: 'x' }],
  },
  { episode_id: 'unpaid', task_id: 't1', policy: 'old', ending: 'terminated', turns: [{ action: 'x' }] },
  { episode_id: 'mute', task_id: 't2', policy: 'old', ending: 'terminated', reward: 1, turns: [] },
];

async function of<T>(episodes: readonly EpisodeInput[], body: (store: Store) => Promise<T>): Promise<T> {
  const store = await storeOf(episodes);
  try {
    return await body(store);
  } finally {
    store.close();
  }
}

const changedBy = (sql: string) =>
  of(EPISODES, async (store) => {
    const before = await fittedOn(store);
    await plant(store, sql);
    const after = await fittedOn(store);
    return (['episodes', 'turns', 'names', 'contents'] as const).filter((k) => before[k] !== after[k]);
  });

test('it counts the episodes and turns that the critic is fitted on, by policy too', async () => {
  await of(EPISODES, async (store) => {
    for (const policies of [null, ['old'], ['new'], ['new', 'old']]) {
      const t = await loadTrajectories(store, policies === null ? {} : { policies });
      const rows = criticRows(t, 2, 0);
      const on = await fittedOn(store, policies);
      expect([on.policies, on.episodes, on.turns]).toEqual([
        policies,
        rows.episodes.length,
        rows.rows.length,
      ]);
    }
    expect((await fittedOn(store)).episodes).toBe(6);
    expect((await fittedOn(store, ['new'])).episodes).toBe(2);
  });
});

test('the order in which episodes came changes nothing, nor do those that are left out', async () => {
  const whole = await of(EPISODES, (store) => fittedOn(store));
  expect(await of([...EPISODES].reverse(), (store) => fittedOn(store))).toEqual(whole);
  expect(await of(EPISODES.slice(0, 6), (store) => fittedOn(store))).toEqual(whole);
  const reordered = [3, 0, 5, 1, 4, 2].map((i) => EPISODES[i]!);
  expect(await of(reordered, (store) => fittedOn(store))).toEqual(whole);
  expect(await of([], (store) => fittedOn(store))).toEqual({
    policies: null,
    episodes: 0,
    turns: 0,
    names: '0',
    contents: '0',
  });
});

test.each([
  ['a reward', "UPDATE episodes SET reward = 0.5 WHERE episode_id = 'e1'"],
  ['two rewards, changed places', 'UPDATE episodes SET reward = 1 - reward WHERE episode IN (0, 1)'],
  [
    'a reward, moved to the last turn',
    'UPDATE episodes SET reward = 0 WHERE episode = 1; UPDATE turns SET reward = 1 WHERE episode = 1 AND turn = 1',
  ],
  [
    'rewards of turns, changed places',
    'UPDATE turns SET reward = CASE turn WHEN 1 THEN 0.25 END WHERE episode = 0',
  ],
  ['a turn that pays 0 for nothing', 'UPDATE turns SET reward = 0 WHERE episode = 0 AND turn = 1'],
  ['a task', "UPDATE episodes SET task_id = 't9' WHERE episode = 0"],
  ['no task', 'UPDATE episodes SET task_id = NULL WHERE episode = 0'],
  ['a policy', "UPDATE episodes SET policy = 'other' WHERE episode = 0"],
  ['an ending', "UPDATE episodes SET ending = 'limit' WHERE episode = 0"],
  ['an action class', "UPDATE turns SET action_class = 'b' WHERE episode = 0 AND turn = 0"],
  [
    'actions, changed places',
    "UPDATE turns SET action = CASE turn WHEN 0 THEN 'say 0' ELSE 'look' END WHERE episode = 0",
  ],
  ['an observation that was empty', 'UPDATE turns SET observation = NULL WHERE episode = 0 AND turn = 1'],
  [
    'an observation, moved into the action',
    'UPDATE turns SET action = observation, observation = action WHERE episode = 0 AND turn = 0',
  ],
  ['turns, changed places', 'UPDATE turns SET turn = 1 - turn WHERE episode = 0'],
  ['features', 'UPDATE turns SET features = [0, 0.25] WHERE episode = 0 AND turn = 0'],
  ['tool calls', `UPDATE turns SET tool_calls = '[{"name":"f"}]' WHERE episode = 0 AND turn = 0`],
  ['tool errors', 'UPDATE turns SET tool_errors = 3 WHERE episode = 0 AND turn = 0'],
])('it sees %s', async (_, sql) => {
  expect(await changedBy(sql)).toEqual(['contents']);
});

test.each([
  ['a name', "UPDATE episodes SET episode_id = 'x' WHERE episode = 0", ['names', 'contents']],
  [
    'two names, changed places',
    "UPDATE episodes SET episode_id = 'e' || (1 - episode) WHERE episode IN (0, 1)",
    ['contents'],
  ],
  [
    'an episode that has gone',
    'DELETE FROM turns WHERE episode = 0; DELETE FROM episodes WHERE episode = 0',
    ['episodes', 'turns', 'names', 'contents'],
  ],
  ['a turn that has gone', 'DELETE FROM turns WHERE episode = 0 AND turn = 1', ['turns', 'contents']],
  [
    'an episode that ends after all',
    "UPDATE episodes SET ending = 'terminated' WHERE episode_id = 'cut'",
    ['episodes', 'turns', 'names', 'contents'],
  ],
  [
    'a reward that comes after all',
    "UPDATE episodes SET reward = 0 WHERE episode_id = 'unpaid'",
    ['episodes', 'turns', 'names', 'contents'],
  ],
  [
    'a reward that is none',
    "UPDATE episodes SET reward = 'nan'::DOUBLE WHERE episode = 0",
    ['episodes', 'turns', 'names', 'contents'],
  ],
  ['what is left out', "UPDATE turns SET action = 'y' WHERE action = 'x'", []],
])('it sees %s', async (_, sql, seen) => {
  expect(await changedBy(sql)).toEqual(seen);
});
