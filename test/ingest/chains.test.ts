/* Trajectories in several files, in whatever order and number of calls. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { atif } from '../../src/ingest/formats/atif.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';

const temp = mkdtempSync(join(tmpdir(), 'turnwise-chains-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));
let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
  return () => store.close();
});
let made = 0;

/** A chain of n files of one turn each, named by `name`; `says`: each says that it continues another. */
function chain(n: number, name: (k: number) => string, says: boolean, session = 's'): string[] {
  const folder = join(temp, String(made++));
  mkdirSync(folder);
  return Array.from({ length: n }, (_, k) => {
    const document = {
      schema_version: 'ATIF-v1.6',
      session_id: k === 0 ? session : `${session}-${k}`,
      agent: { name: 'a', version: '1', ...(says && k > 0 ? { extra: { continuation_index: k } } : {}) },
      steps: [{ step_id: 1, source: 'agent', message: `turn ${k}` }],
      ...(k < n - 1 ? { continued_trajectory_ref: name(k + 1) } : {}),
    };
    writeFileSync(join(folder, name(k)), JSON.stringify(document));
    return join(folder, name(k));
  });
}
const harbor = (k: number) => (k === 0 ? 'trajectory.json' : `trajectory.cont-${k}.json`);
const plain = (k: number) => `part-${k}.json`;
const backwards = (k: number) => `part-${9 - k}.json`;
const actions = async () =>
  (await queryRows(store, 'SELECT action FROM turns ORDER BY episode, turn')).map((r) => r.action);
const whole = (n: number) => Array.from({ length: n }, (_, k) => `turn ${k}`);

describe('all files of a chain are one episode', () => {
  test.prop(
    [
      fc.integer({ min: 2, max: 6 }),
      fc.constantFrom([harbor, true], [harbor, false], [plain, true], [plain, false], [
        backwards,
        false,
      ] as const),
      fc.infiniteStream(fc.double({ noNaN: true })),
    ],
    { numRuns: 25 },
  )('in any order, in one call', async (n, [name, says], order) => {
    const store = await openStore(':memory:', { mode: 'create', threads: 1 });
    const files = chain(n, name as typeof harbor, says as boolean);
    const shuffled = files.map((f) => [order.next().value, f] as const).sort((a, b) => a[0] - b[0]);
    const result = await ingest(
      store,
      shuffled.map(([, f]) => f),
    );
    const status = (f: string) => result.files.find((file) => file.path === f)!.status;
    expect(files.map(status)).toEqual(['added', ...files.slice(1).map(() => 'part')]);
    expect(result).toMatchObject({ episodes: 1, turns: n, rejects: 0, warnings: [] });
    store.close();
  });

  test.each<[string, (k: number) => string]>([
    ['under the names of Harbor', harbor],
    ['under names of their own, where they say that they continue another', plain],
  ])('in several calls, %s', async (_, name) => {
    const files = chain(4, name, true);
    for (const k of [2, 0, 3, 1, 0, 2]) {
      const { files: told } = await ingest(store, [files[k]!]);
      expect(told[0]!.rejects).toBe(0);
      expect(told[0]!.status).toMatch(k === 0 ? /added|known/ : /part/);
    }
    expect(await actions()).toEqual(whole(4));
  });

  test('two chains in two folders, and a trajectory that is none, keep apart', async () => {
    const [a, b, alone] = [
      chain(3, harbor, true, 'a'),
      chain(2, harbor, true, 'b'),
      chain(1, harbor, false, 'c'),
    ];
    const mixed = [b[1]!, a[2]!, alone[0]!, a[0]!, a[1]!, b[0]!];
    expect(await ingest(store, mixed)).toMatchObject({ episodes: 3, turns: 6, rejects: 0 });
  });

  const shared = resolve(import.meta.dirname, '../../../shared/found/21-harbor-chain');
  test.skipIf(!existsSync(shared))(
    'as Harbor wrote one: seven turns (skipped: ../shared is not here)',
    async () => {
      const folder = join(temp, 'harbor');
      mkdirSync(folder);
      for (const name of ['trajectory.json', 'trajectory.cont-1.json'])
        copyFileSync(join(shared, name), join(folder, name));
      const { files } = await ingest(store, [join(folder, '*.json')]);
      expect(files.map((f) => [basename(f.path), f.status, f.episodes, f.turns])).toEqual([
        ['trajectory.cont-1.json', 'part', 0, 0],
        ['trajectory.json', 'added', 1, 7],
      ]);
    },
  );
});

describe('what is no chain is told', () => {
  test('a cycle, by whichever of its files', async () => {
    const files = chain(3, plain, false);
    writeFileSync(
      files[2]!,
      (await readFile(files[2]!, 'utf8')).replace(
        '"steps"',
        '"continued_trajectory_ref":"part-0.json","steps"',
      ),
    );
    const result = await ingest(store, files);
    expect(result).toMatchObject({ episodes: 0, rejects: 3 });
    expect(result.files[1]!.firstRejects[0]!.reason).toMatch(/cycle/);
  });

  test('a file that names itself', async () => {
    const [file] = chain(1, plain, false);
    writeFileSync(
      file!,
      (await readFile(file!, 'utf8')).replace('"steps"', '"continued_trajectory_ref":"part-0.json","steps"'),
    );
    expect((await ingest(store, [file!])).files[0]!.firstRejects[0]!.reason).toMatch(/cycle/);
  });

  test('a continuation whose first file is gone', async () => {
    const files = chain(2, plain, true);
    rmSync(files[0]!);
    expect((await ingest(store, [files[1]!])).files[0]!.firstRejects[0]!.reason).toMatch(
      /continues another trajectory/,
    );
  });
});

test.each([
  ['Harbor', harbor, true],
  ['plain', plain, false],
] as const)('a chain is read a fixed number of times, however long: %s', async (_, name, says) => {
  const readsOf = async (n: number) => {
    const files = chain(n, name, says);
    let reads = 0;
    const memo = new Map<string, unknown>();
    let found = 0;
    for (const [ordinal, path] of files.entries()) {
      const readSibling = async (ref: string) => {
        reads++;
        return JSON.parse(await readFile(join(dirname(path), ref), 'utf8'));
      };
      const record = JSON.parse(await readFile(path, 'utf8'));
      const context = { path, ordinal, source: { sha256: '' }, given: files, memo, readSibling };
      found += (await atif.read(record, context)).length;
    }
    expect(found).toBe(1);
    return reads;
  };
  const [few, many] = [await readsOf(20), await readsOf(80)];
  expect(many).toBeLessThanOrEqual(4 * few + 8);
  expect(many).toBeLessThanOrEqual(3 * 80);
});

test('scores come after the episodes of their call, whatever the names and the order', async () => {
  const folder = join(temp, 'scores');
  mkdirSync(folder);
  const score = { policy: 'p', trained_on: 'none', episode_id: 'e', turn: 0, logprob: -1 };
  writeFileSync(join(folder, 'a.jsonl'), `${JSON.stringify(score)}\n`);
  writeFileSync(join(folder, 'b.jsonl'), '{"episode_id":"e","turns":[{"action":"x"}]}\n');
  writeFileSync(join(folder, 'c.jsonl'), `${JSON.stringify({ ...score, policy: 'q' })}\n`);
  const result = await ingest(store, [join(folder, '*.jsonl')]);
  expect(result.files.map((f) => [basename(f.path), f.scores, f.episodes, f.rejects])).toEqual([
    ['a.jsonl', 1, 0, 0],
    ['b.jsonl', 0, 1, 0],
    ['c.jsonl', 1, 0, 0],
  ]);
  const { Readable } = await import('node:stream');
  const stdin = Readable.from([`${JSON.stringify({ ...score, policy: 'r', episode_id: 'f' })}\n`]);
  writeFileSync(join(folder, 'd.jsonl'), '{"episode_id":"f","turns":[{"action":"x"}]}\n');
  const piped = await ingest(store, ['-', join(folder, 'd.jsonl')], { stdin });
  expect(piped).toMatchObject({ scores: 1, episodes: 1, rejects: 0 });
});
