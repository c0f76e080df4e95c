/* A full disk and a signal leave what was there before, as the built command line does its work. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'turnwise-interrupted-'));
const at = (name: string) => join(folder, name);
const turnwise = (...args: string[]) =>
  spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8' });
/** Every file under the folder with its content, but for the inputs. */
const left = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && !/^(a\.jsonl|s\.duckdb)$/.test(e.name))
    .map((e) => join(e.parentPath, e.name))
    .sort()
    .map((path) => [path, readFileSync(path).toString('base64')]);

beforeAll(() => {
  const world = ['simulate', 'tool-agent', '--episodes', '20000', '--tasks', '200', '--out', 'a.jsonl'];
  expect(turnwise(...world).status).toBe(0);
  expect(turnwise('ingest', 'a.jsonl', '--store', 's.duckdb').status).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

const exporting = (...more: string[]) => ['export', '--store', 's.duckdb', '--force', ...more];
const EXPORTS: [string, string[], RegExp][] = [
  [
    'all tables in Parquet',
    exporting('--to', 'parquet', '--out', 'all'),
    /^error: all\/episodes\.parquet: the disk is full/,
  ],
  ['all tables in Arrow', exporting('--to', 'arrow', '--out', 'all'), /^error: all\/episodes\.arrow: /],
  [
    'one table',
    exporting('--to', 'parquet', '--table', 'turns', '--out', 'one'),
    /^error: one: the disk is full/,
  ],
  [
    'a table in shards',
    exporting('--to', 'parquet', '--table', 'turns', '--shards', '3', '--out', 'shards'),
    /^error: shards: the disk is full/,
  ],
];

describe.each(EXPORTS)('%s on a full disk', (_, args, message) => {
  /** No file may grow beyond 20 kB: writing fails as on a full disk. */
  const onFullDisk = () =>
    spawnSync('bash', ['-c', `trap '' XFSZ; ulimit -f 20; exec "$0" "$@"`, process.execPath, main, ...args], {
      cwd: folder,
      encoding: 'utf8',
    });

  test('leaves nothing', () => {
    const { status, stderr } = onFullDisk();
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\.part\//);
    expect(readdirSync(folder).sort()).toEqual(['a.jsonl', 's.duckdb']);
  });

  test('leaves the export that was there, with --force too', () => {
    expect(turnwise(...args).status).toBe(0);
    const before = left();
    expect(before.length).toBeGreaterThan(0);
    expect(onFullDisk().status).toBe(1);
    expect(left()).toEqual(before);
    expect(turnwise(...args).status).toBe(0);
    expect(left().map(([path]) => path)).toEqual(before.map(([path]) => path));
    for (const name of ['all', 'one', 'shards']) rmSync(at(name), { recursive: true, force: true });
  });
});

/** Sends the signal once `what` is there, again and again as an impatient person does; how the command ended. */
function interrupted(signal: NodeJS.Signals, what: RegExp, args: readonly string[]) {
  return new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, stdio: 'ignore' });
    const look = setInterval(
      () => readdirSync(folder).some((name) => what.test(name)) && child.kill(signal),
      1,
    );
    child.on('exit', (code, by) => {
      clearInterval(look);
      done({ code, signal: by });
    });
  });
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s leaves nothing half-written', (signal) => {
  test.each<[string, RegExp, string[]]>([
    [
      'simulate',
      /^\.big\.jsonl\.part-/,
      ['simulate', 'tool-agent', '--episodes', '3000000', '--out', 'big.jsonl'],
    ],
    ['export', /^\.out\.part-/, ['export', '--store', 's.duckdb', '--to', 'parquet', '--out', 'out']],
    ['ingest', /^new\.duckdb$/, ['ingest', 'a.jsonl', '--store', 'new.duckdb']],
  ])('%s', async (_, what, args) => {
    expect(await interrupted(signal, what, args)).toEqual({ code: null, signal });
    expect(readdirSync(folder).sort()).toEqual(['a.jsonl', 's.duckdb']);
  });
});
