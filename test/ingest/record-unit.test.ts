import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { detectFormat, HEAD_BYTES } from '../../src/ingest/detect.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { layout } from '../../src/ingest/record-unit.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';

const talk = [
  { role: 'user', content: 'u' },
  { role: 'assistant', content: 'a' },
];
const pretty = (value: unknown) => JSON.stringify(value, null, 2);
const lines = (...values: unknown[]) => values.map((v) => `${JSON.stringify(v)}\n`).join('');
const half = `{"messages": [${JSON.stringify(talk[0])},\n  ${JSON.stringify(talk[1])}\n], "reward": 1}\n`;

test.each([
  ['lines of objects', lines({ messages: talk }, { messages: talk }), 'line'],
  ['one object on a line', JSON.stringify({ messages: talk }), 'line'],
  ['one object, pretty', pretty({ messages: talk }), 'document'],
  ['one object, a message a line', half, 'document'],
  ['a broken first line', `{"messages": [\n${lines({ messages: talk })}`, 'line'],
  ['a list of messages on a line', JSON.stringify(talk), 'line'],
  ['lines of lists of messages', lines(talk, talk), 'line'],
  ['a list of messages, pretty', pretty(talk), 'document'],
  ['a list of lists', JSON.stringify([talk, talk]), 'element'],
  ['a list of lists, pretty', pretty([talk, talk]), 'element'],
  ['a list of objects', pretty([{ messages: talk }]), 'element'],
  ['a list of runs', JSON.stringify([{ task_id: 0, traj: talk }]), 'element'],
  ['nothing', '\n', 'line'],
])('%s', (_what, text, unit) => expect(layout(text, false)).toBe(unit));

const base = mkdtempSync(join(tmpdir(), 'turnwise-unit-'));
afterAll(() => rmSync(base, { recursive: true }));

/** The conversations of a text, as rows of the store. */
async function stored(text: string, name = 'log.json') {
  const folder = mkdtempSync(join(base, 'log-'));
  writeFileSync(join(folder, name), text);
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    const { files, warnings } = await ingest(store, [join(folder, name)]);
    const rows = await queryRows(
      store,
      'SELECT episode_id, episodes.reward AS reward, turn, action FROM episodes JOIN turns USING (episode) ORDER BY episode, turn',
    );
    return { file: files[0]!, warnings, rows };
  } finally {
    store.close();
  }
}

test.each([
  ['pretty', pretty({ messages: talk, reward: 1 }), 1],
  ['a message a line', half, 1],
  ['bare, pretty', pretty(talk), 1],
  ['bare, by line', lines(talk, talk, talk), 3],
  ['bare, in a list', pretty([talk, talk]), 2],
])('a chat that lies %s is read', async (_what, text, n) => {
  const { file, rows } = await stored(text);
  expect(file).toMatchObject({ format: 'chat', episodes: n, turns: n, rejects: 0 });
  expect(rows.map((r) => r.action)).toEqual(Array(n).fill('a'));
});

describe('canonical records', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
  const example = /```json\n(\{"episode_id": "run-17", "task_id"[\s\S]*?)```/.exec(readme)![1]!;

  test.each([
    ['as the README has it', example, 2],
    ['pretty', pretty(JSON.parse(example)), 2],
    ['in an array', pretty([JSON.parse(example)]), 2],
    ['on a line', JSON.stringify(JSON.parse(example)), 2],
  ])('%s', async (_what, text, turns) => {
    const { file, rows } = await stored(text);
    expect(file).toMatchObject({ format: 'canonical', episodes: 1, turns, rejects: 0 });
    expect(rows[0]).toMatchObject({ episode_id: 'run-17', reward: 1, turn: 0 });
  });

  test('what is wrong in one of an array is rejected with its place, and the others are kept', async () => {
    const record = JSON.parse(example);
    const text = pretty([record, { episode_id: 'b', turns: 3 }, { ...record, episode_id: 'c' }]);
    const { file } = await stored(text);
    expect(file).toMatchObject({ episodes: 2, rejects: 1 });
    expect(file.firstRejects[0]!.reason).toMatch(/turns/);
  });
});

const found = join(resolve(import.meta.dirname, '../../../shared'), 'found/19-chat-documents');
test.skipIf(!existsSync(found))('conversations of public logs (skipped: ../shared is not here)', async () => {
  for (const [name, n] of [
    ['single-pretty.json', 1],
    ['lines-of-lists.jsonl', 2],
    ['list-of-lists.json', 2],
  ] as const) {
    const text = readFileSync(join(found, name), 'utf8');
    expect(detectFormat(name, Buffer.from(text))).toBe('chat');
    expect((await stored(text, name)).file).toMatchObject({ format: 'chat', episodes: n, rejects: 0 });
  }
});

test('a first line longer than the bytes looked at first is recognised by what it holds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-long-line-'));
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    const messages = [
      { role: 'user', content: 'x'.repeat(HEAD_BYTES + 1) },
      { role: 'assistant', content: 'done' },
    ];
    const path = join(folder, 'long.jsonl');
    writeFileSync(path, `${JSON.stringify({ id: 'a', messages })}\n`);
    const { files } = await ingest(store, [path]);
    expect(files[0]).toMatchObject({ format: 'chat', episodes: 1, rejects: 0 });
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
