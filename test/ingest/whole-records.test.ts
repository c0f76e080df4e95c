import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { ingestText } from '../../src/cli/ingest-text.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { MAX_DEPTH } from '../../src/json/depth.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-whole-'));
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
const lists = (n: number) => '['.repeat(n) + ']'.repeat(n);
const objects = (n: number) => `${'{"a":'.repeat(n)}0${'}'.repeat(n)}`;
/** Every turn with the name of the episode it is stored under. */
const actions = async () =>
  (
    await rows('SELECT episode_id, action FROM turns JOIN episodes USING (episode) ORDER BY episode, turn')
  ).map((r) => [r.episode_id, r.action]);

/** A record `id` with action `action` and a value of any form in a column of its own. */
const SHAPES: Readonly<Record<string, (id: string, action: string, value: string) => string>> = {
  'chat, a gold column': (id, action, value) =>
    `{"episode_id":"${id}","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"${action}"}],"reward":1,"answer":${value}}`,
  'chat, a column of its own': (id, action, value) =>
    `{"episode_id":"${id}","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"${action}"}],"reward":1,"trace":${value}}`,
  'canonical, meta': (id, action, value) =>
    `{"episode_id":"${id}","reward":1,"turns":[{"action":"${action}"}],"meta":{"x":${value}}}`,
  'canonical, arguments': (id, action, value) =>
    `{"episode_id":"${id}","reward":1,"turns":[{"action":"${action}","tool_calls":[{"name":"f","arguments":${value}}]}]}`,
  'canonical with tokens, meta': (id, action, value) =>
    `{"episode_id":"${id}","reward":1,"turns":[{"action":"${action}"}],"meta":{"x":${value}},"segments":[{"token_ids":[1],"action_mask":[1]}]}`,
};

describe('a record nested too deep is one reject, and the others keep their own turns', () => {
  for (const [shape, record] of Object.entries(SHAPES))
    test.each([
      ['lists', lists(6000)],
      ['objects', objects(6000)],
      ['lists as deep as a stack', lists(200_000)],
    ])(`${shape}: %s`, async (_, value) => {
      const log = ['null', value, 'null', 'null'].map((v, k) => record(`c${k}`, `a${k}`, v)).join('\n');
      const { files, rejects } = await ingest(store, [write('.jsonl', log)]);
      expect(rejects).toBe(1);
      expect(files[0]!.firstRejects[0]).toMatchObject({
        line: 2,
        reason: expect.stringContaining(`nested deeper than ${MAX_DEPTH} levels`),
      });
      expect(await actions()).toEqual([
        ['c0', 'a0'],
        ['c2', 'a2'],
        ['c3', 'a3'],
      ]);
    });

  test('tau-bench: an element of the array', async () => {
    const run = (task: string, goal: string) =>
      `{"task_id":"${task}","trial":0,"reward":1,"info":{"task":{"actions":${goal}}},"traj":[{"role":"user","content":"q"},{"role":"assistant","content":"a-${task}"}]}`;
    const log = `[${[run('0', '[]'), run('1', lists(6000)), run('2', '[]')].join(',')}]`;
    const { rejects } = await ingest(store, [write('.json', log)]);
    expect(rejects).toBe(1);
    expect((await rows('SELECT action FROM turns ORDER BY episode')).map((r) => r.action)).toEqual([
      'a-0',
      'a-2',
    ]);
  });

  test('a file large enough for a thread of its own has the same limit', async () => {
    const filler = 'x'.repeat(1 << 20);
    const record = SHAPES['canonical, arguments']!;
    const log = Array.from({ length: 20 }, (_, k) =>
      record(`c${k}`, `${k} ${filler}`, k === 7 ? lists(12_000) : k === 8 ? lists(MAX_DEPTH - 5) : '{}'),
    ).join('\n');
    const { rejects, files } = await ingest(store, [write('.jsonl', log)]);
    expect(rejects).toBe(1);
    expect(files[0]!.firstRejects[0]!.line).toBe(8);
    const found = await actions();
    expect(found.map(([id]) => id)).toEqual(
      Array.from({ length: 20 }, (_, k) => `c${k}`).filter((id) => id !== 'c7'),
    );
    for (const [id, action] of found) expect(`c${(action as string).split(' ')[0]}`).toBe(id);
  });

  test('arguments that a model wrote as text nested too deep stay text', async () => {
    const call = JSON.stringify({ name: 'f', arguments: lists(6000) });
    const log = `{"episode_id":"a","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":${call}}]}],"reward":1}`;
    await ingest(store, [write('.jsonl', log)]);
    const [row] = await rows(`SELECT json_type(tool_calls, '$[0].arguments') AS type FROM turns`);
    expect(row!.type).toBe('VARCHAR');
  });

  test.prop([fc.array(fc.integer({ min: 1, max: MAX_DEPTH + 40 }), { minLength: 1, maxLength: 12 })], {
    numRuns: 10,
  })('a line is stored exactly where its depth is within the limit, on every path', async (depths) => {
    const mine = await openStore(':memory:', { mode: 'create', threads: 1 });
    try {
      for (const [s, record] of Object.values(SHAPES).entries()) {
        const log = depths.map((d, k) => record(`s${s}-${k}`, `s${s}-${k}`, lists(d))).join('\n');
        await ingest(mine, [write('.jsonl', log)], { format: s < 2 ? 'chat' : 'canonical' });
        // The value lies inside the record, and inside meta; or inside turns, a turn, tool_calls and a call.
        const around = [1, 1, 2, 5, 2][s]!;
        const found = await queryRows(
          mine,
          `SELECT episode_id, action FROM turns JOIN episodes USING (episode) WHERE starts_with(episode_id, 's${s}-') ORDER BY episode`,
        );
        const expected = depths.flatMap((d, k) => (d + around <= MAX_DEPTH ? [`s${s}-${k}`] : []));
        expect(found.map((r) => r.episode_id)).toEqual(expected);
        expect(found.map((r) => r.action)).toEqual(expected);
      }
    } finally {
      mine.close();
    }
  });
});

describe('times that the columns do not hold', () => {
  const line = (id: string, time: string) =>
    `{"episode_id":"${id}","reward":1,"turns":[{"action":"a"}],"started_at":"${time}","ended_at":"2026-01-01T00:00:00Z"}`;
  test.each([
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
    '0000-01-01T00:00:00+14:00',
    '1684-01-01T00:00:00Z',
  ])('%s is left out with a count, and the file is read', async (time) => {
    const log = [
      line('a', '2026-01-01T00:00:00Z'),
      line('b', time),
      line('c', '2026-01-01T00:00:00.123456Z'),
    ].join('\n');
    const { warnings, rejects } = await ingest(store, [write('.jsonl', log)]);
    expect(rejects).toBe(0);
    expect(await rows('SELECT episode_id, started_at::VARCHAR AS t FROM episodes ORDER BY episode')).toEqual([
      { episode_id: 'a', t: '2026-01-01 00:00:00' },
      { episode_id: 'b', t: null },
      { episode_id: 'c', t: '2026-01-01 00:00:00.123456' },
    ]);
    expect(warnings).toContainEqual(
      expect.objectContaining({
        code: 'field-left-out',
        count: 1,
        message: expect.stringContaining('started_at'),
      }),
    );
  });
});

describe('hostile names', () => {
  test('"__proto__" is a key like any other in meta and arguments, in chat too', async () => {
    const canonical = `{"episode_id":"a","meta":{"__proto__":{"x":1},"b":2},"turns":[{"tool_calls":[{"name":"f","arguments":{"__proto__":3}}]}]}`;
    const chat = `{"episode_id":"b","__proto__":{"y":1},"metadata":{"__proto__":7},"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"x"}],"reward":1}`;
    await ingest(store, [write('.jsonl', canonical)]);
    await ingest(store, [write('.jsonl', chat)]);
    const [a, b] = await rows('SELECT meta FROM episodes ORDER BY episode');
    expect(a!.meta).toBe('{"__proto__":{"x":1},"b":2}');
    expect(b!.meta).toContain('"__proto__":');
    const [call] = await rows('SELECT tool_calls AS x FROM turns ORDER BY episode');
    expect(call!.x).toContain('"arguments":{"__proto__":3}');
  });

  test.each([
    ['a column of the record', '{"episode_id":"a","__proto__":1,"turns":[]}', /__proto__/],
    [
      'a part of a reward',
      '{"episode_id":"a","rewards":{"__proto__":{"score":1}},"turns":[]}',
      /^rewards: .*__proto__/,
    ],
    [
      'a column of a turn',
      '{"episode_id":"a","turns":[{"__proto__":{"reward":9}}]}',
      /^turns\[0\]: .*__proto__/,
    ],
  ])('"__proto__" as %s is refused by name', async (_, line, reason) => {
    const { files } = await ingest(store, [write('.jsonl', `${line}\n{"episode_id":"ok","turns":[]}\n`)], {
      format: 'canonical',
    });
    expect(files[0]!.firstRejects.map((r) => r.reason)).toEqual([expect.stringMatching(reason)]);
  });

  test.each([
    ['a line feed', 'x\\n0 rejects'],
    ['a line separator', 'x\\u2028y'],
    ['an escape of a terminal', 'x\\u001b[2Ky'],
    ['a carriage return', 'x\\ry'],
  ])('the reason of a reject is one line of text: %s in a name', async (_, name) => {
    const twice = `{"episode_id":"${name}","turns":[]}\n{"episode_id":"${name}","turns":[],"reward":1}\n{"episode_id":"z","${name}":1,"turns":[]}\n`;
    const result = await ingest(store, [write('.jsonl', twice)], { format: 'canonical' });
    expect(result.rejects).toBe(2);
    for (const { reason } of result.files[0]!.firstRejects)
      expect(reason).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    for (const { reason } of await rows('SELECT reason FROM rejects'))
      expect(reason).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(
      ingestText(result, true)
        .split('\n')
        .filter((l) => l.startsWith('  rejected')),
    ).toHaveLength(2);
  });

  test('a name of a megabyte does not make a reason of a megabyte', async () => {
    const name = 'n'.repeat(1 << 20);
    const { files } = await ingest(store, [write('.jsonl', `{"episode_id":"a","${name}":1,"turns":[]}\n`)], {
      format: 'canonical',
    });
    expect(files[0]!.firstRejects[0]!.reason.length).toBeLessThan(3000);
  });
});
