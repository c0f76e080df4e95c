/* An episode_id that is taken: by a copy of the episode, or by another episode. */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { type IngestOptions, ingest } from '../../src/ingest/ingest.ts';
import { sameJson } from '../../src/ingest/same-json.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { episodes } from './arbitrary-episode.ts';
import { line } from './built-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-same-ids-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
  return () => store.close();
});
let made = 0;
function write(content: string, name = `log-${made++}.jsonl`): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}
const read = async (content: string, options: IngestOptions = {}) =>
  (await ingest(store, [write(content)], options)).files[0]!;
const ids = async () =>
  (await queryRows(store, 'SELECT episode_id FROM episodes ORDER BY episode')).map((r) => r.episode_id);
const jsonl = (records: readonly object[]) => records.map((r) => `${JSON.stringify(r)}\n`).join('');

const found = resolve(import.meta.dirname, '../../../shared/found/06-same-ids-two-runs');
describe.skipIf(!existsSync(found))('two runs that count from 0 (skipped: ../shared is not here)', () => {
  const [a, c] = ['runA.jsonl', 'runC.jsonl'].map((name) => join(found, name)) as [string, string];
  test('five conflicts, one episode; the second call says so again; a prefix brings them all', async () => {
    const first = await ingest(store, [a, c]);
    expect(first).toMatchObject({ episodes: 6, rejects: 5, conflicts: 5, duplicates: 0 });
    expect(first.files[1]!.firstRejects[0]!.reason).toBe(
      `id-conflict: episode_id "0" is that of another episode, from ${a} (its policy differs); ids that start over in every file need --id-prefix`,
    );
    expect(await ingest(store, [c])).toMatchObject({ episodes: 0, conflicts: 5 });
    const again = await ingest(store, [c], { idPrefix: 'C-' });
    expect(again).toMatchObject({ episodes: 5, conflicts: 0, duplicates: 1 });
    expect(await ids()).toEqual(['0', '1', '2', '3', '4', 'C-5', 'C-0', 'C-1', 'C-2', 'C-3', 'C-4']);
    expect(await queryRows(store, 'SELECT source, episodes, rejects FROM sources ORDER BY 1')).toEqual([
      { source: 0, episodes: 5, rejects: 0 },
      { source: 1, episodes: 6, rejects: 0 },
    ]);
    expect((await ingest(store, [c], { idPrefix: 'C-' })).files[0]).toMatchObject({
      status: 'known',
      conflicts: 0,
    });
  });

  test('an own prefix each from the start', async () => {
    await ingest(store, [a], { idPrefix: 'A/' });
    expect(await ingest(store, [c], { idPrefix: 'C/' })).toMatchObject({ episodes: 6, rejects: 0 });
    expect(await ids()).toHaveLength(11);
  });

  test('a prefix that is taken too is refused, and nothing has changed', async () => {
    await ingest(store, [a, c]);
    const copy = join(folder, 'copy.jsonl');
    copyFileSync(a, copy);
    writeFileSync(copy, line('x-5'), { flag: 'a' });
    await ingest(store, [write(line('x-5'))]);
    const { files } = await ingest(store, [c], { idPrefix: 'x-' });
    expect(files[0]).toMatchObject({ status: 'failed' });
    expect(files[0]!.error).toMatch(/with the prefix "x-" its ids are taken too, got "x-5"/);
    expect(await ids()).toEqual(['0', '1', '2', '3', '4', '5', 'x-5']);
  });
});

const full = {
  episode_id: 'e',
  task_id: 't',
  ending: 'terminated',
  reward: 1,
  meta: { b: 1, a: { y: 2, x: 'text \ud83d\ude00' } },
  turns: [
    {
      observation: 'o',
      action: 'a',
      tool_calls: [{ name: 'f', arguments: { x: 1 }, result: 'r', error: false }],
      features: [1, 2],
    },
    { action: 'b', behaviour_logprob: -1.5 },
  ],
  segments: [
    {
      token_ids: [1, 2, 3],
      action_mask: [false, true, true],
      behaviour_logprobs: [null, -0.5, -1],
      token_turn: [null, 0, 1],
    },
    { token_ids: [7], action_mask: [true] },
  ],
};
type Full = typeof full;
const changed = (change: (e: Full) => void): Full => {
  const copy = structuredClone(full);
  change(copy);
  return copy;
};

describe('what tells an episode from another of its name', () => {
  // biome-ignore lint/suspicious/noExplicitAny: each breaks the record in its own way
  test.each<[string, (e: any) => void]>([
    ['reward', (e) => (e.reward = 0)],
    ['task_id', (e) => (e.task_id = 'u')],
    ['ending', (e) => (e.ending = 'limit')],
    ['policy', (e) => (e.policy = 'p')],
    ['started_at', (e) => (e.started_at = '2024-01-01T00:00:00Z')],
    ['meta', (e) => (e.meta.a.x = '')],
    ['turns[0].observation', (e) => (e.turns[0].observation = null)],
    ['turns[0].tool_calls', (e) => (e.turns[0].tool_calls[0].arguments.x = 2)],
    ['turns[0].features', (e) => e.turns[0].features.push(3)],
    ['turns[1].behaviour_logprob', (e) => (e.turns[1].behaviour_logprob = -1.25)],
    ['turns[1]', (e) => e.turns.pop()],
    ['turns[2]', (e) => e.turns.push({ action: 'c' })],
    ['segments[0].token_ids', (e) => (e.segments[0].token_ids[2] = 4)],
    ['segments[0].behaviour_logprobs', (e) => (e.segments[0].behaviour_logprobs[1] = null)],
    ['segments[0].behaviour_logprobs', (e) => delete e.segments[0].behaviour_logprobs],
    ['segments[0].token_turn', (e) => delete e.segments[0].token_turn],
    ['segments[1].action_mask', (e) => (e.segments[1].action_mask[0] = false)],
    ['segments[1]', (e) => e.segments.pop()],
    ['segments[2]', (e) => e.segments.push({ token_ids: [9], action_mask: [false] })],
  ])('%s', async (what, change) => {
    const reason = new RegExp(`^id-conflict: .*\\(its ${what.replace(/[[\].]/g, '\\$&')} differs\\)`);
    // In the block of the first, in a file after it, and beside a copy.
    const other = changed(change);
    const within = await read(jsonl([full, other, full]));
    expect(within).toMatchObject({ episodes: 1, conflicts: 1, rejects: 1, duplicates: 1 });
    expect(within.firstRejects[0]).toMatchObject({ line: 2, reason: expect.stringMatching(reason) });
    const after = await read(jsonl([{ ...full, episode_id: 'f' }, full, other]));
    expect(after).toMatchObject({ episodes: 1, conflicts: 1, duplicates: 1 });
    expect(after.firstRejects[0]!.reason).toMatch(reason);
    expect(await ids()).toEqual(['e', 'f']);
  });

  test('not the order of keys, nor the container', async () => {
    await read(jsonl([full]));
    const { meta, ...rest } = full;
    expect(await read(jsonl([{ meta: { a: { x: meta.a.x, y: 2 }, b: 1 }, ...rest }]))).toMatchObject({
      episodes: 0,
      duplicates: 1,
      rejects: 0,
    });
  });

  test('numbers that a double merges are told apart', () => {
    expect(sameJson('{"n":9007199254740993,"a":1}', '{"a":1,"n":9007199254740993}')).toBe(true);
    expect(sameJson('{"n":9007199254740993,"a":1}', '{"a":1,"n":9007199254740992}')).toBe(false);
    expect(sameJson('{"n":"9007199254740993"}', '{"n":"9007199254740992"}')).toBe(false);
    expect(sameJson('{"n":9007199254740993}', '{"n":{"text":"9007199254740993"}}')).toBe(false);
    expect(sameJson('{"n":[1,{"a":null}]}', '{"n":[1,{"b":null}]}')).toBe(false);
  });

  test('a big number in meta is content', async () => {
    const big = (n: string) => `{"episode_id":"e","ending":"limit","meta":{"n":${n}},"turns":[]}\n`;
    await read(big('9007199254740993'));
    expect(await read(big('9007199254740992'))).toMatchObject({ conflicts: 1 });
    expect(await read(`\n${big('9007199254740993')}`)).toMatchObject({ conflicts: 0, duplicates: 1 });
  });

  test.prop(
    [
      fc.uniqueArray(episodes({ withSegments: true }), {
        selector: (e) => e.episode_id,
        minLength: 1,
        maxLength: 5,
      }),
      fc.nat(),
    ],
    { numRuns: 40 },
  )('a log again is copies, whatever it holds; one turn more is another episode', async (records, n) => {
    const store = await openStore(':memory:', { mode: 'create', threads: 1 });
    try {
      const all = jsonl(records);
      const k = n % records.length;
      const more: EpisodeInput = { ...records[k]!, turns: [...records[k]!.turns, { action: 'more' }] };
      expect(await ingest(store, [write(all)])).toMatchObject({ episodes: records.length, rejects: 0 });
      const again = await ingest(store, [write(`\n${all}${jsonl([more])}`)]);
      expect(again).toMatchObject({ episodes: 0, duplicates: records.length, conflicts: 1, rejects: 1 });
    } finally {
      store.close();
    }
  });
});

describe('rewards that were joined make no other episode', () => {
  const bare = (id: string) => line(id, { ending: undefined });
  const rewards = (rows: object[]) => write(jsonl(rows), `r-${made++}.jsonl`);
  test('joined before, read again as logged', async () => {
    await read(bare('a'), {
      rewards: rewards([{ episode_id: 'a', reward: 1, task_id: 't', rewards: { r: 1 } }]),
    });
    expect(await read(bare('a') + bare('b'))).toMatchObject({ episodes: 1, duplicates: 1, conflicts: 0 });
    expect(await queryRows(store, 'SELECT reward, task_id FROM episodes ORDER BY episode')).toEqual([
      { reward: 1, task_id: 't' },
      { reward: null, task_id: null },
    ]);
  });

  test('joined as the log has grown: to the episode that is stored', async () => {
    await read(bare('a'));
    const file = await read(bare('a') + bare('b'), {
      rewards: rewards([
        { episode_id: 'a', reward: 0.5, rewards: { r: 0.5 } },
        { episode_id: 'b', reward: 1 },
      ]),
    });
    expect(file).toMatchObject({ episodes: 1, duplicates: 1, conflicts: 0, rewardsJoined: 1 });
    expect(
      await queryRows(store, 'SELECT episode_id, reward, ending FROM episodes ORDER BY episode'),
    ).toEqual([
      { episode_id: 'a', reward: 0.5, ending: 'terminated' },
      { episode_id: 'b', reward: 1, ending: 'terminated' },
    ]);
  });

  test('another reward is another episode, and the first stays', async () => {
    await read(bare('a'), { rewards: rewards([{ episode_id: 'a', reward: 1 }]) });
    const other = await read(line('a', { ending: undefined, reward: 0 }));
    expect(other).toMatchObject({ episodes: 0, conflicts: 1 });
    expect(other.firstRejects[0]!.reason).toContain('its reward differs');
    expect(await queryRows(store, 'SELECT reward FROM episodes')).toEqual([{ reward: 1 }]);
  });

  test('a reward file keeps the names of the log under a prefix, at once and later', async () => {
    const file = rewards([{ episode_id: 'a', reward: 1 }]);
    const log = write(bare('a'));
    await ingest(store, [log], { idPrefix: 'x/', rewards: file });
    expect(await queryRows(store, 'SELECT episode_id, reward FROM episodes')).toEqual([
      { episode_id: 'x/a', reward: 1 },
    ]);
    const later = write(`${bare('a')}\n`);
    await ingest(store, [later], { idPrefix: 'y/' });
    const joined = await ingest(store, [later], { rewards: file });
    expect(joined.files[0]).toMatchObject({ status: 'known', rewardsJoined: 1 });
    expect(joined.warnings).toEqual([]);
    expect(await queryRows(store, 'SELECT count(*) AS n FROM episodes WHERE reward = 1')).toEqual([{ n: 2 }]);
  });
});

test('scores meet the episodes of their prefix', async () => {
  const score = jsonl([{ policy: 'p', trained_on: 'none', episode_id: 'a', turn: 0, logprob: -1 }]);
  await read(line('a'), { idPrefix: 'x/' });
  expect(await read(score)).toMatchObject({ scores: 0, rejects: 1 });
  expect(await read(`\n${score}`, { idPrefix: 'x/' })).toMatchObject({ scores: 1, rejects: 0 });
});

test('what a refused record would have been does not keep later ones out', async () => {
  await read(line('a') + line('a', { reward: 1 }) + line('b'));
  expect(await read(line('b') + line('c'))).toMatchObject({ episodes: 1, duplicates: 1 });
  expect(await ids()).toEqual(['a', 'b', 'c']);
});

const run = (policy: string) =>
  jsonl(
    [0, 1, 2].map((n) => ({ episode_id: `${n}`, policy, ending: 'terminated', turns: [{ action: policy }] })),
  );

test('the same scores under another prefix are those of other episodes; again, they are known', async () => {
  await ingest(store, [write(run('a'))]);
  await ingest(store, [write(run('b'))], { idPrefix: 'b/' });
  const scores = write(
    jsonl(
      [0, 1, 2].map((n) => ({ policy: 'c', trained_on: 'none', episode_id: `${n}`, turn: 0, logprob: -1 })),
    ),
  );
  const copy = join(folder, `log-${made++}.jsonl`);
  copyFileSync(scores, copy);
  expect(await ingest(store, [scores])).toMatchObject({ scores: 3 });
  expect(await ingest(store, [copy], { idPrefix: 'b/' })).toMatchObject({ scores: 3, rejects: 0 });
  expect(await queryRows(store, 'SELECT count(DISTINCT episode) AS n FROM scores')).toEqual([{ n: 6 }]);
  for (const options of [{}, { idPrefix: 'b/' }])
    expect((await ingest(store, [scores], options)).files[0]).toMatchObject({ status: 'known', scores: 0 });
});

test('a prefix that episodes stored before take too is told', async () => {
  const [a, b] = [write(run('a')), write(run('b').replace('"0"', '"7"'))];
  await ingest(store, [a, b]);
  const { warnings } = await ingest(store, [b], { idPrefix: 'b/' });
  expect(warnings.find((w) => w.code === 'ids-renamed')).toEqual({
    code: 'ids-renamed',
    message: 'episode of this file that was stored before takes the prefix "b/" too',
    count: 1,
  });
  expect(await ids()).toEqual(['0', '1', '2', 'b/7', 'b/1', 'b/2']);
});
