import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { ActionPart } from '../../src/schema/action-config.ts';
import type { Episode } from '../../src/schema/episode.ts';
import { actionFeatures, actionFeaturesFromEpisodes } from '../../src/trajectories/actions.ts';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { episodes, parse, withStore } from './arbitrary.ts';
import { broken, named } from './dense.ts';

const actions = (records: readonly Episode[], config = {}) =>
  actionFeaturesFromEpisodes(records, trajectoriesFromEpisodes(records), config);

test('the action of each turn of a small episode', () => {
  const call = (name: string, path: string) => ({ name, arguments: { path } });
  const records = parse([
    {
      turns: [
        {
          action: 'go',
          action_class: 'read',
          n_action_tokens: 3,
          tool_calls: [call('open', 'a'), call('ls', '')],
        },
        { action_class: 'act', tool_calls: [call('open', 'b'), call('open', 'b')] },
        { action: 'abc', n_action_tokens: 0, tool_calls: [call('open', 'a')] },
        {},
      ],
    },
    { turns: [{ n_action_tokens: 1, tool_calls: [call('open', 'a')] }] },
  ]);
  const rows = actions(records, { include: ActionPart.options.filter((part) => part !== 'ngrams') });
  expect([0, 1, 2, 3, 4].map((i) => named(rows, i))).toEqual([
    {
      'class=read': 1,
      n_calls: 2,
      action_length: Math.log(3),
      action_tokens: Math.log(4),
      'tool=open': 1,
      'tool=ls': 1,
    },
    { 'class=act': 1, n_calls: 2, repeated_call: 1, 'action_tokens.unknown': 1, 'tool=open': 1 },
    { n_calls: 1, repeated_call: 1, action_length: Math.log(4), 'tool=open': 1 },
    { 'action_tokens.unknown': 1 },
    { n_calls: 1, action_tokens: Math.log(2), 'tool=open': 1 },
  ]);
  expect(rows.names.slice(0, 2)).toEqual(['class=act', 'class=read']);
});

test('tools beyond the most frequent share one column, once a row', () => {
  const call = (name: string) => ({ name, arguments: null });
  const records = parse([{ turns: [{ tool_calls: ['c', 'a', 'b', 'a'].map(call) }] }]);
  const rows = actions(records, { include: ['tools'], maxTools: 1 });
  expect(rows.names).toEqual(['tool=a', 'tool.other']);
  expect([...rows.offsets]).toEqual([0, 2]);
  expect(named(rows, 0)).toEqual({ 'tool=a': 1, 'tool.other': 1 });
});

test.prop([episodes], { numRuns: 20 })('from a store and from memory: the same bytes', async (records) => {
  const stored = await withStore(records, async (store) =>
    actionFeatures(store, await loadTrajectories(store)),
  );
  expect(stored).toEqual(actions(records));
  expect(broken(stored)).toEqual([]);
});

test.prop([episodes, fc.string()])(
  'results, errors, rewards and observations are no part of it',
  (records, result) => {
    const altered = records.map((record) => ({
      ...record,
      reward: 1,
      turns: record.turns.map((turn) => ({
        ...turn,
        observation: result,
        reward: 2,
        tool_errors: 3,
        tool_calls: turn.tool_calls!.map((made) => ({ ...made, result, error: true })),
      })),
    }));
    expect(actions(altered)).toEqual(actions(records));
  },
);
