import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { queryRows } from '../../src/store/query.ts';
import { exportScoring } from '../../src/store/scoring.ts';
import { openStore } from '../../src/store/store.ts';
import { fill } from '../helpers/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-scoring-'));
const path = join(folder, 'runs.duckdb');
const out = join(folder, 'scoring.jsonl');

const EPISODES: EpisodeInput[] = [
  {
    episode_id: 'b',
    task_id: 't1',
    policy: 'old',
    reward: 1,
    turns: [
      { observation: 'refund please', action: 'let me see', action_class: 'look-up' },
      {
        observation: 'paid',
        action: null,
        tool_calls: [
          { name: 'refund', arguments: { id: 1 } },
          { name: 'note', arguments: 'plain text' },
          { name: 'end', arguments: null },
        ],
      },
      { observation: null, action: 'done "now"' },
    ],
  },
  {
    episode_id: 'a',
    reward: 0,
    turns: [{ action: 'hello there', segment: 0 }],
    segments: [
      {
        token_ids: Array.from({ length: 1500 }, (_, k) => k),
        action_mask: Array.from({ length: 1500 }, (_, k) => k > 3),
        token_turn: Array.from({ length: 1500 }, () => 0),
      },
    ],
  },
  { episode_id: 'empty', reward: 0, turns: [] },
];

let lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  const store = await openStore(path, { mode: 'create' });
  await fill(store, EPISODES);
  expect(await exportScoring(store, out)).toEqual({ rows: 3 });
  store.close();
  lines = readFileSync(out, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('each episode is a line: messages, where the actions are among them, and tokens where there are some', () => {
  const call = (k: number, name: string, given: string | null) => ({
    id: `call_1_${k}`,
    type: 'function',
    function: { name, arguments: given },
  });
  expect(lines[0]).toEqual({
    episode_id: 'b',
    task_id: 't1',
    policy: 'old',
    messages: [
      { role: 'user', content: 'refund please' },
      { role: 'assistant', content: 'let me see' },
      { role: 'user', content: 'paid' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [call(1, 'refund', '{"id":1}'), call(2, 'note', 'plain text'), call(3, 'end', '{}')],
      },
      { role: 'assistant', content: 'done "now"' },
    ],
    turns: [
      { turn: 0, message: 1, action_class: 'look-up' },
      { turn: 1, message: 3, action_class: null },
      { turn: 2, message: 4, action_class: null },
    ],
    segments: [],
  });
  expect(lines[1]).toEqual({
    episode_id: 'a',
    task_id: null,
    policy: null,
    messages: [{ role: 'assistant', content: 'hello there' }],
    turns: [{ turn: 0, message: 0, action_class: null }],
    segments: [
      { segment: 0, ...EPISODES[1]!.segments![0], versions: undefined, behaviour_logprobs: undefined },
    ],
  });
  expect(lines[2]).toEqual({
    episode_id: 'empty',
    task_id: null,
    policy: null,
    messages: [],
    turns: [],
    segments: [],
  });
});

test('an export is not written over without being asked to', async () => {
  const store = await openStore(path);
  await expect(exportScoring(store, out, { replace: false })).rejects.toThrow('is there already');
  store.close();
});

/** A server whose tokens are words and whose log-probability of a word is minus its length. */
function wordServer(): Promise<Server> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (data) => (text += data));
    request.on('end', () => {
      const { messages, add_generation_prompt, prompt_logprobs } = JSON.parse(text) as {
        messages: { role: string; content: string; tool_calls?: unknown }[];
        add_generation_prompt?: boolean;
        prompt_logprobs?: number;
      };
      const words = messages.flatMap((m) => [
        `<${m.role}>`,
        ...`${m.content} ${m.tool_calls ? JSON.stringify(m.tool_calls) : ''}`
          .trim()
          .split(/\s+/)
          .filter(Boolean),
      ]);
      if (add_generation_prompt !== false) words.push('<assistant>');
      const logprobs = words.map((word, k) =>
        k === 0 ? null : { [k]: { logprob: -word.length, rank: 1, decoded_token: word } },
      );
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          usage: { prompt_tokens: words.length },
          ...(prompt_logprobs === 0 ? { prompt_logprobs: logprobs } : {}),
        }),
      );
    });
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

test('the example scores every action, given its context, through a server of the OpenAI kind', async () => {
  const server = await wordServer();
  const { port } = server.address() as AddressInfo;
  const script = resolve(import.meta.dirname, '../../examples/score.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    out,
    `http://127.0.0.1:${port}/v1`,
    'candidate',
  ]);
  server.close();
  const scores = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const calls = JSON.stringify((lines[0]!.messages as { tool_calls?: unknown }[])[3]!.tool_calls).split(' ');
  expect(scores.map(({ episode_id, turn, logprob }) => [episode_id, turn, logprob])).toEqual([
    ['b', 0, -'letmesee'.length],
    ['b', 1, -calls.join('').length],
    ['b', 2, -'done"now"'.length],
    ['a', 0, -'hellothere'.length],
  ]);
  // What it writes is what a store takes.
  writeFileSync(join(folder, 'scores.jsonl'), stdout);
  const store = await openStore(path, { mode: 'write' });
  await ingest(store, [join(folder, 'scores.jsonl')]);
  expect(await queryRows(store, 'SELECT count(*)::INTEGER AS n, sum(logprob) AS s FROM scores')).toEqual([
    { n: 4, s: -scores.reduce((sum, { logprob }) => sum - logprob, 0) },
  ]);
  store.close();
});
