import { spawnSync } from 'node:child_process';
import { linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'turnwise-output-'));
const turnwise = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stderr).not.toMatch(/\n\s+at /);
  return { status, stdout, stderr };
};
beforeAll(() => {
  expect(
    turnwise('simulate', 'tool-agent', '--episodes', '40', '--tasks', '8', '--out', 'a.jsonl').status,
  ).toBe(0);
  expect(turnwise('ingest', 'a.jsonl', '--store', 's.duckdb').status).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['simulate', ['simulate', 'tool-agent', '--episodes', '3', '--tasks', '3', '--out', 'a.jsonl']],
  ['export', ['export', '--store', 's.duckdb', '--to', 'parquet', '--table', 'turns', '--out', 'a.jsonl']],
  ['report', ['report', '--store', 's.duckdb', '--out', 'a.jsonl']],
])('%s does not replace a file without --force', (_, args) => {
  const before = readFileSync(join(folder, 'a.jsonl'));
  const { status, stderr } = turnwise(...args);
  expect(status).toBe(2);
  expect(stderr).toMatch(/a\.jsonl: is there already\. Pass --force/);
  expect(readFileSync(join(folder, 'a.jsonl'))).toEqual(before);
});

test.each([
  ['export', ['export', '--store', 's.duckdb', '--to', 'arrow', '--table', 'turns', '--force', '--out']],
  ['report', ['report', '--store', 's.duckdb', '--force', '--out']],
])('%s --force never replaces the store it reads, nor a device', (_, args) => {
  linkSync(join(folder, 's.duckdb'), join(folder, `link-${args[0]}`));
  const before = readFileSync(join(folder, 's.duckdb'));
  for (const out of ['s.duckdb', `link-${args[0]}`]) {
    const { status, stderr } = turnwise(...args, out);
    expect(status).toBe(2);
    expect(stderr).toMatch(/which is read here/);
  }
  expect(turnwise(...args, '/dev/null').stderr).toMatch(/is no regular file/);
  expect(readFileSync(join(folder, 's.duckdb'))).toEqual(before);
});

test('a closed pipe keeps the exit code of a verdict', () => {
  writeFileSync(
    join(folder, 'p.json'),
    JSON.stringify({ policy: 'p', trained_on: 'none', rules: [{ probabilities: { submit: 1 } }] }),
  );
  const command = `${process.execPath} ${main} audit --store s.duckdb --target p.json --json | true; exit \${PIPESTATUS[0]}`;
  expect(spawnSync('bash', ['-c', command], { cwd: folder }).status).toBe(3);
});

test('a full disk behind standard output is one line', () => {
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', `${process.execPath} ${main} describe --store s.duckdb > /dev/full`],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  );
  expect(status).toBe(1);
  expect(stderr.trim().split('\n').at(-1)).toBe('error: standard output: cannot be written (ENOSPC)');
});

test.each([
  [['ingest', 'a.jsonl', '--store', ':memory:'], 2, /--store: a store in memory is gone/],
  [['credit', '--store', 's.duckdb', '--ngrams', '1e15'], 2, /settings: .*ngramDims/],
  [['demo', '--out', 'a.jsonl'], 1, /a\.jsonl: cannot be written \(EEXIST\)/],
] as const)('turnwise %s is refused in a line', (args, code, message) => {
  const { status, stderr } = turnwise(...args);
  expect(status).toBe(code);
  expect(stderr).toMatch(message);
});
