import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { commandHelp } from '../../src/cli/help.ts';
import { ingestCommand } from '../../src/cli/ingest.ts';
import { check } from '../../src/inspect/check.ts';
import { IngestResult } from '../../src/schema/ingest-result.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { removeUnfinished } from '../../src/store/whole-file.ts';
import { line } from '../ingest/built-cli.ts';

const base = mkdtempSync(join(tmpdir(), 'turnwise-cli-ingest-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let folder: string;
let made = 0;
beforeEach(() => {
  folder = join(base, String(made++));
  mkdirSync(folder);
});
const at = (name: string) => join(folder, name);
const write = (name: string, content: string | Buffer) => writeFileSync(at(name), content);

async function ingest(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const io = {
    out(text: string) {
      out += text;
    },
    err(text: string) {
      err += text;
    },
    progress() {},
    stdin: process.stdin,
  };
  const files = args.map((arg) => (arg.startsWith('-') ? arg : at(arg)));
  const { values, positionals } = readArguments(ingestCommand, [...files, '--store', at('runs.duckdb')]);
  const code = await ingestCommand.run(values, positionals, io);
  return { code, out: out.replaceAll(`${folder}/`, ''), err: err.replaceAll(`${folder}/`, '') };
}

test('one file that cannot be read does not keep the others out: each is told, exit 1', async () => {
  write('a.jsonl', line('a'));
  write('diary.txt', 'Dear diary,\n');
  write('cut.jsonl.gz', gzipSync(line('b').repeat(500)).subarray(0, 60));
  write('c.jsonl', line('c'));
  const { code, out, err } = await ingest('a.jsonl', 'diary.txt', 'cut.jsonl.gz', 'c.jsonl');
  expect(code).toBe(1);
  expect(out.split('\n')).toEqual([
    'a.jsonl: canonical, 1 episode, 1 turn, 0 rejects',
    'diary.txt: failed: nothing added',
    'cut.jsonl.gz: failed: nothing added',
    'c.jsonl: canonical, 1 episode, 1 turn, 0 rejects',
    'runs.duckdb: 4 files, 2 episodes with 2 turns added, 0 rejects',
    '',
  ]);
  expect(err.split('\n')).toEqual([
    'error: diary.txt: its format is not recognised, expected one of canonical, scores, parquet, arrow, tau-bench, chat, atif. Convert it to the canonical record, one JSON object a line: "turnwise schema episode".',
    'error: cut.jsonl.gz: is not valid gzip (it ends too early)',
    '',
  ]);
  const json = IngestResult.parse(JSON.parse((await ingest('diary.txt', 'a.jsonl', '--json')).out));
  expect(json.files.map((f) => [f.status, f.error === null])).toEqual([
    ['failed', false],
    ['known', true],
  ]);
});

describe('rejects and the exit code', () => {
  const bad = '{"bad"\n';
  test.each<[string, string, number]>([
    ['half of the records', line('a') + bad, 0],
    ['more than half', line('a') + bad + bad, 1],
    ['all of them', bad, 1],
  ])('%s', async (_, log, code) => {
    write('log.jsonl', log);
    const done = await ingest('log.jsonl');
    expect(done.code).toBe(code);
    const rejected = log.split(bad).length - 1;
    const wrong =
      rejected === 1
        ? 'gave nothing but rejects, got 1 of 1'
        : 'most of its records were rejected, got 2 of 3';
    expect(done.err).toBe(code === 0 ? '' : `error: log.jsonl: ${wrong}\n`);
  });

  test('a log that grew is fine, another log of the same names is not', async () => {
    write('log.jsonl', line('a') + line('b'));
    await ingest('log.jsonl');
    write('log.jsonl', line('a') + line('b') + line('c'));
    expect((await ingest('log.jsonl')).code).toBe(0);
    write('other.jsonl', line('a', { reward: 1 }) + line('b', { reward: 1 }));
    const { code, err } = await ingest('other.jsonl');
    expect([code, err]).toEqual([
      1,
      'error: other.jsonl: 2 records have the episode_id of another episode in the store, and were rejected (id-conflict). Where ids start over in every file, give each run its own: --id-prefix PREFIX.\n',
    ]);
  });

  test('check tells of them, in their order', async () => {
    write('a.jsonl', line('a') + bad + line('b') + bad);
    write('b.jsonl', bad + line('c'));
    await ingest('a.jsonl', 'b.jsonl');
    const store = await openStore(at('runs.duckdb'), { mode: 'read' });
    const { findings, checks } = await check(store);
    store.close();
    expect(checks).toContain('rejects');
    const finding = findings.find((f) => f.code === 'rejects')!;
    expect(finding).toMatchObject({ severity: 'warning', count: 3 });
    expect(finding.examples.map((e) => [e.episode, e.value?.replace(`${folder}/`, '').slice(0, 24)])).toEqual(
      [
        [null, 'a.jsonl line 2: not JSON'],
        [null, 'a.jsonl line 4: not JSON'],
        [null, 'b.jsonl line 1: not JSON'],
      ],
    );
  });

  test('the help says so', () => {
    expect(commandHelp(ingestCommand)).toContain('Exit 1: a file cannot be read or is not recognised');
  });
});

test('a file that is there says under which name', async () => {
  write('a.jsonl', line('a'));
  write('b.jsonl.gz', gzipSync(line('a')));
  const { code, out } = await ingest('b.jsonl.gz', 'a.jsonl', 'b.jsonl.gz');
  expect(out).toContain('a.jsonl: canonical, already there as b.jsonl.gz: nothing added');
  expect((await ingest('b.jsonl.gz')).out).toContain('b.jsonl.gz: canonical, already there: nothing added');
  write('r.csv', 'episode_id,reward\na,1\n');
  expect((await ingest('a.jsonl', `--rewards=${at('r.csv')}`)).out).toContain(
    'a.jsonl: canonical, already there as b.jsonl.gz: 1 reward joined',
  );
  expect(code).toBe(0);
});

test('a file that holds no record is an error, and no store is claimed that was not made', async () => {
  write('empty.jsonl', '');
  write('blank.jsonl', ' \n\n');
  write('none.json', '[]');
  const files = ['empty.jsonl', 'blank.jsonl', 'none.json'];
  const { code, out, err } = await ingest(...files, '--format=tau-bench');
  expect(code).toBe(1);
  expect(out).toBe(
    `${files.map((f) => `${f}: empty: nothing added\n`).join('')}Nothing added, so no store was made: runs.duckdb is not there\n`,
  );
  expect(err).toBe(files.map((f) => `error: ${f}: holds no record\n`).join(''));
  expect(existsSync(at('runs.duckdb'))).toBe(false);
  const json = await ingest('empty.jsonl', '--json');
  expect([json.code, IngestResult.parse(JSON.parse(json.out)).store]).toEqual([1, null]);

  write('a.jsonl', line('a'));
  const beside = await ingest('a.jsonl', 'empty.jsonl', '--json');
  expect([beside.code, IngestResult.parse(JSON.parse(beside.out)).store]).toEqual([
    1,
    at('runs.duckdb').replace(`${folder}/`, ''),
  ]);
  expect((await ingest('empty.jsonl')).out).toMatch(/^runs\.duckdb: 1 file, 0 episodes/m);
  const store = await openStore(at('runs.duckdb'), { mode: 'read' });
  expect(await queryRows(store, 'SELECT path FROM sources')).toEqual([{ path: at('a.jsonl') }]);
  store.close();
});

describe('a store that got nothing is removed, where this command made it', () => {
  test.each<[string, () => void, string[]]>([
    ['not recognised', () => write('x.txt', 'x'), ['x.txt']],
    ['empty', () => write('x.jsonl', ''), ['x.jsonl']],
    ['--strict', () => write('x.jsonl', '{"bad"\n'), ['x.jsonl', '--strict']],
    ['no rewards', () => write('x.jsonl', line('a')), ['x.jsonl', '--rewards=none.csv']],
  ])('%s', async (_, prepare, args) => {
    prepare();
    await ingest(...args).catch(() => undefined);
    expect(readdirSync(folder).filter((name) => name.startsWith('runs.duckdb'))).toEqual([]);
  });

  test('also when interrupted, unless a file is in it by then', async () => {
    write('a.jsonl', line('a'));
    // The input is first read when the files before it are done.
    const whileReading = async (...files: string[]): Promise<boolean | undefined> => {
      let there: boolean | undefined;
      const stdin = new Readable({
        read() {
          removeUnfinished();
          there ??= existsSync(at('runs.duckdb'));
          this.push(null);
        },
      });
      const io = { out() {}, err() {}, progress() {}, stdin };
      const values = { store: at('runs.duckdb'), format: 'auto', 'max-record-mb': '1' };
      await ingestCommand.run(values, [...files, '-'], io);
      return there;
    };
    expect(await whileReading()).toBe(false);
    expect(await whileReading(at('a.jsonl'))).toBe(true);
  });

  test('one that was there stays', async () => {
    (await openStore(at('runs.duckdb'), { mode: 'create' })).close();
    write('x.txt', 'x');
    await ingest('x.txt');
    expect(existsSync(at('runs.duckdb'))).toBe(true);
  });
});

test('warnings: endings of canonical records once, in grammar; log-probabilities above 0', async () => {
  const open = (id: string) => line(id, { ending: undefined });
  write('a.jsonl', open('a'));
  expect((await ingest('a.jsonl')).err).toBe(
    'warning: 1 episode does not say how it ended: `terminated` where rewarded, else `unfinished` (ending-assumed)\n',
  );
  write('b.jsonl', open('b'));
  write('c.jsonl', open('c'));
  expect((await ingest('b.jsonl', 'c.jsonl')).err).toMatch(
    /^warning: 2 episodes do not say how they ended: .*\n$/,
  );
  write('chat.jsonl', `${JSON.stringify({ messages: [{ role: 'assistant', content: 'x' }] })}\n`);
  expect((await ingest('chat.jsonl')).err).toBe('');
  const turns = [{ behaviour_logprob: 1, behaviour_log_propensity: 0.5 }, { behaviour_logprob: -1 }];
  const tokens = { token_ids: [1, 2, 3], action_mask: [true, true, false] };
  write('d.jsonl', line('d', { turns, segments: [{ ...tokens, behaviour_logprobs: [0, 2, null] }] }));
  expect((await ingest('d.jsonl')).err).toBe(
    'warning: 3 log-probabilities are above 0, and no probability exceeds 1: "turnwise check" tells where (logprob-positive)\n',
  );
  write('s.jsonl', '{"policy":"p","episode_id":"d","turn":0,"logprob":3}\n');
  expect((await ingest('s.jsonl')).err).toMatch(/^warning: 1 log-probability is above 0/);
});
