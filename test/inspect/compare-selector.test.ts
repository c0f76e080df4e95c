import { afterAll, beforeAll, expect, test } from 'vitest';
import { policyPair, type Selection, selectPolicies } from '../../src/inspect/compare-selector.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { queryRows } from '../../src/store/query.ts';
import type { Store } from '../../src/store/store.ts';
import { plant, storeOf } from '../helpers/store.ts';

let store: Store;
beforeAll(async () => {
  const one = (
    id: string,
    policy: string,
    from: string | null = null,
    to: string | null = null,
  ): EpisodeInput => ({
    episode_id: id,
    policy,
    version_start: from,
    version_end: to,
    turns: [],
  });
  store = await storeOf([
    one('0', 'agent', 'v1', 'v1'),
    one('1', 'agent', 'v1', 'v2'),
    one('2', 'agent', 'v2', null),
    one('3', 'a@b'),
    one('4', 'a'),
    one('5', 'x,y'),
    one('6', 'x'),
  ]);
  await plant(
    store,
    `INSERT INTO sources (source, path, sha256, format, bytes, episodes, turns, rejects, ingested_at) VALUES
     (7, 'logs/mon.jsonl', 'abcdef01', 'canonical', 0, 0, 0, 0, now()), (8, 'old/mon.jsonl', 'abcdef02', 'canonical', 0, 0, 0, 0, now())`,
  );
  await plant(store, 'UPDATE episodes SET source = CASE WHEN episode < 3 THEN 7 ELSE 8 END');
});
afterAll(() => store.close());

const ids = async (s: Selection): Promise<string> =>
  (
    await queryRows(
      store,
      `SELECT e.episode_id AS id FROM episodes e WHERE ${s.where} ORDER BY id`,
      s.parameters,
    )
  )
    .map((r) => r.id)
    .join('');
const chosen = async (a: string, b: string): Promise<string[]> => {
  const pair = await selectPolicies(store, a, b);
  return [await ids(pair[0]), await ids(pair[1])];
};

test('a name, a version, a file by path, by its end, by its hash', async () => {
  expect(await chosen('agent', 'a')).toEqual(['012', '4']);
  // An episode that began under v1 and ended under v2 is of neither.
  expect(await chosen('agent@v1', 'agent@v2')).toEqual(['0', '2']);
  // A name that is in the logs as it stands comes first.
  expect(await chosen('a@b', 'a')).toEqual(['3', '4']);
  expect(await chosen('source:logs/mon.jsonl', 'source:abcdef02')).toEqual(['012', '3456']);
});

test.each([
  ['agent', 'nobody', /unknown policy, got "nobody".*"a", "a@b", "agent", "x", "x,y", "source:logs/],
  ['agent@v9', 'a', /no episode began and ended under that version.*v1, v2/],
  ['source:mon.jsonl', 'a', /several files fit.*abcdef01.*abcdef02/],
  ['source:', 'a', /unknown policy/],
  ['agent', 'agent@v1', /share episodes.*1 on both sides/],
  ['agent', 'source:logs/mon.jsonl', /3 on both sides/],
  ['', 'a', /unknown policy/],
])('"%s" against "%s" is a usage error', async (a, b, message) => {
  const error = await selectPolicies(store, a, b).catch((e) => e);
  expect(error.exitCode).toBe(2);
  expect(error.message).toMatch(message);
});

test('the comma that leaves a known name on either side is the one that counts', async () => {
  expect(await policyPair(store, ['agent,a'])).toEqual(['agent', 'a']);
  expect(await policyPair(store, ['x,y,a'])).toEqual(['x,y', 'a']);
  expect(await policyPair(store, ['a,x,y'])).toEqual(['a', 'x,y']);
  expect(await policyPair(store, ['x,y', 'a'])).toEqual(['x,y', 'a']);
  for (const wrong of [['a'], ['a,'], ['a', 'b', 'c'], ['p,q,r']])
    await expect(policyPair(store, wrong)).rejects.toMatchObject({ exitCode: 2 });
});
