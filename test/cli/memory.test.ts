import { expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { givenMemory } from '../../src/cli/open-store.ts';

test('every command that takes a store takes --memory', async () => {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const withStore = all.filter((command) => command.options.store !== undefined);
  expect(withStore.length).toBeGreaterThan(8);
  for (const { name, options } of withStore) expect([name, options.memory?.type]).toEqual([name, 'string']);
});

test('a size is handed on, anything else is a usage error that names the flag', () => {
  expect(givenMemory({ memory: '2GB' })).toEqual({ memoryLimit: '2GB' });
  expect(givenMemory({})).toEqual({ memoryLimit: undefined });
  for (const memory of ['much', '12', '1KB'])
    expect(() => givenMemory({ memory })).toThrow(expect.objectContaining({ exitCode: 2 }));
  expect(() => givenMemory({ memory: 'much' })).toThrow(
    /--memory: is not a size, got "much", expected .*4GB/,
  );
});
