import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { fc, test } from '@fast-check/vitest';
import {
  Bool,
  type DataType,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  Struct,
  Table,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { IngestResult } from '../../src/schema/ingest-result.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { episodes } from './arbitrary-episode.ts';
import { line } from './built-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-ingest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create', threads: 1 });
});
afterEach(() => store.close());

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
const rows = (sql: string, from = store) => queryRows(from, sql);
const TWO =
  '{"episode_id":"one","ending":"terminated","turns":[{"action":"a"}]}\n{"episode_id":"two","ending":"limit","turns":[{"action":"b"},{"action":"c"}]}\n';
/** TWO through `zstd -19`. */
const TWO_ZST =
  'KLUv/SSSlQIAYoUQEaDtDh/bJqIaRXMLYGEK1ITBoJJ6FOpPZMarzQgqqTcX78YRmdMhDvvJ+PC00TSzt/Hiqjn1Pny7XTxx2dQguz0NBAAyBhGwooEb4uiCGYtJ2aM=';

/** Everything a store says of its episodes, for comparing two ways in. */
async function content(from = store): Promise<unknown> {
  const tables = [];
  for (const table of ['episodes', 'turns', 'segments'])
    tables.push(
      await rows(
        `SELECT * EXCLUDE (episode ${table === 'episodes' ? ', source' : ''}) FROM ${table} ORDER BY episode`,
        from,
      ),
    );
  return tables;
}

describe('a record is stored as it is written', () => {
  const full = {
    episode_id: 'full',
    task_id: 'task',
    trial: 3,
    policy: 'agent',
    version_start: '7',
    version_end: '8',
    ending: 'limit',
    reward: 0.5,
    rewards: { tests: { score: 1, weight: 0.5 }, style: { score: 0 } },
    started_at: '2024-05-01T10:00:00.123456Z',
    ended_at: '2024-05-01T12:00:01+02:00',
    cost: 0.25,
    meta: { note: 'text \ud83d\ude00', n: [1, null] },
    turns: [
      {
        turn: 2,
        segment: 0,
        observation: 'o',
        action: 'a\u0000b',
        tool_calls: [{ name: 'f', arguments: { x: 1 }, result: 'r', error: true }],
        reward: 0.1,
        process_reward: 0.2,
        behaviour_logprob: -1.5,
        behaviour_log_propensity: -0.5,
        n_action_tokens: 2,
        version: '7',
        sampling: { temperature: 0.7, top_p: 0.9, top_k: 40 },
        logprob_kind: 'processed',
        action_class: 'call',
        features: [1, 2.5],
      },
      { turn: 5 },
    ],
    segments: [
      {
        token_ids: [5, 6, 7],
        action_mask: [false, 1, true],
        behaviour_logprobs: [null, -0.25, -0.1],
        versions: [null, 7, 8],
        token_turn: [2, 2, 5],
      },
    ],
  };

  test('every column', async () => {
    await ingest(store, [write('full.jsonl', `${JSON.stringify(full)}\n`)]);
    const [episode] = await rows('SELECT * FROM episodes');
    expect(episode).toEqual({
      episode: 0,
      episode_id: 'full',
      source: 0,
      task_id: 'task',
      trial: 3,
      policy: 'agent',
      version_start: '7',
      version_end: '8',
      ending: 'limit',
      ending_assumed: false,
      reward: 0.5,
      rewards: '{"tests":{"score":1,"weight":0.5},"style":{"score":0,"weight":1}}',
      n_turns: 2,
      started_at: Date.UTC(2024, 4, 1, 10) * 1000 + 123456,
      ended_at: Date.UTC(2024, 4, 1, 10, 0, 1) * 1000,
      cost: 0.25,
      meta: '{"note":"text \ud83d\ude00","n":[1,null]}',
      fenced: null,
    });
    const [first, second] = await rows('SELECT * FROM turns ORDER BY turn');
    const { sampling, turn, tool_calls, ...same } = full.turns[0]!;
    expect(first).toEqual({
      episode: 0,
      turn: 2,
      ...same,
      ...sampling,
      tool_calls: JSON.stringify(tool_calls),
      tool_errors: 1,
    });
    expect(second).toMatchObject({
      turn: 5,
      action: null,
      features: null,
      tool_calls: '[]',
      temperature: null,
    });
    expect(await rows('SELECT * FROM segments')).toEqual([
      {
        episode: 0,
        segment: 0,
        token_ids: [5, 6, 7],
        action_mask: [false, true, true],
        behaviour_logprobs: [null, -0.25, Math.fround(-0.1)],
        versions: [null, 7, 8],
        token_turn: [2, 2, 5],
        piece: 0,
      },
    ]);
  });

  test.each<[string, object, string]>([
    ['a reward at the end', { reward: 0, turns: [{}] }, 'terminated'],
    ['a reward at a turn', { turns: [{}, { reward: 0 }] }, 'terminated'],
    ['no reward', { turns: [{}] }, 'unfinished'],
    ['its own ending', { reward: 1, ending: 'aborted', turns: [] }, 'aborted'],
  ])('the ending of an episode with %s', async (_, more, ending) => {
    const record = { episode_id: 'x', ...more };
    const { warnings } = await ingest(store, [write('ending.jsonl', `${JSON.stringify(record)}\n`)]);
    expect(await rows('SELECT ending FROM episodes')).toEqual([{ ending }]);
    const assumed = 'ending' in more ? [] : [expect.objectContaining({ code: 'ending-assumed', count: 1 })];
    expect(warnings).toEqual(assumed);
  });

  test.each<[object, number | null]>([
    [{ tool_calls: [{ error: true }, { error: false }] }, 1],
    [{ tool_calls: [{ error: true }, {}] }, null],
    [{ tool_calls: [{ error: true }], tool_errors: 4 }, 4],
    [{ tool_calls: [] }, 0],
  ])('tool errors of %j: %s', async (turn, expected) => {
    const named = {
      ...turn,
      tool_calls: (turn as { tool_calls: object[] }).tool_calls.map((c) => ({
        name: 'f',
        arguments: '',
        ...c,
      })),
    };
    await ingest(store, [write('tools.jsonl', line('x', { turns: [named] }))]);
    expect(await rows('SELECT tool_errors FROM turns')).toEqual([{ tool_errors: expected }]);
  });

  test('half a surrogate pair becomes U+FFFD, in text and in JSON, and is counted', async () => {
    const record =
      '{"episode_id":"x","ending":"limit","meta":{"t":"\\ud83d","u":"\\\\ud83d"},"turns":[{"action":"\\ude00"}]}\n';
    const { warnings } = await ingest(store, [write('half.jsonl', record)]);
    expect(warnings).toEqual([expect.objectContaining({ code: 'lone-surrogates', count: 2 })]);
    expect(
      await rows(
        "SELECT action, json_extract_string(meta, '$.t') AS t, json_extract_string(meta, '$.u') AS u FROM turns JOIN episodes USING (episode)",
      ),
    ).toEqual([{ action: '\ufffd', t: '\ufffd', u: '\\ud83d' }]);
  });
});

/** Canonical records as an Arrow table, with the types a data frame would have. */
function arrowTable(records: readonly Record<string, unknown>[]): Table {
  const nested = (type: DataType) => new List(new Field('item', type, true));
  const call = new Struct([
    new Field('name', new Utf8(), true),
    new Field('arguments', new Utf8(), true),
    new Field('error', new Bool(), true),
  ]);
  const sampling = new Struct([
    new Field('temperature', new Float64(), true),
    new Field('top_p', new Float64(), true),
    new Field('top_k', new Int64(), true),
  ]);
  const turn = new Struct([
    new Field('action', new Utf8(), true),
    new Field('tool_calls', nested(call), true),
    new Field('sampling', sampling, true),
  ] as Field[]);
  const segment = new Struct([
    new Field('token_ids', nested(new Int32()), true),
    new Field('action_mask', nested(new Bool()), true),
    new Field('behaviour_logprobs', nested(new Float32()), true),
  ]);
  const types: Record<string, DataType> = {
    episode_id: new Dictionary(new Utf8(), new Int32()),
    ending: new Utf8(),
    reward: new Float64(),
    started_at: new TimestampMicrosecond(),
    meta: new Struct([new Field('a', new Utf8(), true)]),
    turns: nested(turn),
    segments: nested(segment),
  };
  const value = (name: string, v: unknown): unknown => {
    if (name === 'started_at') return v === null ? null : Date.parse(v as string);
    // The builder takes 64-bit integers as such.
    if (name === 'turns')
      return (v as { sampling: { top_k: number } | null }[]).map((t) => ({
        ...t,
        sampling: t.sampling && { ...t.sampling, top_k: BigInt(t.sampling.top_k) },
      }));
    return v;
  };
  return new Table(
    Object.fromEntries(
      Object.entries(types).map(([name, type]) => [
        name,
        vectorFromArray(
          records.map((r) => value(name, r[name])),
          type,
        ),
      ]),
    ),
  );
}

describe('the same log, however it comes', () => {
  test('gzip, Zstandard, a stream, CRLF, a byte order mark', async () => {
    await ingest(store, [write('two.jsonl', TWO)]);
    const expected = await content();
    const ways: [string, string | Buffer][] = [
      ['two.jsonl.gz', gzipSync(TWO)],
      ['two.gzipped', Buffer.concat([gzipSync(TWO.slice(0, 40)), gzipSync(TWO.slice(40))])],
      ['two.jsonl.zst', Buffer.from(TWO_ZST, 'base64')],
      ['crlf.jsonl', TWO.replaceAll('\n', '\r\n\r\n')],
      ['mark.jsonl', `\uFEFF${TWO}`],
    ];
    for (const [name, bytes] of ways) {
      const other = await openStore(':memory:', { mode: 'create', threads: 1 });
      expect(await ingest(other, [write(name, bytes)])).toMatchObject({ episodes: 2, turns: 3, rejects: 0 });
      expect(await content(other)).toEqual(expected);
      const again = await ingest(other, ['-'], { stdin: Readable.from([TWO.slice(0, 50), TWO.slice(50)]) });
      const same = !/crlf|mark/.test(name);
      expect(again).toMatchObject({ episodes: 0, rejects: 0 });
      expect(again.files[0]).toMatchObject(
        same
          ? { status: 'known', knownAs: join(folder, name) }
          : { status: 'added', duplicates: 2, knownAs: null },
      );
      other.close();
    }
    const stdin = Readable.from([Buffer.from(TWO)]);
    const known = await ingest(store, ['-'], { stdin });
    expect(known.files[0]).toMatchObject({ path: '-', status: 'known', episodes: 0, rejects: 0 });
    expect(await content()).toEqual(expected);
  });

  test('Parquet and Arrow, one row an episode', async () => {
    const records = [
      {
        episode_id: 'one',
        ending: 'terminated',
        reward: 1,
        started_at: '2024-05-01T10:00:00.5Z',
        meta: { a: 'x' },
        turns: [
          {
            action: 'a',
            tool_calls: [{ name: 'f', arguments: 'x', error: true }],
            sampling: { temperature: 0.5, top_p: null, top_k: 4 },
          },
        ],
        segments: [{ token_ids: [1, 2], action_mask: [false, true], behaviour_logprobs: [null, -0.25] }],
      },
      {
        episode_id: 'two',
        ending: 'limit',
        reward: null,
        started_at: null,
        meta: { a: null },
        turns: [
          { action: null, tool_calls: [], sampling: null },
          { action: 'b', tool_calls: [], sampling: null },
        ],
        segments: [],
      },
    ];
    const path = write('rows.jsonl', records.map((r) => JSON.stringify(r)).join('\n'));
    await ingest(store, [path]);
    const expected = (await content()) as Record<string, unknown>[][];
    // A table cannot tell a key that is null from one that is not there.
    expect(expected[0]![1]).toMatchObject({ episode_id: 'two', meta: '{"a":null}' });
    expected[0]![1]!.meta = '{}';
    const turns =
      'STRUCT(action VARCHAR, tool_calls STRUCT("name" VARCHAR, arguments VARCHAR, error BOOLEAN)[], sampling STRUCT(temperature DOUBLE, top_p DOUBLE, top_k BIGINT))[]';
    const segments = 'STRUCT(token_ids INTEGER[], action_mask BOOLEAN[], behaviour_logprobs FLOAT[])[]';
    const read = `SELECT * FROM read_json('${path}', format = 'newline_delimited', columns = {episode_id: 'VARCHAR', ending: 'VARCHAR', reward: 'DOUBLE', started_at: 'TIMESTAMP', meta: 'STRUCT(a VARCHAR)', turns: '${turns}', segments: '${segments}'})`;
    const parquet = join(folder, 'rows.parquet');
    await store.connection.run(`COPY (${read}) TO '${parquet}' (FORMAT parquet)`);
    const other = await openStore(':memory:', { mode: 'create', threads: 1 });
    const result = await ingest(other, [parquet]);
    expect(result.files[0]).toMatchObject({
      format: 'parquet',
      status: 'added',
      episodes: 2,
      turns: 3,
      rejects: 0,
      firstRejects: [],
    });
    expect(await content(other)).toEqual(expected);
    expect((await ingest(other, [parquet])).files[0]).toMatchObject({ status: 'known' });
    other.close();

    for (const kind of ['file', 'stream'] as const) {
      const arrow = write(`rows-${kind}.arrow`, Buffer.from(tableToIPC(arrowTable(records), kind)));
      const third = await openStore(':memory:', { mode: 'create', threads: 1 });
      expect((await ingest(third, [arrow])).files[0]).toMatchObject({
        format: 'arrow',
        episodes: 2,
        firstRejects: [],
      });
      expect(await content(third)).toEqual(expected);
      third.close();
    }
  });
});

test('a file is known by its content: a copy, another run, another name add nothing and say so', async () => {
  const first = await ingest(store, [write('a.jsonl', TWO), write('copy.jsonl', TWO)]);
  expect(first.files.map((f) => [f.status, f.episodes, f.rejects])).toEqual([
    ['added', 2, 0],
    ['known', 0, 0],
  ]);
  const before = await content();
  const again = await ingest(store, [write('renamed.jsonl', TWO)]);
  expect(again.files[0]).toMatchObject({
    status: 'known',
    format: 'canonical',
    sha256: first.files[0]!.sha256,
  });
  expect(await content()).toEqual(before);
  expect(await rows('SELECT count(*)::INTEGER AS n FROM sources')).toEqual([{ n: 1 }]);
  expect(IngestResult.parse(first)).toEqual(first);
});

test('a file that gave nothing but rejects is read again, and forgotten as it was', async () => {
  const score = { policy: 'p', trained_on: 'none', episode_id: 'one', turn: 0, log_propensity: -1 };
  const early = write('early.jsonl', `${JSON.stringify(score)}\n`);
  expect((await ingest(store, [early])).files[0]).toMatchObject({ scores: 0, rejects: 1 });
  expect((await ingest(store, [early])).files[0]).toMatchObject({ status: 'added', scores: 0, rejects: 1 });
  expect(await rows('SELECT count(*)::INTEGER AS n FROM rejects')).toEqual([{ n: 1 }]);
  await ingest(store, [write('a.jsonl', TWO)]);
  expect((await ingest(store, [early])).files[0]).toMatchObject({ status: 'added', scores: 1, rejects: 0 });
  expect((await ingest(store, [early])).files[0]).toMatchObject({ status: 'known', scores: 0 });
  expect(await rows('SELECT count(*)::INTEGER AS n FROM rejects')).toEqual([{ n: 0 }]);
  expect(await rows('SELECT count(*)::INTEGER AS n FROM sources')).toEqual([{ n: 2 }]);
});

test('a log that has grown adds what is new; what it holds already is counted', async () => {
  await ingest(store, [write('grow.jsonl', TWO)]);
  const { files } = await ingest(store, [write('grow.jsonl', TWO + line('three') + line('three'))]);
  expect(files[0]).toMatchObject({ episodes: 1, duplicates: 3, conflicts: 0, rejects: 0 });
  expect(await rows('SELECT episode, episode_id, n_turns FROM episodes ORDER BY episode')).toEqual([
    { episode: 0, episode_id: 'one', n_turns: 1 },
    { episode: 1, episode_id: 'two', n_turns: 2 },
    { episode: 2, episode_id: 'three', n_turns: 1 },
  ]);
  expect(await rows('SELECT episode, turn FROM turns ORDER BY ALL')).toHaveLength(4);
});

test.prop(
  [
    fc.uniqueArray(episodes(), { selector: (e) => e.episode_id, maxLength: 6 }),
    fc.infiniteStream(fc.boolean()),
  ],
  { numRuns: 25 },
)('duplicates never disturb the rows around them', async (records, repeats) => {
  const clean = await openStore(':memory:', { mode: 'create', threads: 1 });
  const mixed = await openStore(':memory:', { mode: 'create', threads: 1 });
  const text = (list: readonly EpisodeInput[]) => list.map((r) => `${JSON.stringify(r)}\n`).join('');
  const doubled = records.flatMap((r, k) => (repeats.next().value ? [r, records[k >> 1]!] : [r]));
  await ingest(clean, [write('clean.jsonl', ` \n${text(records)}`)]);
  const { rejects, duplicates } = await ingest(mixed, [write('mixed.jsonl', ` \n\n${text(doubled)}`)]);
  expect([rejects, duplicates]).toEqual([0, doubled.length - records.length]);
  expect(await content(mixed)).toEqual(await content(clean));
  clean.close();
  mixed.close();
});

test('a large file, parsed in a thread of its own, gives the same rows as a small one', async () => {
  const text = Array.from({ length: 2100 }, (_, k) =>
    line(`e${k}`, {
      meta: { k },
      turns: [{ action: 'x'.repeat(8000), reward: k }],
      segments: [{ token_ids: [k], action_mask: [true] }],
    }),
  ).join('');
  const bad = `${text}{"bad"\n`;
  expect(bad.length).toBeGreaterThan(16 << 20);
  const large = await ingest(store, [write('large.jsonl', bad)]);
  expect(large).toMatchObject({ episodes: 2100, turns: 2100, rejects: 1 });
  expect(large.files[0]!.firstRejects[0]).toMatchObject({ line: 2101, byteOffset: text.length });
  const other = await openStore(':memory:', { mode: 'create', threads: 1 });
  await ingest(other, [write('large.jsonl.gz', gzipSync(bad, { level: 1 }))]);
  expect(await content(other)).toEqual(await content());
  other.close();
});

test('globs are sorted, a name that looks like one is taken as it is, a file named twice counts once', async () => {
  mkdirSync(join(folder, 'globs/deep'), { recursive: true });
  for (const name of ['globs/b.jsonl', 'globs/a.jsonl', 'globs/deep/c.jsonl', 'globs/[x].jsonl'])
    write(name, line(name));
  const pattern = join(folder, 'globs/**/?.jsonl');
  const { files } = await ingest(store, [
    join(folder, 'globs/[x].jsonl'),
    pattern,
    join(folder, 'globs/b.jsonl'),
  ]);
  expect(files.map((f) => f.path.slice(folder.length + 1))).toEqual([
    'globs/[x].jsonl',
    'globs/a.jsonl',
    'globs/b.jsonl',
    'globs/deep/c.jsonl',
  ]);
});

describe('scores', () => {
  const score = (more: object) =>
    `${JSON.stringify({ policy: 'p', trained_on: 'none', episode_id: 'e', ...more })}\n`;
  beforeEach(async () => {
    const segments = [{ token_ids: [1, 2], action_mask: [false, true] }];
    await ingest(store, [write('scored.jsonl', line('e', { turns: [{}, {}], segments }))]);
  });

  test('of turns, of classes and of segments', async () => {
    const trained = { sources: ['a'], tasks: [] };
    const text =
      score({ turn: 0, logprob: -1.5, logprob_kind: 'raw' }) +
      score({ turn: 1, log_propensity: -0.5, trained_on: trained }) +
      score({ segment: 0, logprobs: [null, -0.25] });
    const result = await ingest(store, [write('scores.jsonl', text)]);
    expect(result).toMatchObject({ scores: 3, episodes: 0, rejects: 0 });
    expect(result.files[0]).toMatchObject({ format: 'scores', status: 'added' });
    const none = {
      logprob: null,
      log_propensity: null,
      logprobs: null,
      logprob_kind: null,
      turn: null,
      segment: null,
    };
    const all = { policy: 'p', source: 1, episode: 0, piece: null };
    expect(await rows('SELECT * FROM scores')).toEqual([
      { ...none, ...all, trained_on: '"none"', turn: 0, logprob: -1.5, logprob_kind: 'raw' },
      { ...none, ...all, trained_on: JSON.stringify(trained), turn: 1, log_propensity: -0.5 },
      { ...none, ...all, trained_on: '"none"', segment: 0, piece: 0, logprobs: [null, -0.25] },
    ]);
    expect((await ingest(store, [join(folder, 'scores.jsonl')])).files[0]!.status).toBe('known');
  });

  test.each<[string, string, RegExp]>([
    [
      'an unknown episode',
      score({ episode_id: 'f', turn: 0, logprob: -1 }),
      /^episode_id: "f" is not in the store$/,
    ],
    ['an unknown turn', score({ turn: 2, logprob: -1 }), /^turn: episode "e" has no turn 2$/],
    ['an unknown segment', score({ segment: 1, logprobs: [0] }), /^segment: episode "e" has no segment 1$/],
    ['another length', score({ segment: 0, logprobs: [-1] }), /got 1, expected 2$/],
    ['neither turn nor segment', score({ logprob: -1 }), /one/],
    ['a turn without a score', score({ turn: 0 }), /logprob or log_propensity/],
    ['a segment scored as a turn', score({ segment: 0, logprob: -1 }), /logprobs/],
    ['infinity', score({ turn: 0, logprob: -1 }).replace('-1', '-1e999'), /^logprob: /],
    [
      'a second score of the same',
      score({ turn: 1, logprob: -1 }),
      /^policy: "p" has already scored turn 1 of episode "e"$/,
    ],
  ])('%s is rejected', async (_, bad, reason) => {
    const good = score({ turn: 1, logprob: -2 });
    const { files } = await ingest(store, [write('bad-scores.jsonl', good + bad)], { format: 'scores' });
    expect(files[0]).toMatchObject({ scores: 1, rejects: 1 });
    expect(files[0]!.firstRejects[0]).toMatchObject({
      line: 2,
      byteOffset: good.length,
      reason: expect.stringMatching(reason),
    });
    expect(await rows('SELECT turn, logprob FROM scores')).toEqual([{ turn: 1, logprob: -2 }]);
  });
});

describe('--format auto', () => {
  const turnsOf = (path: string, format: string) => async () => {
    const { files } = await ingest(store, [path]);
    expect(files[0]).toMatchObject({ format, status: 'added', episodes: 1, rejects: 0 });
  };
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'yes' },
  ];
  test('canonical, the first line broken', async () => {
    const { files } = await ingest(store, [write('late.jsonl', `{"x\n${line('fine')}`)]);
    expect(files[0]).toMatchObject({ format: 'canonical', episodes: 1, rejects: 1 });
  });
  test('chat', turnsOf(write('chat.jsonl', `${JSON.stringify({ messages, reward: 1 })}\n`), 'chat'));
  test(
    'chat as a JSON array',
    turnsOf(write('chat.json', `\uFEFF\n ${JSON.stringify([{ messages, reward: 1 }], null, 2)}`), 'chat'),
  );
  test(
    'tau-bench, pretty-printed',
    turnsOf(
      write(
        'tau.json',
        JSON.stringify([{ task_id: 1, reward: 1, info: {}, traj: messages, trial: 0 }], null, 2),
      ),
      'tau-bench',
    ),
  );
  const atif = {
    schema_version: 'ATIF-v1.6',
    session_id: 's',
    agent: { name: 'a', version: '1' },
    steps: [
      { step_id: 1, source: 'user', message: 'hi' },
      { step_id: 2, source: 'agent', message: 'yes' },
    ],
  };
  test('ATIF, on one line', turnsOf(write('atif.json', JSON.stringify(atif)), 'atif'));
  test(
    'ATIF, pretty-printed',
    turnsOf(write('atif-pretty.json', JSON.stringify({ ...atif, session_id: 't' }, null, 2)), 'atif'),
  );
});

test('an array cut short keeps the elements before the cut, and says where it ends', async () => {
  const run = (trial: number) => ({
    task_id: 1,
    reward: 1,
    info: {},
    traj: [{ role: 'assistant', content: 'yes' }],
    trial,
  });
  const text = JSON.stringify([run(0), run(1)]);
  const path = write('cut.json', text.slice(0, -20));
  const { files } = await ingest(store, [path]);
  expect(files[0]).toMatchObject({ format: 'tau-bench', episodes: 1, rejects: 1 });
  expect(files[0]!.firstRejects[0]!.reason).toMatch(/^not a JSON array: the file ends/);
  expect((await ingest(store, [path], { strict: true })).files[0]).toMatchObject({ status: 'known' });
});
