import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { line } from './built-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-empty-names-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

test('a task or a policy of an empty name is none: its episodes are no group, and a reward file may name the task', async () => {
  const names = { task_id: '', policy: '', ending: undefined };
  const canonical = write('a.jsonl', line('a', names) + line('b', names));
  const chat = write(
    'c.jsonl',
    '{"id":"c","task_id":"","policy":"","messages":[{"role":"assistant","content":"x"}]}\n',
  );
  const rewards = write('r.csv', 'episode_id,reward,task_id\na,1,t\n');
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  await ingest(store, [canonical, chat], { rewards });
  const rows = await queryRows(store, 'SELECT episode_id, task_id, policy, reward FROM episodes ORDER BY 1');
  expect(rows).toEqual([
    { episode_id: 'a', task_id: 't', policy: null, reward: 1 },
    { episode_id: 'b', task_id: null, policy: null, reward: null },
    { episode_id: 'c', task_id: null, policy: null, reward: null },
  ]);
  store.close();
});

test('policies that differ by half a surrogate pair are refused, as tasks are: stored they would be one', async () => {
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  const log = write(
    'p.jsonl',
    line('a', { policy: 'p\ud800' }) + line('b', { policy: 'p\ud801' }) + line('c'),
  );
  const { episodes, rejects, files } = await ingest(store, [log]);
  expect([episodes, rejects]).toEqual([1, 2]);
  expect(files[0]!.firstRejects[0]!.reason).toBe('policy: holds a lone surrogate, which no UTF-8 text can');
  store.close();
});
