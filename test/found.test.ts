import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { auditTarget } from '../src/audit/audit-target.ts';
import { ingest } from '../src/ingest/ingest.ts';
import { check } from '../src/inspect/check.ts';
import { describe } from '../src/inspect/describe.ts';
import { readPolicyFile } from '../src/policy/read-policy-file.ts';
import { queryRows } from '../src/store/query.ts';
import { openStore, type Store } from '../src/store/store.ts';

/*
 * Inputs that once came out wrong, as they were reported, each with the values that are right. Other such inputs have
 * their place beside the part that reads them; these are about several parts.
 */
const found = resolve(import.meta.dirname, '../../shared/found');
const there = existsSync(found);
if (!there) console.log('skipped: ../shared is not here');
const temp = mkdtempSync(join(tmpdir(), 'turnwise-found-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));

let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
});
afterEach(() => store.close());
const rows = (sql: string) => queryRows(store, sql);
const read = (name: string, options = {}) => ingest(store, [join(found, name)], options);

test.runIf(there)('six tasks whose numbers differ in the last digit are six tasks', async () => {
  await read('01-big-integer-ids/log.jsonl');
  expect((await describe(store)).tasks).toBe(6);
  const ids = [1, 2, 3, 4, 5, 6].map((k) => `118059162071741100${k}`);
  const stored = await rows(
    'SELECT task_id, tool_calls FROM turns JOIN episodes USING (episode) WHERE turn = 0 ORDER BY episode',
  );
  expect(stored.map((r) => r.task_id)).toEqual(ids);
  stored.forEach((r, k) => {
    expect(r.tool_calls).toContain(`{"order":${ids[k]}}`);
  });
});

test.runIf(there)('an agent that died with verdict 0 keeps its exception, and check tells', async () => {
  await read('08-harbor-exception/job/funds__abc/agent/trajectory.json', {
    rewards: join(found, '08-harbor-exception/job'),
  });
  expect(
    await rows("SELECT ending, reward, meta->'$.exception'->>'$.exception_type' AS died FROM episodes"),
  ).toEqual([{ ending: 'terminated', reward: 0, died: 'NonZeroAgentExitCodeError' }]);
  expect((await check(store)).findings.map((f) => f.code)).toContain('agent-exception');
});

test.runIf(there)(
  'a stand-in for a log-probability is not summed, and check names episode and turn',
  async () => {
    await read('11-sentinel-9999/log.jsonl');
    expect(await rows('SELECT behaviour_logprob AS b FROM turns ORDER BY episode')).toEqual([
      { b: null },
      { b: expect.closeTo(-0.6, 12) },
      { b: expect.closeTo(-0.6, 12) },
    ]);
    const { findings } = await check(store);
    expect(findings.find((f) => f.code.startsWith('logprob-stand-in'))?.examples[0]).toMatchObject({
      episode: 'c0',
      turn: 0,
    });
  },
);

test.runIf(there)('probabilities of float32 are divided by their sum', () => {
  const { rules } = readPolicyFile(join(found, '12-policy-float32/policy.json'));
  expect(Object.values(rules[0]!.probabilities)).toEqual([1 / 3, 1 / 3, 1 / 3]);
});

test.runIf(there)('a call of no tool failed, in tau-bench too', async () => {
  await read('18-unknown-action/unknown-action.json');
  expect(await rows('SELECT tool_errors FROM turns ORDER BY turn')).toEqual([
    { tool_errors: 1 },
    { tool_errors: 0 },
  ]);
});

test.runIf(there)('a conversation nested too deep takes no other with it', async () => {
  const { files } = await read('27-deep-record/log.jsonl');
  expect(files[0]!.firstRejects).toMatchObject([
    { line: 2, reason: expect.stringContaining('nested deeper') },
  ]);
  expect(
    await rows('SELECT episode_id, action FROM turns JOIN episodes USING (episode) ORDER BY episode'),
  ).toEqual(['0', '2', '3'].map((k) => ({ episode_id: `c${k}`, action: `a${k}` })));
});

/** A log and a policy file of rules over K two-valued features, made by the script of the report. */
async function cells(script: string, K: number) {
  execFileSync(process.execPath, [join(found, '26-packed-cells', script), String(K)], { cwd: temp });
  const made = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    await ingest(made, [join(temp, 'l.jsonl')]);
    const { verdict, evaluation, reasons } = await auditTarget(made, join(temp, 'p.json'));
    return {
      verdict,
      dm: evaluation?.estimates.find((e) => e.estimator === 'DM')?.value,
      mass: reasons.find((r) => r.code === 'unsupported-mass')?.value,
    };
  } finally {
    made.close();
  }
}

test.runIf(there).each([20, 34, 40, 60])('%i features: cells of a policy file stay apart', async (K) => {
  const two = await cells('mk2.mjs', K);
  expect(two.verdict).toBe('weak');
  expect(two.mass).toBeCloseTo(0.0098, 4);
  const one = await cells('mk.mjs', K);
  expect(one.dm).toBeCloseTo(1, 12);
});

test.runIf(there)('eight of eight tasks won: the exact interval, not one of width 0', async () => {
  await read('05-all-alike-interval/log.jsonl');
  const { interval, theseTasks } = (await describe(store)).reward!;
  expect(interval).toMatchObject({ lo: expect.closeTo(0.025 ** (1 / 8), 12), hi: 1 });
  expect(theseTasks).toBeNull();
});
