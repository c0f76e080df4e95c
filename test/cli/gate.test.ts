import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditCommand } from '../../src/cli/audit.ts';
import { evaluateCommand } from '../../src/cli/evaluate.ts';
import { Audit } from '../../src/schema/audit.ts';
import { logsOf, targetOf } from '../helpers/one-choice.ts';
import { run } from '../helpers/run-command.ts';
import { storeFileOf } from '../helpers/store-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnwise-gate-'));
afterAll(() => rmSync(dir, { recursive: true }));
const path = (name: string) => join(dir, name);
const [worse, better] = [path('worse.json'), path('better.json')];

beforeAll(async () => {
  // The logging policy is worth .3 + .4 · .8025; `worse` .121 less, `better` .059 more.
  await storeFileOf(path('logs'), logsOf({ logged: 0.8025, pays: { a: 0.7, b: 0.3 } }, 2000, 1));
  writeFileSync(worse, JSON.stringify(targetOf(0.5)));
  writeFileSync(better, JSON.stringify(targetOf(0.95)));
});
const store = () => `${path('logs')}.duckdb`;
const audit = (target: string, ...flags: string[]) =>
  run(auditCommand, '--store', store(), '--target', target, ...flags);

test('supported is not better: exit 0 without a gate, 3 with one, and the reason', async () => {
  const plain = await audit(worse);
  expect([plain.code, /^ {2}difference +−0\.1\d+ +\[/m.test(plain.out)]).toEqual([0, true]);
  expect(plain.out.indexOf('difference')).toBeLessThan(plain.out.indexOf('mean return'));
  const gated = await audit(worse, '--require-better');
  expect(gated.code).toBe(3);
  expect(gated.out).toMatch(/gate not passed: "a with 0\.5": its difference .* not above 0/);
  expect((await audit(worse, '--require-not-worse', '.05')).code).toBe(3);
  expect((await audit(worse, '--require-not-worse', '.3')).code).toBe(0);
});

test('a better one passes, up to the margin', async () => {
  const found = await audit(better, '--require-better');
  expect([found.code, found.out.includes('gate passed')]).toEqual([0, true]);
  expect((await audit(better, '--require-better', '0.2')).code).toBe(3);
  expect((await audit(better, '--require-better=0', '--require-not-worse', '0')).code).toBe(0);
});

test('--json prints the record alone; the gate is told on stderr', async () => {
  const found = await audit(worse, '--json', '--require-better');
  expect(Audit.parse(JSON.parse(found.out)).evaluation!.difference!.value).toBeLessThan(0);
  expect([found.code, found.err.startsWith('gate not passed')]).toEqual([3, true]);
});

test('evaluate gates one target and several, all of which must pass', async () => {
  const evaluate = (...args: string[]) => run(evaluateCommand, '--store', store(), ...args);
  const one = await evaluate('--target', worse, '--require-better');
  expect([one.code, one.out.indexOf('difference') < one.out.indexOf('WIS')]).toEqual([3, true]);
  const both = await evaluate('--target', worse, '--target', better, '--require-better');
  expect(both.code).toBe(3);
  expect(both.out).toMatch(/gate not passed.*"a with 0\.5".*not above 0.*"a with 0\.95".*above 0/);
  expect((await evaluate('--target', worse, '--target', better)).code).toBe(0);
});

test('usage errors', async () => {
  for (const flags of [
    ['--require-not-worse'],
    ['--require-not-worse', '-1'],
    ['--require-better', '-0.1'],
    ['--require-better=x'],
    ['--require-better', '--require', 'weak'],
  ])
    await expect(audit(worse, ...flags).then(() => flags)).rejects.toMatchObject({ exitCode: 2 });
});
