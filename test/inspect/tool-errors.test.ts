import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fc, test as property } from '@fast-check/vitest';
import { afterEach, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { compare } from '../../src/inspect/compare.ts';
import { describe } from '../../src/inspect/describe.ts';
import { type CallCounts, toolErrors } from '../../src/inspect/tool-errors.ts';
import { rateWords } from '../../src/report/format.ts';
import { Comparison } from '../../src/schema/compare.ts';
import { Description } from '../../src/schema/describe.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

test('a rate needs successes that are marked; the bound holds whatever became of the rest', () => {
  // Failures only: 320 of 1,000, the others never marked.
  expect(toolErrors([{ failed: 320, worked: 0, unknown: 680 }])).toEqual({
    calls: 1000,
    failed: 320,
    worked: 0,
    unknown: 680,
    rate: null,
    atLeast: 0.32,
  });
  // One stray success does not make the rest known: 320 of 321 would be 99.7 %.
  expect(toolErrors([{ failed: 320, worked: 1, unknown: 679 }]).rate).toBeNull();
  expect(toolErrors([{ failed: 1, worked: 1, unknown: 1 }]).rate).toBe(0.5);
  expect(toolErrors([{ failed: 3, worked: 0, unknown: 0 }]).rate).toBe(1);
  // A file that marks successes says nothing of one that does not: 90/990 would be 9.1 %.
  const mixed = toolErrors([
    { failed: 80, worked: 0, unknown: 20 },
    { failed: 10, worked: 900, unknown: 0 },
  ]);
  expect(mixed.rate).toBeNull();
  expect(mixed.atLeast).toBe(90 / 1010);
  expect(toolErrors([])).toMatchObject({ calls: 0, rate: null, atLeast: null });
  expect(rateWords(null, 0.32)).toBe('at least 32.0 %');
  expect(rateWords(0.5, 0.25)).toBe('50.0 %');
  expect(rateWords(null, 0)).toBe('–');
});

const counts = fc.record({ failed: fc.nat(50), worked: fc.nat(50), unknown: fc.nat(50) });
property.prop([fc.array(counts, { maxLength: 4 }), fc.array(fc.double({ min: 0, max: 1, noNaN: true }))])(
  'the bound is below the true rate, however the unknown calls turned out',
  (files: CallCounts[], shares) => {
    const found = toolErrors(files);
    if (found.atLeast === null) return;
    const truly = files.reduce((n, f, i) => n + f.failed + Math.floor((shares[i] ?? 0) * f.unknown), 0);
    expect(found.atLeast).toBeLessThanOrEqual(truly / found.calls);
    if (found.rate !== null) expect(found.rate).toBeGreaterThanOrEqual(found.atLeast);
  },
);

const call = (error: boolean | null) => ({ name: error === false ? 'g' : 'f', arguments: {}, error });
const episode = (
  policy: string,
  task: number,
  calls: readonly (boolean | null)[][],
  more: Partial<NonNullable<EpisodeInput['turns']>[number]> = {},
): EpisodeInput => ({
  episode_id: `${policy}${task}`,
  policy,
  task_id: String(task),
  reward: task % 2,
  turns: calls.map((turn) => ({ tool_calls: turn.map(call), ...more })),
});

async function both(
  a: readonly (boolean | null)[][],
  b: readonly (boolean | null)[][],
  tasks = 6,
): Promise<{ c: Comparison; d: Description }> {
  const store = await storeOf(
    Array.from({ length: tasks }, (_, k) => [episode('A', k, a), episode('B', k, b)]).flat(),
  );
  opened.push(store);
  return {
    c: Comparison.parse(await compare(store, 'A', 'B')),
    d: Description.parse(await describe(store)),
  };
}
const reasonOf = (c: Comparison) => c.absent.find((x) => x.outcome === 'tool-errors')?.reason;

test('known failures of parallel calls beside unknown ones are counted, and the comparison says at least', async () => {
  const { c, d } = await both([[true], [true], []], [[true, null], [true, null], []]);
  expect(c.a.toolErrors).toMatchObject({ calls: 12, failed: 12, unknown: 0, rate: 1 });
  expect(c.b.toolErrors).toMatchObject({ calls: 24, failed: 12, unknown: 12, rate: null, atLeast: 0.5 });
  expect(reasonOf(c)).toContain('of B at least 12 of 24 calls failed (12 do not say)');
  expect(reasonOf(c)).toContain('of A 12 of 12 calls failed');
  expect(d.policies.find((p) => p.policy === 'B')!.toolErrors).toMatchObject({ failed: 12, rate: null });
  expect(d.tools.find((t) => t.tool === 'f')).toMatchObject({
    calls: 36,
    errors: 24,
    errorRate: null,
    errorRateAtLeast: 24 / 36,
    errorUnknown: 12,
  });
});

test('episodes whose calls all failed are no stand-in for those with a success that is not marked', async () => {
  // Of B only the episodes without a success are known: comparing those would say that B always fails.
  const store = await storeOf(
    Array.from({ length: 8 }, (_, k) => [
      episode('A', k, [[true], [false], [false]]),
      episode('B', k, k === 0 ? [[true], [true]] : [[null], [null]]),
    ]).flat(),
  );
  opened.push(store);
  const c = await compare(store, 'A', 'B');
  expect(reasonOf(c)).toContain('of B at least 2 of 16 calls failed (14 do not say)');
  await expect(compare(store, 'A', 'B', { outcomes: ['tool-errors'] })).rejects.toThrow('at least 2 of 16');
});

test('where successes are marked, few unknown calls leave the comparison to the episodes that are known', async () => {
  const store = await storeOf(
    Array.from({ length: 8 }, (_, k) => [
      episode('A', k, [[true], [false]]),
      episode('B', k, k === 0 ? [[false, null]] : [[false, false]]),
    ]).flat(),
  );
  opened.push(store);
  const c = await compare(store, 'A', 'B');
  const o = c.outcomes.find((x) => x.outcome === 'tool-errors')!;
  expect(o.difference.value).toBe(-1);
  expect(o.b).toMatchObject({ n: 7, missing: 1 });
  expect(c.b.toolErrors).toMatchObject({ calls: 16, failed: 0, worked: 15, unknown: 1, rate: 0 });
});

test('what a turn says of itself counts before its calls; aborted episodes are out of the comparison', async () => {
  const store = await storeOf([
    episode('A', 0, [[null, null, null]], { tool_errors: 2 }),
    episode('A', 1, [[]], { tool_errors: 4 }), // no calls are logged, and four of them failed
    episode('B', 0, [[false]]),
    { ...episode('B', 1, [[true, true]]), ending: 'aborted', reward: null },
  ]);
  opened.push(store);
  const c = await compare(store, 'A', 'B');
  expect(c.a.toolErrors).toMatchObject({ calls: 7, failed: 6, worked: 1, unknown: 0, rate: 6 / 7 });
  expect(c.b.toolErrors).toMatchObject({ calls: 1, failed: 0 });
  const d = await describe(store);
  expect(d.policies.find((p) => p.policy === 'B')!.toolErrors).toMatchObject({ calls: 3, failed: 2 });
});

test('an unknown turn is not one without failures', async () => {
  const store = await storeOf([episode('A', 0, [[true]]), episode('B', 0, [[]])]);
  opened.push(store);
  await plant(
    store,
    `UPDATE turns SET tool_errors = NULL, tool_calls = NULL
     WHERE episode IN (SELECT episode FROM episodes WHERE policy = 'B')`,
  );
  const c = await compare(store, 'A', 'B');
  // It made a call at least: what became of it is not known.
  expect(c.b.toolErrors).toMatchObject({ calls: 1, failed: 0, unknown: 1, rate: null });
  expect(reasonOf(c)).toMatch(/of B at least 0 of 1 calls failed/);
});

const found = resolve(import.meta.dirname, '../../../shared/found/17-compare-tool-errors/cmp.jsonl');
test.skipIf(!existsSync(found))(
  'the log of a public report: C has at least 90 [skipped: no ../shared]',
  async () => {
    const store = await openStore(':memory:', { mode: 'create' });
    opened.push(store);
    await ingest(store, [found]);
    const c = await compare(store, 'A', 'C');
    expect(c.a.toolErrors).toMatchObject({ calls: 90, failed: 90 });
    expect(c.b.toolErrors).toMatchObject({ calls: 180, failed: 90 });
    if (c.b.toolErrors.unknown > 0) expect(reasonOf(c)).toContain('at least 90 of 180');
  },
);
