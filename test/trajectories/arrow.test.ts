import { fc, test } from '@fast-check/vitest';
import { Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import { expect } from 'vitest';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { compact } from '../../src/trajectories/compact.ts';
import { trajectoriesFromArrow } from '../../src/trajectories/from-arrow.ts';
import { trajectoriesToArrow } from '../../src/trajectories/to-arrow.ts';
import type { Trajectories } from '../../src/trajectories/trajectories.ts';
import { takeEpisodes } from '../../src/trajectories/view.ts';
import { episodes, parse } from './arbitrary.ts';

const whole = episodes.map((records) => trajectoriesFromEpisodes(records, { tokens: true }));
const view = fc.tuple(whole, fc.array(fc.nat(), { maxLength: 8 })).map(([t, places]) => {
  const n = t.index.length;
  return n === 0
    ? t
    : takeEpisodes(
        t,
        places.map((p) => p % n),
      );
});
const format = fc.constantFrom('file' as const, 'stream' as const);

test.prop([fc.oneof(whole, view), format])('through Arrow IPC and back: the same columns', (t, kind) => {
  const table = tableFromIPC(tableToIPC(trajectoriesToArrow(t), kind));
  expect(trajectoriesFromArrow(table)).toEqual(compact(t));
});

test.prop([whole, fc.nat(6)])('in several batches, and sliced', (t, cut) => {
  const table = trajectoriesToArrow(t);
  const n = table.numRows;
  const k = Math.min(cut, n);
  const parts = [...table.slice(0, k).batches, ...table.slice(k, n).batches];
  if (parts.length > 0) expect(trajectoriesFromArrow(new Table(parts))).toEqual(t);
  const tail = Array.from({ length: n - k }, (_, i) => k + i);
  expect(plain(trajectoriesFromArrow(table.slice(k, n)))).toEqual(plain(compact(takeEpisodes(t, tail))));
});

test('numbers of the whole are wrapped, not copied, there and back', () => {
  const t = trajectoriesFromEpisodes(
    parse([{ reward: 1, turns: [{ reward: 2 }, { reward: 3 }] }, { reward: 4 }]),
  );
  const table = trajectoriesToArrow(t);
  expect(table.getChild('reward')!.data[0]!.values).toBe(t.episodes.reward);
  const turns = table.getChild('turns.reward')!.data[0]!;
  expect(turns.children[0]!.values).toBe(t.turns.reward);
  expect(trajectoriesFromArrow(table).turns.reward.buffer).toBe(t.turns.reward.buffer);
});

test('a reader sees one row an episode, lists of turns, and nulls where the log has none', () => {
  const t = trajectoriesFromEpisodes(
    parse([
      { task_id: 'x', reward: 1, turns: [{ reward: 2, features: [7] }, { action_class: 'act' }] },
      { ending: 'limit' },
    ]),
  );
  const [first, second] = trajectoriesToArrow(t)
    .toArray()
    .map((row) => JSON.parse(JSON.stringify(row)));
  expect(first).toMatchObject({
    episode_id: 'e0',
    task_id: 'x',
    trial: null,
    ending: 'terminated',
    reward: 1,
    'turns.turn': [0, 1],
    'turns.reward': [2, null],
    'turns.action_class': [null, 'act'],
    'turns.features': [[7], []],
  });
  expect(second).toMatchObject({ task_id: null, ending: 'limit', reward: null, 'turns.turn': [] });
});

test('a table of another layout is refused by column', () => {
  const table = trajectoriesToArrow(trajectoriesFromEpisodes(parse([{ turns: [{}] }])));
  expect(() => trajectoriesFromArrow(table.select(['episode']))).toThrow(
    /Arrow column episode_id: not in the table/,
  );
  const swapped = new Table({
    ...Object.fromEntries(table.schema.names.map((name) => [name, table.getChild(name)!])),
    reward: table.getChild('source')!,
  });
  expect(() => trajectoriesFromArrow(swapped)).toThrow(/Arrow column reward: of another type, got Int32/);
});

/** Text columns as text, since a slice keeps the dictionary of the whole. */
function plain(t: Trajectories) {
  const text = <T extends object>(columns: T) =>
    Object.fromEntries(
      Object.entries(columns).map(([key, c]) => [
        key,
        'codes' in c ? Array.from(c.codes, (i) => c.values[i as number]) : c,
      ]),
    );
  return { ...t, episodes: text(t.episodes), turns: text(t.turns) };
}
