import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareCommand } from '../../src/cli/compare.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { Comparison } from '../../src/schema/compare.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { toolAgentExact } from '../../src/simulate/tool-agent-exact.ts';
import { TOOL_AGENT_POLICIES } from '../../src/simulate/tool-agent-law.ts';
import { openStore } from '../../src/store/store.ts';
import { run as runCommand } from '../helpers/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-compare-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A store of these files; each holds episodes. */
async function makeStore(
  name: string,
  files: Readonly<Record<string, Iterable<EpisodeInput>>>,
): Promise<string> {
  const paths = Object.entries(files).map(([file, episodes]) => {
    const path = join(folder, file);
    writeFileSync(path, [...episodes].map((e) => `${JSON.stringify(e)}\n`).join(''));
    return path;
  });
  const path = join(folder, `${name}.duckdb`);
  const store = await openStore(path, { mode: 'create' });
  try {
    await ingest(store, paths);
  } finally {
    store.close();
  }
  return path;
}

const exact = (policy: 'behaviour' | 'patient'): number => toolAgentExact(TOOL_AGENT_POLICIES[policy]).value;

let runs: string;
beforeAll(async () => {
  const rollouts = (policy: 'behaviour' | 'patient', seed: number) =>
    [...simulateToolAgent({ tasks: 60, episodes: 240, seed, policy })].map((e) => ({
      ...e,
      policy: policy === 'patient' ? 'tuned\u001b[31m' : 'base',
    }));
  const again = rollouts('behaviour', 9).map((e) => ({ ...e, episode_id: `again-${e.episode_id}` }));
  runs = await makeStore('runs', {
    'base.jsonl': rollouts('behaviour', 1),
    'tuned.jsonl': rollouts('patient', 2),
    'again.jsonl': again,
  });
});

const run = (...args: string[]) => runCommand(compareCommand, ...args);
const json = async (...args: string[]): Promise<Comparison> =>
  Comparison.parse(JSON.parse((await run(...args, '--json')).out));

test('the difference is the exact one of a simulated world, within three standard errors', async () => {
  const c = await json(
    '--store',
    runs,
    '--policies',
    'source:base.jsonl,source:tuned.jsonl',
    '--outcome',
    'return',
  );
  const truth = exact('patient') - exact('behaviour');
  const { interval, value, se } = c.outcomes[0]!.difference;
  expect(Math.abs(value - truth)).toBeLessThan(3 * se!);
  expect(interval!.lo).toBeGreaterThan(0);
  expect(c.tasks).toEqual({ common: 60, onlyA: 0, onlyB: 0 });
});

test('two files of one policy: no difference to see; sources and warnings are named', async () => {
  const c = await json(
    '--store',
    runs,
    '--policies',
    'source:base.jsonl',
    '--policies',
    'source:again.jsonl',
  );
  const { value, se } = c.outcomes[0]!.difference;
  expect(Math.abs(value)).toBeLessThan(3 * se!);
  expect(c.b.sources[0]).toMatch(/again\.jsonl$/);
  expect(c.b.policies).toEqual(['base']);
});

test('the text: answer first, no control characters; warnings on the other stream', async () => {
  const { out, err, code } = await run(
    '--store',
    runs,
    '--policies',
    'base,tuned\u001b[31m',
    '--difference',
    '0.1',
  );
  expect(code).toBe(0);
  expect(out).toMatch(/B does better in return: B − A is 0\.\d+/);
  expect(out).toMatch(/One of 0\.100 is seen with/);
  expect(out).toMatch(/Not compared\n {2}cost/);
  expect(out).not.toContain('\u001b');
  expect(out).not.toMatch(/NaN|undefined/);
  expect(err).toBe('');
});

test('the same bytes for the same seed', async () => {
  const args = ['--store', runs, '--policies', 'source:base.jsonl,source:again.jsonl', '--json'];
  expect((await run(...args, '--seed', '3')).out).toBe((await run(...args, '--seed', '3')).out);
  expect((await json(...args.slice(0, 4), '--seed', '4')).config.seed).toBe(4);
});

test.each([
  [['--policies', 'base'], /takes two policies/, 2],
  [['--policies', 'base,nobody'], /unknown policy, got "nobody", expected one of "base"/, 2],
  [['--policies', 'base,base'], /share episodes/, 2],
  [['--policies', 'base,tuned\u001b[31m', '--outcome', 'joy'], /is no outcome, got "joy"/, 2],
  [['--policies', 'base,tuned\u001b[31m', '--difference', '0'], /--difference: is out of range/, 2],
  [['--policies', 'base,tuned\u001b[31m', '--outcome', 'cost'], /no episode of either policy has it/, 3],
])('%j is refused by name', async (args, message, exitCode) => {
  const error = await run('--store', runs, ...args).catch((e) => e);
  expect(error.exitCode).toBe(exitCode);
  expect(error.message).toMatch(message);
});

test('tasks that do not overlap: exit 3', async () => {
  const one = (policy: string, task: string): EpisodeInput => ({
    episode_id: policy,
    policy,
    task_id: task,
    reward: 1,
    turns: [],
  });
  const path = await makeStore('apart', { 'apart.jsonl': [one('a', 'x'), one('b', 'y')] });
  await expect(run('--store', path, '--policies', 'a,b')).rejects.toMatchObject({ exitCode: 3 });
});

const airline = resolve(import.meta.dirname, '../../../shared/logs/tau-bench/gpt-4o-airline.json');
test.skipIf(!existsSync(airline))(
  'the airline log, its first two trials against its last two (skipped: ../shared is not here)',
  async () => {
    const path = join(folder, 'airline.duckdb');
    const store = await openStore(path, { mode: 'create' });
    try {
      await ingest(store, [airline]);
      await store.connection.run(
        "UPDATE episodes SET policy = CASE WHEN trial < 2 THEN 'first' ELSE 'last' END",
      );
    } finally {
      store.close();
    }
    const c = await json('--store', path, '--policies', 'first,last');
    const o = c.outcomes[0]!;
    expect([o.outcome, o.tasks]).toEqual(['success', 50]);
    // 84 of the 200 runs succeed (agentic-known-answers.json); the halves share them.
    expect(100 * (o.a.mean + o.b.mean)).toBeCloseTo(84, 9);
    expect(o.difference.interval!.lo).toBeLessThan(0);
    expect(o.difference.interval!.hi).toBeGreaterThan(0);
  },
);
