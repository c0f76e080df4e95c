import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/store.ts';

const spills = () => readdirSync(tmpdir()).filter((name) => name.startsWith('turnwise-spill-'));

test('a store in memory spills into a folder of its own, and not where the program was started', async () => {
  const [cwd, folder] = [process.cwd(), mkdtempSync(join(tmpdir(), 'turnwise-cwd-'))];
  process.chdir(folder);
  try {
    const before = new Set(spills());
    const store = await openStore(':memory:', { mode: 'create', memoryLimit: '64MB', threads: 1 });
    await store.connection.run(
      "CREATE TABLE t AS SELECT range || repeat('x', 60) AS a FROM range(2000000) ORDER BY hash(range)",
    );
    const made = spills().filter((name) => !before.has(name));
    expect(made).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([]);
    store.close();
    expect(existsSync(join(tmpdir(), made[0]!))).toBe(false);
  } finally {
    process.chdir(cwd);
    rmSync(folder, { recursive: true });
  }
});
