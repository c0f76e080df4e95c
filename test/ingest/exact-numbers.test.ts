import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { check } from '../../src/inspect/check.ts';
import { describe as describeStore } from '../../src/inspect/describe.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { argumentsText, startHistory, takeUpTurn } from '../../src/trajectories/history.ts';
import { turnTexts } from '../../src/trajectories/texts.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-numbers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
});
afterEach(() => store.close());

let made = 0;
function write(ending: string, text: string): string {
  const path = join(folder, `log${made++}${ending}`);
  writeFileSync(path, text);
  return path;
}
const rows = (sql: string) => queryRows(store, sql);
const column = async (sql: string) =>
  (await rows(`SELECT ${sql} AS x FROM episodes ORDER BY episode`)).map((r) => r.x);

/** Six neighbours beyond 2^53, which a double takes for one number. */
const IDS = [1, 2, 3, 4, 5, 6].map((k) => `118059162071741100${k}`);
const chatLine = (id: string, k: number) =>
  `{"id": "run-${k}", "task_id": ${id}, "policy": "a", "reward": ${k % 2}, "trace": ${id}, "metadata": {"parent": [${id}]}, "messages": [` +
  `{"role": "user", "content": "refund"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "refund", "arguments": "{\\"order\\": ${id}}"}}]}, ` +
  '{"role": "tool", "tool_call_id": "c", "content": "ok"}, {"role": "assistant", "content": "done"}]}';

describe('numbers beyond 2^53 keep every digit', () => {
  test('chat: six tasks whose ids differ in the last digit, their arguments and columns', async () => {
    await ingest(store, [write('.jsonl', IDS.map(chatLine).join('\n'))]);
    expect((await describeStore(store)).tasks).toBe(6);
    expect(await column('task_id')).toEqual(IDS);
    expect(await column('meta')).toEqual(IDS.map((id) => `{"trace":${id},"parent":[${id}]}`));
    const calls = await rows(`SELECT tool_calls AS x FROM turns WHERE turn = 0 ORDER BY episode`);
    expect(calls.map((r) => /"order":(\d+)/.exec(r.x as string)?.[1])).toEqual(IDS);
    const shown = await turnTexts(store, 3);
    expect(argumentsText(shown[0]!.tool_calls[0]!.arguments)).toBe(`{"order":${IDS[3]}}`);
    expect((await check(store)).findings.filter((f) => f.severity === 'error')).toEqual([]);
  });

  test.each([
    ['in one go', ''],
    ['read off the bytes with its tokens', ',"segments":[{"token_ids":[1],"action_mask":[true]}]'],
  ])('canonical lines, %s: names, meta and arguments', async (_, segments) => {
    const line = (id: string) =>
      `{"episode_id":${id},"task_id":${id},"reward":0.12345678901234567890,"meta":{"a":${id},"b":-0.30000000000000000001},"turns":[{"tool_calls":[{"name":"f","arguments":{"n":${id}}}]}]${segments}}`;
    const { rejects } = await ingest(store, [write('.jsonl', IDS.map(line).join('\n'))]);
    expect(rejects).toBe(0);
    expect(await column('episode_id')).toEqual(IDS);
    expect(await column('task_id')).toEqual(IDS);
    expect(await column('reward')).toEqual(IDS.map(() => 0.12345678901234568));
    expect(await column('meta')).toEqual(IDS.map((id) => `{"a":${id},"b":-0.30000000000000000001}`));
    const calls = await rows('SELECT tool_calls AS x FROM turns ORDER BY episode');
    expect(calls.map((r) => /"n":(\d+)/.exec(r.x as string)?.[1])).toEqual(IDS);
  });

  test('a name written as a number is its digits', async () => {
    await ingest(store, [write('.jsonl', '{"episode_id":17,"task_id":4.5,"policy":3,"turns":[]}\n')]);
    expect(await rows('SELECT episode_id, task_id, policy FROM episodes')).toEqual([
      { episode_id: '17', task_id: '4.5', policy: '3' },
    ]);
  });

  test('tau-bench: tasks and arguments', async () => {
    const run = (id: string) =>
      `{"task_id":${id},"trial":0,"reward":1,"info":{},"traj":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"a\\":${id}}"}}]}]}`;
    await ingest(store, [write('.json', `[${IDS.map(run).join(',')}]`)]);
    const tasks = await column('task_id');
    expect(new Set(tasks).size).toBe(6);
    for (const [k, task] of tasks.entries()) expect(task).toContain(IDS[k]);
    const calls = await rows('SELECT tool_calls AS x FROM turns ORDER BY episode');
    expect(calls.map((r) => /"a":(\d+)/.exec(r.x as string)?.[1])).toEqual(IDS);
  });

  test('a document of ATIF: its session and its arguments', async () => {
    const [id] = IDS;
    const step = `{"step_id":1,"source":"agent","message":"m","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{"n":${id}}}]}`;
    const text = `{"schema_version":"ATIF-v1.4","session_id":${id},"agent":{"name":"x","version":"1"},"steps":[${step}]}`;
    await ingest(store, [write('.json', text)]);
    expect(await column('episode_id')).toEqual([id]);
    const [call] = await rows('SELECT tool_calls AS x FROM turns');
    expect(call!.x).toContain(`"n":${id}`);
  });

  test.each([
    ['JSONL', '.jsonl', IDS.map((id, k) => `{"episode_id":${id},"reward":${k}}`).join('\n')],
    ['a JSON array', '.json', `[${IDS.map((id, k) => `{"episode_id":${id},"reward":${k}}`).join(',')}]`],
    ['CSV', '.csv', `episode_id,reward\n${IDS.map((id, k) => `${id},${k}`).join('\n')}\n`],
  ])('rewards from %s are paid to the episode that they name', async (_, ending, text) => {
    const log = write('.jsonl', IDS.map((id) => `{"episode_id":${id},"turns":[{"action":"a"}]}`).join('\n'));
    await ingest(store, [log], { rewards: write(ending, text) });
    expect(await rows('SELECT episode_id, reward FROM episodes ORDER BY episode')).toEqual(
      IDS.map((episode_id, reward) => ({ episode_id, reward })),
    );
  });

  test('scores name their episodes by such numbers', async () => {
    await ingest(store, [
      write('.jsonl', IDS.map((id) => `{"episode_id":${id},"turns":[{"action":"a"}]}`).join('\n')),
    ]);
    const scores = IDS.map((id, k) => `{"policy":"p","episode_id":${id},"turn":0,"logprob":-${k}.5}`).join(
      '\n',
    );
    const { rejects } = await ingest(store, [write('.jsonl', scores)]);
    expect(rejects).toBe(0);
    const found = await rows(
      'SELECT e.episode_id, s.logprob FROM scores s JOIN episodes e USING (episode) ORDER BY episode',
    );
    expect(found).toEqual(IDS.map((episode_id, k) => ({ episode_id, logprob: -(k + 0.5) })));
  });

  test('a call with another last digit is not the same call again', async () => {
    const call = (id: string) => `{"tool_calls":[{"name":"f","arguments":{"n":${id}}}]}`;
    const turns = [IDS[0]!, IDS[1]!, IDS[0]!].map(call).join(',');
    await ingest(store, [write('.jsonl', `{"episode_id":"a","turns":[${turns}]}`)]);
    const history = startHistory();
    const repeated: boolean[] = [];
    for (const { tool_calls } of await turnTexts(store, 0)) {
      takeUpTurn(history, null, tool_calls, 0);
      repeated.push(history.repeated);
    }
    expect(repeated).toEqual([false, false, true]);
  });

  test('a column of whole numbers that does not fit is refused by name', async () => {
    const { files } = await ingest(store, [
      write('.jsonl', `{"episode_id":"a","trial":${IDS[0]},"turns":[]}\n{"episode_id":"b","turns":[]}\n`),
    ]);
    expect(files[0]!.firstRejects[0]!.reason).toMatch(/^trial: /);
    expect(await column('episode_id')).toEqual(['b']);
  });
});
