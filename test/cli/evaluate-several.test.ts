import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { evaluateCommand } from '../../src/cli/evaluate.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import type { TurnwiseError } from '../../src/schema/error.ts';
import { AuditedEvaluation } from '../../src/schema/evaluation-result.ts';
import { PolicyComparison } from '../../src/schema/policy-comparison.ts';
import { openStore } from '../../src/store/store.ts';
import { policyFile, simulated } from '../helpers/agent-turns.ts';
import { run as runCommand } from '../helpers/run-command.ts';

const dir = mkdtempSync(join(tmpdir(), 'turnwise-evaluate-'));
const path = (name: string) => join(dir, name);
const file = (name: string) => path(`${name}.json`);

beforeAll(async () => {
  writeFileSync(
    path('logs.jsonl'),
    simulated(200, 10, 4)
      .map((e) => `${JSON.stringify(e)}\n`)
      .join(''),
  );
  const store = await openStore(path('logs.duckdb'), { mode: 'create' });
  await ingest(store, [path('logs.jsonl')]);
  store.close();
  for (const name of ['soft', 'patient', 'eager', 'behaviour'] as const)
    writeFileSync(file(name), JSON.stringify(policyFile(name)));
  writeFileSync(file('unsaid'), JSON.stringify({ ...policyFile('soft', 'unknown'), policy: 'unsaid' }));
});

function run(targets: readonly string[], ...args: string[]) {
  const flags = targets.flatMap((t) => ['--target', file(t)]);
  return runCommand(evaluateCommand, '--store', path('logs.duckdb'), ...flags, ...args);
}
const failed = (targets: readonly string[], ...args: string[]): Promise<TurnwiseError> =>
  run(targets, ...args).then(
    ({ out }) => {
      throw new Error(`was accepted: ${out}`);
    },
    (e) => e as TurnwiseError,
  );

test('several targets: each verdict, the number compared, and no interval of a refused one', async () => {
  const { out, code } = await run(['soft', 'patient', 'eager']);
  expect(out).toMatch(/^ {2}policy +verdict +why\n {2}soft +supported/);
  expect(out).toMatch(/\n {2}patient +refused +\S/);
  expect(out).toMatch(/\n5 numbers compared, 1 refused and left out: .* hold all at once with 95\.0 %\n/);
  expect(out).toMatch(/\n {2}soft − behaviour +0\.\d+/);
  expect(out).toMatch(/\n {2}soft − eager +0\.\d+/);
  expect(out).not.toMatch(/patient − /);
  expect(out).toMatch(/max-t, 5 intervals, 199 degrees of freedom, .*2000 replicates, seed 0/);
  expect(code).toBe(3);
  expect((await run(['soft', 'eager'])).code).toBe(0);
});

test('--json prints the record; the seed decides; weak support claims nothing', async () => {
  const one = await run(['soft', 'unsaid'], '--json', '--replicates', '500', '--seed', '3');
  const record = PolicyComparison.parse(JSON.parse(one.out));
  expect(one.err).toBe('');
  expect(record.band!.compared).toBe(5);
  expect((await run(['soft', 'unsaid'], '--json', '--replicates', '500', '--seed', '3')).out).toBe(one.out);
  const of = (policy: string) => record.band!.values.find((v) => v.policy === policy && v.against === null)!;
  expect(of('soft').simultaneous!.method).toMatch(/500 replicates, seed 3$/);
  expect(of('unsaid').simultaneous!.method).toMatch(/coverage not claimed$/);
  const pair = record.band!.values.find((v) => v.against === 'unsaid')!;
  expect(pair.estimate.value).toBe(0);
  expect(pair.simultaneous).toBeNull(); // the same policy twice: nothing varies
  expect(one.code).toBe(3);
});

test('only refused ones: nothing is compared', async () => {
  const { out, code } = await run(['patient', 'soft'], '--trained-on', file('tasks'), '--json').catch(() => ({
    out: '',
    code: -1,
  }));
  expect([out, code]).toEqual(['', -1]); // a file that is not there
  writeFileSync(file('tasks'), JSON.stringify({ sources: [path('logs.jsonl')] }));
  const all = await run(['patient', 'soft'], '--trained-on', file('tasks'));
  expect(all.out).toMatch(/Nothing to compare: every policy is refused/);
  expect(all.code).toBe(3);
});

test('--interval, --seed and --replicates of one target; the verdict is the same', async () => {
  const plain = AuditedEvaluation.parse(JSON.parse((await run(['soft'], '--seed', '9', '--json')).out));
  expect(plain.config.interval).toBe('cr1-t');
  for (const interval of ['bootstrap-percentile', 'bootstrap-bca', 'bootstrap-t']) {
    // The importance-sampling family; what is made of several passes has no bootstrap here.
    const args = ['--interval', interval, '--replicates', '300', '--seed', '9', '--json'];
    const e = AuditedEvaluation.parse(JSON.parse((await run(['soft'], ...args)).out));
    expect(e.verdict).toBe(plain.verdict);
    e.estimates.slice(0, 6).forEach((x, i) => {
      const { interval: made, value } = plain.estimates[i]!;
      expect(x.value).toBe(value);
      if (made === null) return;
      expect(x.interval!.method).toMatch(/over 200 tasks, 300 replicates, seed 9$/);
      expect(Math.abs(Math.log((x.interval!.hi - x.interval!.lo) / (made.hi - made.lo)))).toBeLessThan(0.4);
    });
  }
  const bounded = ['--interval', 'hoeffding', '--range', '-0.3,1', '--max-weight', '15625', '--json'];
  const e = AuditedEvaluation.parse(JSON.parse((await run(['soft'], ...bounded)).out));
  expect(e.behaviour.interval!.method).toMatch(/^Hoeffding over 200 tasks/);
});

test('usage errors', async () => {
  expect((await failed(['soft'], '--interval', 'normal')).message).toMatch(
    /expected one of cr1-t, bootstrap/,
  );
  expect((await failed(['soft'], '--interval', 'hoeffding')).message).toMatch(/Pass --range LO,HI/);
  expect((await failed(['soft', 'eager'], '--interval', 'bootstrap-t')).message).toMatch(/is for one target/);
  expect((await failed(['soft', 'soft'])).message).toMatch(/"soft": is named twice/);
  expect((await failed(['soft', 'eager'], '--estimator', 'WPDIS alive')).message).toMatch(
    /expected one of IS, WIS/,
  );
  for (const more of [
    ['--replicates', '3'],
    ['--seed', 'x'],
    ['--max-weight', '0'],
    ['--estimator', 'no'],
  ])
    expect((await failed(['soft', 'eager'], ...more)).exitCode, more.join(' ')).toBe(2);
});

test('flags that would change nothing are refused, not ignored', async () => {
  for (const [targets, args, message] of [
    [['soft'], ['--estimator', 'IS'], /^--estimator: is for several targets/],
    [['soft'], ['--replicates', '500'], /^--replicates: is of a bootstrap, and --interval is cr1-t/],
    [
      ['soft'],
      ['--replicates', '500', '--interval', 'hoeffding', '--range', '-0.3,1'],
      /^--replicates: is of a bootstrap, and --interval is hoeffding/,
    ],
    [['soft'], ['--max-weight', '9'], /^--max-weight: is for hoeffding and .*--interval is cr1-t/],
    [['soft', 'eager'], ['--max-weight', '9'], /^--max-weight: is for one target/],
  ] as const) {
    const error = await failed(targets, ...args);
    expect(error.message).toMatch(message);
    expect(error.exitCode).toBe(2);
  }
});

test('more replicates than a million are refused, and how many there are is shown on a terminal', async () => {
  for (const targets of [['soft'], ['soft', 'eager']]) {
    const error = await failed(targets, '--interval', 'bootstrap-t', '--replicates', '1000001');
    expect(error.message).toBe(
      '--replicates: is out of range, got 1000001, expected a whole number from 100 to 1,000,000',
    );
    expect(error.exitCode).toBe(2);
  }
  const told: string[] = [];
  const io = { out() {}, err() {}, progress: (text: string) => void told.push(text), stdin: process.stdin };
  const args = ['--target', file('soft'), '--interval', 'bootstrap-t', '--replicates', '1200'];
  const { values } = readArguments(evaluateCommand, ['--store', path('logs.duckdb'), ...args]);
  await evaluateCommand.run(values, [], io);
  expect(told).toEqual(['bootstrap over tasks: 1,200 replicates']);
});
