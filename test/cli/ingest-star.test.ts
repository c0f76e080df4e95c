/* `ingest *`: whatever the shell finds in the folder of the store. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ingestCommand } from '../../src/cli/ingest.ts';
import { run } from '../helpers/run-command.ts';
import { line } from '../ingest/built-cli.ts';

const base = mkdtempSync(join(tmpdir(), 'turnwise-star-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let folder: string;
let made = 0;
beforeEach(() => {
  folder = join(base, String(made++));
  mkdirSync(folder);
});
const at = (name: string) => join(folder, name);
async function ingest(...args: string[]) {
  const done = await run(ingestCommand, ...args, '--store', at('runs.duckdb'));
  return { ...done, out: done.out.replaceAll(`${folder}/`, ''), err: done.err.replaceAll(`${folder}/`, '') };
}
/** As the shell expands it. */
const star = () => readdirSync(folder).sort().map(at);

test('the store, its log and its folder are skipped with a notice, exit 0', async () => {
  writeFileSync(at('a.jsonl'), line('a'));
  expect((await ingest(...star())).code).toBe(0);
  mkdirSync(at('runs.duckdb.tmp'));
  writeFileSync(at('b.jsonl'), line('b'));
  const { code, out, err } = await ingest(...star());
  expect(code).toBe(0);
  expect(out).toContain('b.jsonl: canonical, 1 episode, 1 turn, 0 rejects');
  expect(err).toMatch(
    /^warning: runs\.duckdb: is the store that is written.*\(own-file-skipped\)\nwarning: runs\.duckdb\.tmp: /,
  );
});

test('… under another name for it, by a glob, and before the store is there', async () => {
  writeFileSync(at('a.jsonl'), line('a'));
  expect(await ingest(at('*'))).toMatchObject({ code: 0, err: '' });
  symlinkSync('runs.duckdb', at('link'));
  writeFileSync(at('b.jsonl'), line('b'));
  const { code, err } = await ingest(at('*'));
  expect(code).toBe(0);
  expect(err).toContain('link: is the store');
  expect(await ingest(at('runs.duckdb')).catch((e: Error) => e.message)).toMatch(
    /runs\.duckdb: the store that is written/,
  );
});

test('folders, broken links, pipes and other stores are failed files; the others go on', async () => {
  writeFileSync(at('z.jsonl'), line('z'));
  await ingest(at('z.jsonl'));
  copyFileSync(at('runs.duckdb'), at('other.duckdb'));
  mkdirSync(at('folder'));
  symlinkSync('nowhere', at('broken'));
  writeFileSync(at('a.jsonl'), line('a'));
  const { code, out, err } = await ingest(...star());
  expect(code).toBe(1);
  expect(out).toContain('a.jsonl: canonical, 1 episode, 1 turn, 0 rejects');
  expect(err.split('\n')).toEqual([
    expect.stringMatching(/^warning: runs\.duckdb: /),
    'error: broken: is a link to a file that is not there',
    'error: folder: is a directory, expected a file. For all files in it: "folder/*"; for a job of Harbor: "folder/**/trajectory.json".',
    expect.stringMatching(/^error: other\.duckdb: is a DuckDB file/),
    '',
  ]);
});

describe('what is named alone, or is not there, is a matter of usage', () => {
  test.each([
    ['folder', /is a directory/],
    ['broken', /is a link to a file that is not there/],
    ['none.jsonl', /no such file/],
  ])('%s', async (name, message) => {
    mkdirSync(at('folder'));
    symlinkSync('nowhere', at('broken'));
    await expect(ingest(at(name))).rejects.toThrow(message);
  });

  test('a mistyped name among others', async () => {
    writeFileSync(at('a.jsonl'), line('a'));
    await expect(ingest(at('a.jsonl'), at('b.jsonl'))).rejects.toThrow(/b\.jsonl: no such file/);
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });
});

test('the reward file beside the logs is no log', async () => {
  writeFileSync(at('a.jsonl'), line('a'));
  writeFileSync(at('r.csv'), 'episode_id,reward\na,1\n');
  const { code, err } = await ingest(...star(), '--rewards', at('r.csv'));
  expect([code, err]).toEqual([0, expect.stringMatching(/^warning: r\.csv: .*\(own-file-skipped\)\n$/)]);
});
