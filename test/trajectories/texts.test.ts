import { expect, test } from 'vitest';
import { turnTexts } from '../../src/trajectories/texts.ts';
import { parse, withStore } from './arbitrary.ts';

test('the text of the turns of one episode, in order', async () => {
  const call = { name: 'open', arguments: { path: 'a' }, result: 'no', error: true };
  const records = parse([
    { turns: [{ action: 'other' }] },
    {
      turns: [
        { observation: 'hello', action: 'hi', tool_calls: [call] },
        { turn: 5, observation: 'bye' },
      ],
    },
  ]);
  await withStore(records, async (store) => {
    expect(await turnTexts(store, 1)).toEqual([
      { turn: 0, observation: 'hello', action: 'hi', tool_calls: [call] },
      { turn: 5, observation: 'bye', action: null, tool_calls: [] },
    ]);
    expect(await turnTexts(store, 9)).toEqual([]);
  });
});
