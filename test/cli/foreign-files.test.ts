/* Nothing of the user's is removed or replaced by a command that was not asked to. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { demoCommand } from '../../src/cli/demo.ts';
import { describeCommand } from '../../src/cli/describe.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { importCommand } from '../../src/cli/import.ts';
import { ingestCommand } from '../../src/cli/ingest.ts';
import { reportCommand } from '../../src/cli/report.ts';
import { simulateCommand } from '../../src/cli/simulate.ts';
import { writeSafetensors } from '../../src/tensor/safetensors.ts';
import { run } from '../helpers/run-command.ts';
import { line } from '../ingest/built-cli.ts';

const base = mkdtempSync(join(tmpdir(), 'turnwise-foreign-'));
const store = join(base, 'made.duckdb');
let folder: string;
const at = (name: string) => join(folder, name);
const MINE = 'the user wrote this\n';
const mine = (...names: string[]) => {
  for (const name of names) {
    mkdirSync(join(at(name), '..'), { recursive: true });
    writeFileSync(at(name), MINE);
  }
};
const all = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((e) => [
      join(e.parentPath, e.name),
      e.isFile() ? readFileSync(join(e.parentPath, e.name), 'base64') : '',
    ])
    .sort();
const failing = (command: Command, ...args: string[]) =>
  run(command, ...args).then(
    ({ code, err }) => (code === 0 ? 'it ran' : err),
    (error: Error) => error.message,
  );

beforeAll(async () => {
  writeFileSync(join(base, 'a.jsonl'), line('one', { reward: 1 }) + line('two', { reward: 0 }));
  await run(ingestCommand, join(base, 'a.jsonl'), '--store', store);
});
beforeEach(() => {
  folder = mkdtempSync(join(base, 'try-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
afterAll(() => rmSync(base, { recursive: true }));

describe('a first ingest or import that fails', () => {
  test.each<[string, Command]>([
    ['ingest', ingestCommand],
    ['import', importCommand],
  ])('%s leaves what lies beside its store', async (_, command) => {
    mine('rubbish', 'n.duckdb.tmp/mine', 'n.duckdb.part', 'n.duckdb.part-Ab3dE9/mine');
    const before = all();
    expect(await failing(command, at('rubbish'), '--store', at('n.duckdb'))).not.toBe('it ran');
    expect(all()).toEqual(before);
  });

  test('one that succeeds does so too', async () => {
    mine('n.duckdb.tmp/mine', 'n.duckdb.part');
    const before = all();
    await run(ingestCommand, join(base, 'a.jsonl'), '--store', at('n.duckdb'));
    expect(all().filter(([path]) => path !== at('n.duckdb'))).toEqual(before);
  });

  test('a log of changes without its store is not taken for that of a new one', async () => {
    mine('n.duckdb.wal');
    expect(await failing(ingestCommand, join(base, 'a.jsonl'), '--store', at('n.duckdb'))).toMatch(
      /n\.duckdb\.wal: is there without its store/,
    );
    expect(readdirSync(folder)).toEqual(['n.duckdb.wal']);
  });
});

describe('a store named like what is written on the way', () => {
  test.each(['parquet', 'arrow'])('is not written over: %s', async (format) => {
    copyFileSync(store, at('x.part'));
    const bytes = readFileSync(at('x.part'));
    const to = ['--to', format, '--table', 'turns', '--out', at('x')];
    expect((await run(exportCommand, '--store', at('x.part'), ...to)).code).toBe(0);
    expect(readFileSync(at('x.part')).equals(bytes)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['x', 'x.part']);
  });

  test('nor what a link of that name leads to', async () => {
    mine('precious');
    for (const name of ['x.part', 'r.part', 's.part', 't.part']) symlinkSync(at('precious'), at(name));
    await run(exportCommand, '--store', store, '--to', 'parquet', '--table', 'turns', '--out', at('x'));
    await run(reportCommand, '--store', store, '--out', at('r'));
    await run(simulateCommand, 'tool-agent', '--episodes', '20', '--tasks', '5', '--out', at('s'));
    await writeSafetensors(at('t'), { a: { dtype: 'F32', shape: [1], values: Float32Array.of(1) } });
    expect(readFileSync(at('precious'), 'utf8')).toBe(MINE);
    expect(readdirSync(folder)).toHaveLength(9);
  });
});

describe('what is read is an output of none, by whatever name', () => {
  test.each<[string, (name: string) => void]>([
    ['its own', () => {}],
    ['a link', (name) => symlinkSync(at('s.duckdb'), at(name))],
    ['a second name of the file', (name) => linkSync(at('s.duckdb'), at(name))],
  ])('%s', async (_, alias) => {
    copyFileSync(store, at('s.duckdb'));
    const bytes = readFileSync(store);
    alias('alias');
    const out = existsSync(at('alias')) ? at('alias') : at('s.duckdb');
    const commands: [Command, string[]][] = [
      [exportCommand, ['--to', 'parquet', '--table', 'turns']],
      [exportCommand, ['--to', 'arrow', '--table', 'turns']],
      [reportCommand, []],
    ];
    for (const [command, args] of commands)
      expect(await failing(command, '--store', at('s.duckdb'), ...args, '--force', '--out', out)).toMatch(
        /which is read here/,
      );
    expect(readFileSync(at('s.duckdb')).equals(bytes)).toBe(true);
  });
});

test('a demo replaces an earlier demo, and nothing else without --force', async () => {
  mine('demo/report.html', 'demo/notes.txt');
  expect(await failing(demoCommand, '--out', at('demo'))).toMatch(/report\.html: is there already.*--force/);
  expect(readdirSync(at('demo')).sort()).toEqual(['notes.txt', 'report.html']);
  await run(demoCommand, '--out', at('demo'), '--force');
  await run(demoCommand, '--out', at('demo'));
  expect(readdirSync(at('demo')).sort()).toEqual(['demo.duckdb', 'notes.txt', 'report.html', 'report.json']);
  expect(readFileSync(at('demo/notes.txt'), 'utf8')).toBe(MINE);
  copyFileSync(store, at('demo/demo.duckdb'));
  expect(await failing(demoCommand, '--out', at('demo'))).toMatch(/demo\.duckdb: is there already/);
});

const pipes = spawnSync('mkfifo', [join(base, 'probe')]).status === 0;
describe.skipIf(!pipes)(
  'pipes, devices, folders and links to nothing (skipped: no pipe can be made here)',
  () => {
    test.each(['pipe', 'null', 'folder', 'nowhere'])('%s is refused by name, and stays', async (kind) => {
      spawnSync('mkfifo', [at('pipe')]);
      symlinkSync('/dev/null', at('null'));
      mkdirSync(at('folder'));
      symlinkSync(at('gone'), at('nowhere'));
      const before = all();
      const name = at(kind);
      const commands: [Command, string[]][] = [
        [ingestCommand, [join(base, 'a.jsonl'), '--store', name]],
        [importCommand, [name, '--store', at('n.duckdb')]],
        [describeCommand, ['--store', name]],
        [exportCommand, ['--store', store, '--to', 'parquet', '--table', 'turns', '--force', '--out', name]],
        [exportCommand, ['--store', store, '--to', 'arrow', '--table', 'turns', '--force', '--out', name]],
        [reportCommand, ['--store', store, '--force', '--out', name]],
        [simulateCommand, ['tool-agent', '--force', '--out', name]],
      ];
      for (const [command, args] of commands) expect(await failing(command, ...args)).toContain(`${name}: `);
      expect(all()).toEqual(before);
      expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    });
  },
);

test('a folder of the name, a file on the way and a folder that is not there are refused by name', async () => {
  mine('file');
  const all = ['--store', store, '--to', 'parquet'];
  const one = [...all, '--table', 'turns'];
  const cases: [Command, string[], RegExp][] = [
    [exportCommand, [...all, '--out', at('file')], /file: is a file/],
    [exportCommand, [...all, '--out', at('file'), '--force'], /file: is a file/],
    [exportCommand, [...all, '--out', at('file/x')], /a folder on the way to it is a file/i],
    [exportCommand, [...one, '--out', at('file/x')], /a folder on the way to it is a file/i],
    [exportCommand, [...one, '--shards', '2', '--out', at('file/x')], /a folder on the way to it is a file/i],
    [exportCommand, [...one, '--out', at('no/x')], /its folder does not exist/],
    [reportCommand, ['--store', store, '--out', at('file/x')], /cannot be written \(ENOTDIR\)/],
    [simulateCommand, ['tool-agent', '--out', at('file/x')], /cannot be written \(ENOTDIR\)/],
    [ingestCommand, [join(base, 'a.jsonl'), '--store', at('file/x')], /a folder on the way to it is a file/i],
    [demoCommand, ['--out', at('file')], /cannot be written \(EEXIST\)/],
    [demoCommand, ['--out', at('file/x')], /cannot be written \(ENOTDIR\)/],
  ];
  for (const [command, args, message] of cases) expect(await failing(command, ...args)).toMatch(message);
  expect(readdirSync(folder)).toEqual(['file']);
});
