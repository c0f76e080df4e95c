import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import type { Episode } from '../../src/schema/episode.ts';
import { StatePart } from '../../src/schema/state-config.ts';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { stateFeatures, stateFeaturesFromEpisodes } from '../../src/trajectories/states.ts';
import { episodes, parse, turn, withStore } from './arbitrary.ts';
import { broken, named } from './dense.ts';

const without = (...left: StatePart[]) => StatePart.options.filter((part) => !left.includes(part));
const states = (records: readonly Episode[], config = {}) =>
  stateFeaturesFromEpisodes(records, trajectoriesFromEpisodes(records), config);

test('the state of each turn of a small episode', () => {
  const open = { name: 'open', arguments: { path: 'a', line: 1 } };
  const records = parse([
    {
      turns: [
        { observation: 'abc', action: 'hello', tool_calls: [open], tool_errors: 1 },
        { observation: null, action: null, tool_calls: [{ name: 'search', arguments: 'x', error: null }] },
        { action: 'hi', tool_calls: [{ name: 'open', arguments: { line: 1, path: 'a' }, error: false }] },
        { observation: 'done', action: 'bye' },
        { action: 'never seen' },
      ],
    },
    { turns: [{ observation: 'abc' }] },
  ]);
  const rows = states(records, { include: without('ngrams') });
  expect([0, 1, 2, 3, 4, 5].map((i) => named(rows, i))).toEqual([
    { observation_length: Math.log(4) },
    {
      turn: 1,
      n_calls: 1,
      'last_call.failed': 1,
      previous_action_length: Math.log1p(5),
      'last_tool=open': 1,
    },
    { turn: 2, n_calls: 2, 'last_call.unknown': 1, 'last_tool=search': 1 },
    {
      turn: 3,
      n_calls: 3,
      repeated_call: 1,
      observation_length: Math.log(5),
      previous_action_length: Math.log(3),
      'last_tool=open': 1,
    },
    { turn: 4, n_calls: 3, previous_action_length: Math.log(4), 'last_tool=open': 1 },
    { observation_length: Math.log(4) },
  ]);
});

test('the most frequent tools have a column, in order of name; the rest share `other`', () => {
  const call = (name: string) => ({ tool_calls: [{ name, arguments: {} }] });
  const records = parse([{ turns: ['c', 'b', 'a', 'b', 'c', 'd'].map(call).concat({ tool_calls: [] }) }]);
  const auto = states(records, { include: ['last_tool'], maxTools: 2 });
  expect(auto.names).toEqual(['last_tool=b', 'last_tool=c', 'last_tool.other']);
  expect(Array.from({ length: 7 }, (_, i) => Object.keys(named(auto, i))[0]?.slice(10))).toEqual(
    [undefined, 'c', 'b', 'other', 'b', 'c', 'other'].map((x) => x),
  );
  const declared = states(records, { include: ['last_tool'], tools: ['a', 'z'] });
  expect(declared.names).toEqual(['last_tool=a', 'last_tool=z', 'last_tool.other']);
});

test('logged features: a column a value where they are few, and one for their absence', () => {
  const few = parse([{ turns: [{ features: [1, 5] }, { features: [-2] }, { features: [1] }] }]);
  const rows = states(few, { include: ['features'] });
  expect(rows.names).toEqual(['features.0=-2', 'features.0=1', 'features.1=5', 'features.1.missing']);
  expect(named(rows, 1)).toEqual({ 'features.0=-2': 1, 'features.1.missing': 1 });
  const many = parse([{ turns: Array.from({ length: 17 }, (_, k) => ({ features: [k + 0.5] })) }]);
  expect(states(many, { include: ['features'] }).names).toEqual(['features.0']);
  const never = states(few, { include: ['features'], oneHotFeatures: 'never' });
  expect([never.names, named(never, 1)]).toEqual([
    ['features.0', 'features.1', 'features.1.missing'],
    { 'features.0': -2, 'features.1.missing': 1 },
  ]);
  const infinite = parse([{ turns: [{ features: [1] }] }]);
  infinite[0]!.turns[0]!.features![0] = Number.POSITIVE_INFINITY;
  expect(() => states(infinite)).toThrow(/feature 0: not a finite number/);
});

test.prop([episodes], { numRuns: 20 })('from a store and from memory: the same bytes', async (records) => {
  const stored = await withStore(records, async (store) =>
    stateFeatures(store, await loadTrajectories(store)),
  );
  expect(stored).toEqual(states(records));
  expect(broken(stored)).toEqual([]);
});

test('trajectories of another store are refused', async () => {
  const t = trajectoriesFromEpisodes(parse([{ turns: [{}, {}] }]));
  const other = parse([{ turns: [{}] }]);
  await withStore(other, (store) =>
    expect(stateFeatures(store, t)).rejects.toThrow(/turns are not those of the trajectories/),
  );
  expect(() => stateFeaturesFromEpisodes(other, t)).toThrow(/episode e0: its turns are not those/);
});

/**
 * No leak: everything that comes with or after the action of turn k is replaced, later turns are
 * others and another number, and the state of turns 0 … k stays as it was. Tools are few enough to
 * have a column each, and columns are compared by name.
 */
const changes = fc.record({
  at: fc.nat(),
  own: turn,
  later: fc.array(turn, { maxLength: 3 }),
  reward: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
});
test.prop([episodes, changes])(
  'the state of a turn depends on nothing that comes with it or after',
  (records, c) => {
    const e = records.findIndex(({ turns }) => turns.length > 0);
    fc.pre(e >= 0);
    const before = records[e]!.turns;
    const k = c.at % before.length;
    const { observation, features } = before[k]!;
    const own = { ...c.own, observation, features };
    const [altered] = parse([
      {
        ...records[e]!,
        reward: c.reward,
        ending: 'limit',
        meta: { gold: 'x' },
        turns: [...before.slice(0, k), own, ...c.later],
      },
    ]);
    const others = records.map((record, i) => (i === e ? altered! : record));
    const config = { oneHotFeatures: 'never' } as const;
    const a = states(records, config);
    const b = states(others, config);
    const from = trajectoriesFromEpisodes(records).episodeOffsets[e]!;
    const missing = (x: Record<string, number>) =>
      Object.fromEntries(Object.entries(x).filter(([name]) => !name.endsWith('.missing')));
    for (let j = 0; j <= k; j++) expect(missing(named(b, from + j))).toEqual(missing(named(a, from + j)));
  },
);

test.prop([episodes])('the order of episodes, parts and tools given does not matter', (records) => {
  const config = { tools: ['search', 'open'] };
  const a = states(records, config);
  const back = [...records].reverse();
  const b = states(back, { include: [...StatePart.options].reverse(), tools: ['open', 'search', 'open'] });
  expect(b.names).toEqual(a.names);
  const rowsOf = (all: readonly Episode[], e: number) => trajectoriesFromEpisodes(all).episodeOffsets[e]!;
  records.forEach(({ turns }, e) => {
    const [i, j] = [rowsOf(records, e), rowsOf(back, records.length - 1 - e)];
    for (let k = 0; k < turns.length; k++) expect(named(b, j + k)).toEqual(named(a, i + k));
  });
});
