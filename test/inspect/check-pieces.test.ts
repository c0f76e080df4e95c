import { expect, test } from 'vitest';
import { check } from '../../src/inspect/check.ts';
import { describe as describeStore } from '../../src/inspect/describe.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { plant, storeOf } from '../helpers/store.ts';

/** Two episodes of 3,000 tokens that begin with the same 2,000, and one whose last turn logs a wrong sum. */
const N = 3000;
const episode = (id: string, first: number, sum: number | null): EpisodeInput => ({
  episode_id: id,
  reward: 1,
  turns: [
    { segment: 0, action: 'a', behaviour_logprob: -0.5 * 1000, n_action_tokens: 1000 },
    { segment: 0, action: 'b', behaviour_logprob: sum, n_action_tokens: 2000 },
  ],
  segments: [
    {
      token_ids: Array.from({ length: N }, (_, k) => (k < 2000 ? k : first + k)),
      action_mask: Array.from({ length: N }, () => true),
      behaviour_logprobs: Array.from({ length: N }, () => -0.5),
      versions: Array.from({ length: N }, (_, k) => (k < 1500 ? 1 : 2)),
      token_turn: Array.from({ length: N }, (_, k) => (k < 1000 ? 0 : 1)),
    },
  ],
});

test('a segment in pieces is one segment: to describe, to the sums of its turns, to its order', async () => {
  const store = await storeOf([episode('a', 10_000, -1000), episode('b', 20_000, -1000)]);
  const { tokens, columns } = await describeStore(store);
  expect(tokens).toMatchObject({ segments: 2, tokens: 2 * N, actionTokens: 2 * N, withLogprob: 1 });
  expect(columns.find((c) => c.column === 'token_ids')?.present).toBe(1);
  expect(columns.some((c) => c.column === 'piece')).toBe(false);
  const codes = (await check(store)).findings.map((f) => f.code);
  expect(codes.filter((code) => /token|segment|logprob-sum|version/.test(code))).toEqual([]);
  store.close();
});

test('only whole segments count as repeated, once', async () => {
  const store = await storeOf([
    episode('a', 10_000, null),
    episode('b', 10_000, null),
    episode('c', 5, null),
  ]);
  const found = (await check(store)).findings.find((f) => f.code === 'duplicate-tokens');
  expect(found).toMatchObject({ count: 1, examples: [{ episode: 'b' }] });
  store.close();
});

test.each([
  ['DELETE FROM segments WHERE piece = 1 AND episode = 1', '2 pieces, numbered 0 to 2'],
  ['DELETE FROM segments WHERE piece = 0 AND episode = 1', '2 pieces, numbered 1 to 2'],
  [
    'INSERT INTO segments SELECT * FROM segments WHERE piece = 2 AND episode = 1',
    '4 pieces, numbered 0 to 2',
  ],
])('check tells pieces that are not whole: %s', async (sql, value) => {
  const store = await storeOf([episode('a', 10_000, null), episode('b', 20_000, null)]);
  await plant(store, sql);
  const found = (await check(store)).findings.find((f) => f.code === 'segment-broken');
  expect(found).toMatchObject({
    severity: 'error',
    count: 1,
    examples: [{ episode: 'b', segment: 0, value }],
  });
  store.close();
});
