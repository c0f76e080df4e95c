import { expect, test } from 'vitest';
import { check } from '../../src/inspect/check.ts';
import { describe as describeStore } from '../../src/inspect/describe.ts';
import { storeOf } from '../helpers/store.ts';

test('a turn of 200,000 calls is counted by tool and outcome, in a moment', async () => {
  const outcome = [true, false, null];
  const tool_calls = Array.from({ length: 200_000 }, (_, i) => ({
    name: `tool ${i % 7}`,
    arguments: null,
    error: outcome[i % 3]!,
  }));
  const store = await storeOf([
    {
      episode_id: 'a',
      turns: [{ action: 'x', tool_calls }, { action: 'y', tool_calls: [] }, { action: 'z' }],
    },
    { episode_id: 'b', turns: [{ action: 'x', tool_calls: tool_calls.slice(0, 21) }] },
  ]);
  try {
    const { tools } = await describeStore(store);
    const all = [...tool_calls, ...tool_calls.slice(0, 21)];
    for (const { tool, calls } of tools) expect(calls).toBe(all.filter((c) => c.name === tool).length);
    expect(tools).toHaveLength(7);
    const found = (await check(store)).findings.find((f) => f.code === 'tool-error-unknown');
    expect(found?.count).toBe(all.filter((c) => c.error === null).length);
  } finally {
    store.close();
  }
});
