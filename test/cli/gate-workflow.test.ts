import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const lines = readFileSync(join(root, 'examples/gate.yml'), 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
const folder = mkdtempSync(join(tmpdir(), 'turnwise-workflow-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What stands after `KEY:` on lines of the file. */
const valuesOf = (key: string) =>
  lines.flatMap((line) => {
    const found = new RegExp(`^\\s*(?:- )?${key}: (.+)$`).exec(line);
    return found ? [found[1]!] : [];
  });

/** Runs the workflow's own commands on the bundled logs, as its shell does, until one fails. */
function workflow(candidate: string): { code: number; out: string } {
  const cwd = join(folder, candidate);
  const [logs, policy] = [valuesOf('LOGS')[0]!, valuesOf('CANDIDATE')[0]!];
  for (const file of [logs, policy]) mkdirSync(resolve(cwd, file, '..'), { recursive: true });
  copyFileSync(join(root, 'datasets/tool-agent/episodes.jsonl'), join(cwd, logs));
  copyFileSync(join(root, `datasets/tool-agent/${candidate}.policy.json`), join(cwd, policy));
  const program = `${process.execPath} ${join(root, 'dist/cli/main.js')}`;
  let out = '';
  for (const command of valuesOf('run').filter((c) => c !== 'npm ci')) {
    const run = spawnSync('bash', ['-e', '-c', command.replace('npx turnwise', program)], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, LOGS: logs, CANDIDATE: policy },
    });
    out += run.stdout + run.stderr;
    if (run.status !== 0) return { code: run.status!, out };
  }
  return { code: 0, out };
}

test('the file has the shape of a workflow', () => {
  expect(lines.filter((line) => /^\w/.test(line)).map((line) => line.split(':')[0])).toEqual([
    'name',
    'on',
    'jobs',
  ]);
  for (const line of lines) expect(line).toMatch(/^( {2})*(- )?[\w-]+:( .+)?$/);
  expect(valuesOf('run')).toHaveLength(4);
});

test('on the bundled logs the better candidate is merged, the worse one is not', () => {
  expect(workflow('soft')).toMatchObject({ code: 0, out: expect.stringContaining('gate passed') });
  expect(workflow('eager')).toMatchObject({ code: 3, out: expect.stringContaining('gate not passed') });
});
