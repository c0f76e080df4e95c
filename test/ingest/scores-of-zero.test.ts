/* A probability of 0 as a score, and columns that scores do not have. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { logRatiosFromScores } from '../../src/weights/from-scores.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-zero-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
  return () => store.close();
});
let made = 0;
async function read(lines: readonly (object | string)[]) {
  const path = join(folder, `${made++}.jsonl`);
  writeFileSync(path, lines.map((l) => `${typeof l === 'string' ? l : JSON.stringify(l)}\n`).join(''));
  const result = await ingest(store, [path], { format: 'auto' });
  return { ...result.files[0]!, warnings: result.warnings };
}
const turn = (logprob: number) => ({ action: 'x', behaviour_logprob: logprob, logprob_kind: 'raw' });
const log = (n: number) =>
  Array.from({ length: n }, (_, k) => ({
    episode_id: `e${k}`,
    task_id: `t${k}`,
    ending: 'terminated',
    reward: k % 2,
    turns: [turn(-1), turn(-1.5 - k / 1000)],
  }));
const score = (k: number, turn: number, logprob: unknown) => ({
  policy: 'p',
  trained_on: 'none',
  episode_id: `e${k}`,
  turn,
  logprob,
  logprob_kind: 'raw',
});

test('"-inf" is a log-probability: a weight of exactly 0, and no NaN', async () => {
  const n = 40;
  await read(log(n));
  // Every fourth episode could never have come about: its first turn, or its second, or both.
  const lines = Array.from({ length: n }, (_, k) => [
    score(k, 0, k % 4 === 0 ? '-inf' : -1),
    score(k, 1, k % 8 === 0 || k % 4 === 1 ? '-inf' : -1.5 - k / 1000),
  ]).flat();
  expect(await read(lines)).toMatchObject({ scores: 2 * n, rejects: 0 });
  expect(await queryRows(store, "SELECT count(*) AS n FROM scores WHERE logprob = '-inf'::DOUBLE")).toEqual([
    { n: 25 },
  ]);
  const t = await loadTrajectories(store);
  const { values } = await logRatiosFromScores(store, t, 'p');
  expect([...values.slice(0, 6)]).toEqual([-Infinity, -Infinity, 0, -Infinity, 0, 0]);
  expect([...values].some(Number.isNaN)).toBe(false);
  // The other half of the episodes weighs 1 each: ESS = 20.
  const { reasons } = await auditTarget(store, 'p');
  expect(reasons.find((r) => r.code === 'low-ess')).toMatchObject({ value: 20 });
});

test('a class that the target never takes', async () => {
  await read([
    {
      episode_id: 'a',
      ending: 'terminated',
      reward: 1,
      turns: [{ action_class: 'x', behaviour_log_propensity: -0.5 }],
    },
  ]);
  const zero = { policy: 'p', trained_on: 'none', episode_id: 'a', turn: 0, log_propensity: '-inf' };
  expect(await read([zero])).toMatchObject({ scores: 1 });
  expect(await queryRows(store, 'SELECT log_propensity, logprob FROM scores')).toEqual([
    { log_propensity: -Infinity, logprob: null },
  ]);
});

test.each([
  ['the token of Python', '-Infinity', /not JSON: .*write "-inf" for a probability of 0/],
  ['NaN', 'NaN', /not JSON: .*null for one that is not known/],
  ['another word', '"inf"', /^logprob: expected a number, or "-inf" for a probability of 0/],
  ['a word of another language', '"-Infinity"', /^logprob: expected a number, or "-inf"/],
  ['a number as text', '"-1"', /^logprob: expected a number, or "-inf"/],
  ['a number that is none', '-1e999', /^logprob: expected a number, or "-inf"/],
])('%s is refused, and the reject says what to write', async (_, logprob, reason) => {
  await read(log(1));
  const line = JSON.stringify(score(0, 0, 0)).replace('"logprob":0', `"logprob":${logprob}`);
  const { rejects, firstRejects } = await read([score(0, 1, -1), line]);
  expect(rejects).toBe(1);
  expect(firstRejects[0]!.reason).toMatch(reason);
});

test('columns that scores do not have are left out, named and counted; one that looks like a known one is not', async () => {
  await read(log(1));
  const file = await read([
    { ...score(0, 0, -1), gpu: 'h100', note: null },
    { ...score(0, 1, -1), gpu: 'h100' },
    { ...score(0, 1, -1), policy: 'q', logprob_kinds: 'raw' },
  ]);
  expect(file).toMatchObject({ scores: 2, rejects: 1 });
  expect(file.firstRejects[0]!.reason).toBe('unknown column "logprob_kinds" (did you mean "logprob_kind"?)');
  expect(file.warnings.map((w) => [w.count, w.message])).toEqual([
    [2, 'scores with gpu, a column that scores do not have: left out'],
    [1, 'score with note, a column that scores do not have: left out'],
  ]);
});
