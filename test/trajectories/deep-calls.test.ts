import { afterEach, expect, test } from 'vitest';
import { credit } from '../../src/critic/credit.ts';
import { check } from '../../src/inspect/check.ts';
import { describe } from '../../src/inspect/describe.ts';
import type { Store } from '../../src/store/store.ts';
import { turnTexts } from '../../src/trajectories/texts.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

/** What an older version stored: values nested thousands deep. */
test.each([1_000, 12_000])(
  '%i levels in a call: counted by describe and check, refused by name where they are read',
  async (depth) => {
    const store = await storeOf(
      Array.from({ length: 20 }, (_, i) => ({
        episode_id: `run-${i}`,
        task_id: `t${i % 5}`,
        reward: i % 2,
        turns: [{ action: 'a', tool_calls: [{ name: 'f', arguments: {}, error: false }] }],
      })),
    );
    opened.push(store);
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    await plant(
      store,
      `UPDATE turns SET tool_calls = '[{"name": "f", "arguments": ${deep}, "error": true}]' WHERE episode = 7`,
    );
    await plant(store, `UPDATE episodes SET meta = '{"a": ${deep}}' WHERE episode = 3`);
    expect((await describe(store)).tools).toMatchObject([{ tool: 'f', calls: 20, errors: 1 }]);
    expect((await check(store)).episodes).toBe(20);
    const said = /episode run-7, turn 0, column tool_calls: nested more than \d+ deep/;
    await expect(credit(store)).rejects.toThrow(said);
    await expect(turnTexts(store, 7)).rejects.toThrow(said);
  },
);
