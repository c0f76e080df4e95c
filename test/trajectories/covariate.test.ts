import { expect, test } from 'vitest';
import { trajectoriesFromEpisodes } from '../../src/trajectories/build.ts';
import { turnCovariate } from '../../src/trajectories/covariate.ts';
import { parse } from './arbitrary.ts';

const t = trajectoriesFromEpisodes(
  parse([
    {
      task_id: 'x',
      turns: [{ action_class: 'a', features: [5, 6] }, { features: [7] }, { turn: 4, action_class: 'b' }],
    },
    { turns: [] },
    { turns: [{ action_class: 'c' }, {}] },
  ]),
);
const values = (key: string) => [0, 1, 2, 3, 4].map(turnCovariate(t, key));

test('what a rule may ask about a turn', () => {
  expect(values('turn')).toEqual([0, 1, 4, 0, 1]);
  expect(values('task_id')).toEqual(['x', 'x', 'x', null, null]);
  expect(values('features.0')).toEqual([5, 7, null, null, null]);
  expect(values('features.1')).toEqual([6, null, null, null, null]);
  expect(values('last_action_class')).toEqual([null, 'a', null, null, 'c']);
});

test.each(['action_class', 'reward', 'features.', 'features.01', 'features.-1', 'n_turns'])(
  '%s is not known before a turn',
  (key) => {
    expect(() => turnCovariate(t, key)).toThrow(expect.objectContaining({ exitCode: 2 }));
  },
);
