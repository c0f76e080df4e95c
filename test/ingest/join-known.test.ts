import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { line } from './built-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-join-known-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
  return () => store.close();
});
const COLUMNS = 'episode_id, task_id, reward, rewards, ending, ending_assumed';
const episodes = (from = store) => queryRows(from, `SELECT ${COLUMNS} FROM episodes`);
const bare = (episode_id: string, more: object = {}) => line(episode_id, { ending: undefined, ...more });
const rewards = (rows: readonly object[]) =>
  write('r.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

describe('rewards of a log that is in the store', () => {
  test.prop(
    [
      fc.array(
        fc.record({
          ending: fc.constantFrom(undefined, 'terminated', 'limit', 'unfinished', 'aborted'),
          reward: fc.constantFrom(null, 1),
          turn: fc.constantFrom(null, 0),
          named: fc.constantFrom('episode_id', 'session_id', 'trial_name', 'none'),
          joined: fc.constantFrom(
            { reward: 1 },
            { reward: null },
            { rewards: { r: 1 } },
            { reward: 1, task_id: 't' },
          ),
          failed: fc.boolean(),
        }),
        { minLength: 1, maxLength: 8 },
      ),
    ],
    { numRuns: 30 },
  )('joining them later is joining them at once', async (cases) => {
    const log = write(
      'law.jsonl',
      cases
        .map(({ ending, reward, turn, named }, k) =>
          line(`e${k}`, {
            ending,
            reward,
            turns: [{ reward: turn }],
            meta: named === 'session_id' || named === 'trial_name' ? { [named]: `m${k}` } : null,
          }),
        )
        .join(''),
    );
    const rows = cases.flatMap(({ named, joined, failed }, k) => {
      if (named === 'none') return [];
      const key = named === 'episode_id' ? { episode_id: `e${k}` } : { [named]: `m${k}` };
      const aborted = { trial_name: `m${k}`, verifier_result: null, exception_info: 'x' };
      return [failed && named === 'trial_name' ? aborted : { ...key, ...joined }];
    });
    const file = rewards([...rows, { episode_id: 'nobody', reward: 0 }]);
    const later = await openStore(':memory:', { mode: 'create', threads: 1 });
    const once = await openStore(':memory:', { mode: 'create', threads: 1 });
    await ingest(later, [log]);
    const before = await episodes(later);
    const { files, warnings } = await ingest(later, [log], { rewards: file });
    const atOnce = await ingest(once, [log], { rewards: file });
    const after = await episodes(later);
    expect(after).toEqual(await episodes(once));
    const changed = after.filter((row, k) => JSON.stringify(row) !== JSON.stringify(before[k])).length;
    expect(files[0]).toMatchObject({ status: 'known', rewardsJoined: changed });
    const about = (list: typeof warnings) => list.filter((w) => w.code.startsWith('reward-'));
    expect(about(warnings)).toEqual(about(atOnce.warnings));
    later.close();
    once.close();
  });

  test('an assumed `unfinished` ends with its reward, a logged one does not; a second time nothing is left to do', async () => {
    const log = write('a.jsonl', bare('a') + line('b', { ending: 'unfinished' }) + bare('c'));
    await ingest(store, [log]);
    const file = rewards([
      { episode_id: 'a', reward: 0.1 },
      { episode_id: 'b', reward: 0 },
    ]);
    const result = await ingest(store, [log], { rewards: file });
    expect(result.files[0]).toMatchObject({ status: 'known', rewardsJoined: 2 });
    expect(result.warnings).toEqual([
      { code: 'reward-missing', message: `episode without a row in ${file}`, count: 1 },
    ]);
    const expected = [
      { episode_id: 'a', reward: 0.1, ending: 'terminated', ending_assumed: true },
      { episode_id: 'b', reward: 0, ending: 'unfinished', ending_assumed: false },
      { episode_id: 'c', reward: null, ending: 'unfinished', ending_assumed: true },
    ];
    expect(await episodes()).toMatchObject(expected);
    const again = await ingest(store, [log], { rewards: file });
    expect(again.files[0]).toMatchObject({ status: 'known', rewardsJoined: 0 });
    expect(await episodes()).toMatchObject(expected);
  });

  test('another reward is refused by name, and none of the file is joined', async () => {
    const log = write('two.jsonl', bare('a') + bare('b', { reward: 1 }));
    await ingest(store, [log]);
    const before = await episodes();
    const file = rewards([
      { episode_id: 'a', reward: 1 },
      { episode_id: 'b', reward: 0 },
    ]);
    const { files } = await ingest(store, [log], { rewards: file });
    expect(files[0]).toMatchObject({
      status: 'failed',
      error:
        "episode 'b': its reward is 1 in the log and 0 in r.jsonl line 2. Leave the reward out of one of them.",
    });
    expect(await episodes()).toEqual(before);
  });

  test('a session that is a number is its digits, beyond 2^53 and 2^64 too', async () => {
    const digits = ['9007199254740993', '9007199254740992', '7', '123456789012345678901234567890', '0.5'];
    const log = write(
      'numbers.jsonl',
      digits
        .map((n, k) => bare(`e${k}`, { meta: { session_id: 'N' } }).replace('"N"', k === 4 ? '"z"' : n))
        .join(''),
    );
    await ingest(store, [log]);
    const file = write('n.csv', `session_id,reward\n${digits.map((n, k) => `${n},${k}\n`).join('')}`);
    const { files } = await ingest(store, [log], { rewards: file });
    expect(files[0]).toMatchObject({ status: 'known', rewardsJoined: 4 });
    expect((await episodes()).map((e) => e.reward)).toEqual([0, 1, 2, 3, null]);
    const once = await openStore(':memory:', { mode: 'create', threads: 1 });
    await ingest(once, [log], { rewards: file });
    expect(await episodes(once)).toEqual(await episodes());
    once.close();
  });

  test('only the episodes of that file are touched; known compressed as well as plain', async () => {
    const log = bare('a');
    await ingest(store, [write('plain.jsonl', log), write('other.jsonl', bare('z'))]);
    const file = rewards([
      { episode_id: 'a', reward: 1 },
      { episode_id: 'z', reward: 1 },
    ]);
    const gz = write('plain.jsonl.gz', gzipSync(log));
    const { files, rejects, warnings } = await ingest(store, [gz], { rewards: file });
    expect(files[0]).toMatchObject({ knownAs: join(folder, 'plain.jsonl'), rewardsJoined: 1 });
    expect([rejects, warnings.map((w) => [w.code, w.count])]).toEqual([0, [['reward-unused', 1]]]);
    expect((await episodes()).map((e) => e.reward)).toEqual([1, null]);
  });
});
