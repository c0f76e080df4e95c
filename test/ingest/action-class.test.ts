import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { auditTarget } from '../../src/index.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { check } from '../../src/inspect/check.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-classes-'));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;

/** A store of one log, its turns in order. */
async function read(lines: readonly object[], actionClass?: string) {
  const path = join(folder, `log${made++}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  const { warnings } = await ingest(store, [path], { actionClass });
  const rows = await queryRows(store, 'SELECT action_class FROM turns ORDER BY episode, turn');
  return { store, warnings, classes: rows.map((r) => r.action_class) };
}
const calling = (...names: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: names.map((name, k) => ({ id: `${k}`, function: { name, arguments: '{}' } })),
});
const said = (content: string, fields: object = {}) => ({ role: 'assistant', content, ...fields });
const messages = [
  { role: 'user', content: 'u' },
  calling('search'),
  { role: 'tool', tool_call_id: '0', content: 'ok' },
  calling('book', 'search', 'book'),
  said('Act: ask\nWhich?', { intent: 'ask', act: 3 }),
  said('[TOOL_CALL] x', { intent: '', action_class: 'own' }),
];

describe('what declares the class', () => {
  test.each([
    ['tool', ['search', 'book+search', 'no-tool', 'own'], 0],
    ['column:intent', [null, null, 'ask', 'own'], 2],
    ['column:act', [null, null, '3', 'own'], 2],
    ['/^act: (\\w+)/i', [null, null, 'ask', 'own'], 2],
    ['/Which/', [null, null, 'Which', 'own'], 2],
    [undefined, [null, null, null, 'own'], 0],
  ])('%s', async (rule, classes, without) => {
    const found = await read([{ messages }], rule);
    expect(found.classes).toEqual(classes);
    const warning = found.warnings.find((w) => w.code === 'action-class-missing');
    expect(warning?.count ?? 0).toBe(without);
    found.store.close();
  });

  test('of canonical records too; a turn whose calls could not be read has none', async () => {
    const canonical = await read(
      [{ episode_id: 'a', turns: [{ version: 'v1', tool_calls: [{ name: 'f', arguments: {} }] }, {}] }],
      'tool',
    );
    expect(canonical.classes).toEqual(['f', 'no-tool']);
    canonical.store.close();
    const versions = await read([{ episode_id: 'a', turns: [{ version: 'v1' }] }], 'column:version');
    expect(versions.classes).toEqual(['v1']);
    versions.store.close();
    const unread = await read([{ messages: [said('<tool_call>?</tool_call>')] }], 'tool');
    expect(unread.classes).toEqual([null]);
    unread.store.close();
  });

  test.each(['tol', 'column:', '/(/', '//', 'tool,column'])('%j is refused by name', async (rule) => {
    await expect(read([{ messages }], rule)).rejects.toThrow(/^action class: /);
  });
});

test('a chat log with classes can be audited with estimated propensities', async () => {
  // The agent looks things up in three of four episodes, by a rule of the task's number.
  const lines = Array.from({ length: 160 }, (_, k) => ({
    task_id: `t${k % 40}`,
    reward: k % 3 === 0 ? 1 : 0,
    messages: [{ role: 'user', content: `order ${k}` }, k % 4 === 0 ? said('Done.') : calling('look_up')],
  }));
  const target = join(folder, 'target.json');
  writeFileSync(
    target,
    JSON.stringify({
      policy: 'p',
      trained_on: 'none',
      rules: [{ probabilities: { look_up: 0.6, 'no-tool': 0.4 } }],
    }),
  );
  const { store } = await read(lines, 'tool');
  const { verdict, evaluation } = await auditTarget(store, target, { estimatePropensities: true });
  expect(verdict).toBe('weak');
  const estimate = evaluation!.estimates.find((e) => e.estimator === 'WIS')!;
  // By hand: Σ_a π(a) E[r | a], since neither class depends on the reward's rule: 0.6 · 40/120 + 0.4 · 14/40.
  expect(estimate.value).toBeCloseTo(0.34, 1);
  store.close();
  const plain = await read(lines);
  await expect(
    auditTarget(plain.store, target, { estimatePropensities: true }).then((a) => a.verdict),
  ).rejects.toThrow(/action_class|class/);
  plain.store.close();
});

test('check finds what a chat could not settle', async () => {
  const token = (logprob: number) => ({ logprob });
  const { store } = await read([
    { messages: [calling('f'), { role: 'tool', tool_call_id: 'zz', content: 'lost' }, said('x')] },
    {
      id: 'shape',
      messages: [
        said('hm', { usage: { completion_tokens: 1 }, logprobs: { content: [token(-9999)] } }),
        said('[TOOL_CALLS] []'),
      ],
    },
  ]);
  const { findings } = await check(store);
  const of = (code: string) => findings.find((f) => f.code === code);
  expect(of('results-orphaned')).toMatchObject({ count: 1 });
  expect(of('calls-unread')).toMatchObject({ count: 1, examples: [{ episode: 'shape', turn: 1 }] });
  expect(of('logprob-stand-in')).toMatchObject({ count: 1, examples: [{ episode: 'shape', turn: 0 }] });
  store.close();
});
