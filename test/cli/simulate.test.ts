import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { checkCommand } from '../../src/cli/check.ts';
import type { Command, Io } from '../../src/cli/command.ts';
import { describeCommand } from '../../src/cli/describe.ts';
import { simulateCommand } from '../../src/cli/simulate.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { Check } from '../../src/schema/check.ts';
import { Description } from '../../src/schema/describe.ts';
import { Episode } from '../../src/schema/episode.ts';
import type { TurnwiseError } from '../../src/schema/error.ts';
import { openStore } from '../../src/store/store.ts';
import { plant } from '../helpers/store.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnwise-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Runs a command as the program does; what it wrote, and its exit code. */
async function run(command: Command, ...args: string[]) {
  const written = { out: '', err: '' };
  const io: Io = {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    progress: () => undefined,
    stdin: process.stdin,
  };
  const { values, positionals } = readArguments(command, args);
  return { code: await command.run(values, positionals, io), ...written };
}

test('the command of the manifest makes the data set, to a file and to standard output alike', async () => {
  const args = ['tool-agent', '--episodes', '2000', '--tasks', '200', '--seed', '0'];
  const file = join(dir, 'episodes.jsonl');
  expect((await run(simulateCommand, ...args, '--out', file)).out).toBe('');
  const { out } = await run(simulateCommand, ...args);
  const sha256 = createHash('sha256').update(out).digest('hex');
  expect(readFileSync(file, 'utf8')).toBe(out);
  const manifest = JSON.parse(
    readFileSync(new URL('../../datasets/tool-agent/manifest.json', import.meta.url), 'utf8'),
  );
  expect(manifest.command).toBe(`turnwise simulate ${args.join(' ')} --out episodes.jsonl`);
  expect(sha256).toBe(manifest.files[0].sha256);
  Episode.parse(JSON.parse(out.slice(0, out.indexOf('\n'))));
});

test.each([
  [['bogus'], 2, 'tool-agent'],
  [['constructor'], 2, 'tool-agent'],
  [[], 2, 'tool-agent'],
  [['tool-agent', 'tool-agent'], 2, 'tool-agent'],
  [['tool-agent', '--tasks', '3', '--episodes', '2'], 2, 'at most 2'],
  [['tool-agent', '--policy', 'clever'], 2, 'behaviour, patient, soft, eager'],
  [['tool-agent', '--starts', 'x'], 2, 'halves, drawn'],
  [['tool-agent', '--episodes', '1e99'], 2, 'whole number'],
  [['tool-agent', '--out', join(dir, 'none', 'x.jsonl')], 1, 'ENOENT'],
])('%j is refused with exit %d', async (args, exitCode, message) => {
  const error = await run(simulateCommand, ...args).then(
    () => undefined,
    (e: TurnwiseError) => e,
  );
  expect(error?.exitCode).toBe(exitCode);
  expect(error?.message).toContain(message);
});

test('simulate, ingest, describe, check: one after the other', async () => {
  const file = join(dir, 'some.jsonl');
  const path = join(dir, 'some.duckdb');
  await run(simulateCommand, 'tool-agent', '--episodes', '300', '--tasks', '30', '--out', file);
  let store = await openStore(path, { mode: 'create' });
  await ingest(store, [file]);
  store.close();

  const text = await run(describeCommand, '--store', path);
  expect(text.code).toBe(0);
  expect(text.out).toMatch(/episodes +300\n/);
  expect(text.out).toMatch(/submit +\d+ +0 +0\.0 %/);
  const json = await run(describeCommand, '--store', path, '--json');
  const description = Description.parse(JSON.parse(json.out));
  expect([description.episodes, description.tasks, json.err]).toEqual([300, 30, '']);

  expect((await run(checkCommand, '--store', path, '--strict')).code).toBe(0);
  store = await openStore(path, { mode: 'write' });
  await plant(store, 'UPDATE turns SET behaviour_log_propensity = 0.5 WHERE episode = 7 AND turn = 0');
  await plant(store, "UPDATE episodes SET episode_id = 'bell\u0007' WHERE episode = 7");
  store.close();
  const loose = await run(checkCommand, '--store', path);
  expect(loose.code).toBe(0);
  expect(loose.out).toContain('error  logprob-positive  1:');
  expect(loose.out).toContain('bell\\u0007, turn 0, turns.behaviour_log_propensity: 0.5');
  const strict = await run(checkCommand, '--store', path, '--strict', '--json');
  expect(strict.code).toBe(1);
  expect(Check.parse(JSON.parse(strict.out)).errors).toBe(1);
});

test.each([[describeCommand], [checkCommand]])('a store that is not there is refused', async (command) => {
  await expect(run(command, '--store', join(dir, 'none.duckdb'))).rejects.toThrow(/no such store/);
});
