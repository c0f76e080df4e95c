import { test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { episodeReturn, returnCounts, rewardToGo, turnRewards } from '../../src/trajectories/return.ts';
import { takeEpisodes } from '../../src/trajectories/view.ts';
import { episodes, parse } from './arbitrary.ts';

const turns = (...rewards: (number | null)[]) => rewards.map((reward) => ({ reward }));
const records = parse([
  { reward: 1, turns: turns(0.5, null, 0.25) }, // 1.75
  { reward: null, turns: turns(2, -1) }, // 1
  { reward: 3, turns: turns(null, null) }, // 3
  { reward: null, turns: turns(null) }, // without reward
  { reward: 5, ending: 'aborted', turns: turns(7) }, // aborted
  { reward: 0, ending: 'unfinished', turns: turns(null) }, // 0
  { reward: null, ending: 'truncated', turns: turns(null, 4) }, // 4
  { reward: 9, ending: 'limit', turns: [] }, // 9, no turn
]);
const t = trajectoriesFromEpisodes(records);
const none = Number.NaN;

test('G = Σ turn rewards + episode reward; aborted and rewardless episodes have none', () => {
  expect([...episodeReturn(t)]).toEqual([1.75, 1, 3, none, none, 0, 4, 9]);
  expect([...episodeReturn(takeEpisodes(t, [6, 0, 0]))]).toEqual([4, 1.75, 1.75]);
});

test('the reward of the episode is paid at its last turn', () => {
  expect([...turnRewards(t)]).toEqual([0.5, 0, 1.25, 2, -1, 0, 3, none, none, 0, 0, 4]);
  expect([...rewardToGo(t)]).toEqual([1.75, 1.25, 1.25, 1, -1, 3, 3, none, none, 0, 4, 4]);
});

test('counts by ending', () => {
  expect(returnCounts(t)).toEqual({
    episodes: 8,
    defined: 6,
    aborted: 1,
    withoutReward: 1,
    byEnding: {
      terminated: { episodes: 3, defined: 3 },
      limit: { episodes: 1, defined: 1 },
      truncated: { episodes: 1, defined: 1 },
      aborted: { episodes: 1, defined: 0 },
      unfinished: { episodes: 2, defined: 1 },
    },
  });
});

test.prop([episodes])('the reward to go at the first turn is the return, to the last bit', (logged) => {
  const u = trajectoriesFromEpisodes(logged);
  const G = episodeReturn(u);
  const toGo = rewardToGo(u);
  for (let e = 0; e < G.length; e++)
    if (u.episodeOffsets[e]! < u.episodeOffsets[e + 1]!) expect(toGo[u.episodeOffsets[e]!]).toBe(G[e]);
});

test.prop([episodes])('Σ turnRewards = G', (logged) => {
  const u = trajectoriesFromEpisodes(logged);
  const r = turnRewards(u);
  episodeReturn(u).forEach((G, e) => {
    const row = r.subarray(u.episodeOffsets[e]!, u.episodeOffsets[e + 1]!);
    const sum = row.reduce((a, b) => a + b, 0);
    if (row.length > 0) expect(Number.isNaN(G) ? Number.isNaN(sum) : Math.abs(sum - G) < 1e-12).toBe(true);
  });
});
