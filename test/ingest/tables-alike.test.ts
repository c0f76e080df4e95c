import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  Bool,
  DataType,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  makeVector,
  Struct,
  Table,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';

/** A table and its JSON Lines give the same store: 1,000 random episodes, by every writer that is there. */
const EPISODES = 1000;
const BENCH = resolve(import.meta.dirname, '../../bench/tables.py');

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom('', 'ünï 👍', 'a"b\\c\n\u0000', 'x'.repeat(200)),
);
const whole = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const real = fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => (x === 0 ? 0 : x));
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true }).map((x) => (x === 0 ? 0 : x));
/** Beyond 2^53 mostly. */
const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const some = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }, requiredKeys: (keyof T)[] = []) =>
  fc.record(model, { requiredKeys, noNullPrototype: true });
const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: null });
const time = fc
  .tuple(fc.integer({ min: -2_000_000_000, max: 4_000_000_000 }), fc.integer({ min: 0, max: 999_999 }))
  .map(
    ([seconds, micros]) =>
      `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`,
  );

const call = some(
  {
    name: text,
    arguments: maybe(
      some({ id: big, q: text, deep: some({ k: fc.array(whole, { maxLength: 3 }), t: text }) }),
    ),
    result: maybe(text),
    error: maybe(fc.boolean()),
  },
  ['name', 'arguments'],
);
const turn = some({
  observation: maybe(text),
  action: maybe(text),
  tool_calls: fc.array(call, { maxLength: 2 }),
  reward: maybe(real),
  features: maybe(fc.array(real, { maxLength: 3 })),
  sampling: maybe(
    some({
      temperature: fc.double({ min: 0, max: 2, noNaN: true }).map((x) => x + 0),
      top_p: maybe(fc.constantFrom(0.5, 1)),
      top_k: maybe(whole),
    }),
  ),
});
const segment = fc.nat({ max: 5 }).chain((n) => {
  const list = <T>(arb: fc.Arbitrary<T>) => fc.array(arb, { minLength: n, maxLength: n });
  return some(
    {
      token_ids: list(whole),
      action_mask: list(fc.boolean()),
      behaviour_logprobs: maybe(list(maybe(float32))),
    },
    ['token_ids', 'action_mask'],
  );
});
const part = some({ score: real, weight: fc.constantFrom(0, 1, 0.5) }, ['score']);
const episode = some(
  {
    episode_id: text,
    task_id: maybe(text),
    trial: maybe(fc.nat({ max: 99 })),
    policy: maybe(text),
    ending: fc.constantFrom('terminated', 'limit', 'truncated', 'aborted', 'unfinished'),
    reward: maybe(real),
    rewards: maybe(some({ acc: part, fmt: part })),
    started_at: maybe(time),
    cost: maybe(real),
    meta: maybe(
      some({
        s: text,
        n: whole,
        big,
        b: fc.boolean(),
        f: real,
        l: fc.array(maybe(whole), { maxLength: 3 }),
        o: some({ x: text, y: whole }),
      }),
    ),
    turns: fc.array(turn, { maxLength: 3 }),
    segments: fc.array(segment, { maxLength: 2 }),
  },
  ['episode_id', 'turns'],
);
type Record_ = Record<string, unknown>;
const records: Record_[] = fc
  .sample(episode, { numRuns: EPISODES, seed: 13 })
  .map((e, i) => ({ ...e, episode_id: `${i} ${e.episode_id}` }));

/** JSON with 64-bit integers to the digit. */
const json = (value: unknown) =>
  JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `#${v}#` : v)).replace(/"#(-?\d+)#"/g, '$1');

let folder: string;
let expected: Awaited<ReturnType<typeof content>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-tables-'));
  writeFileSync(join(folder, 'log.jsonl'), records.map((r) => `${json(r)}\n`).join(''));
  expected = await content('log.jsonl');
  expect(expected.episodes).toHaveLength(EPISODES);
  expect(expected.turns.length).toBeGreaterThan(1000);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a file gives: every row of every table. */
async function content(name: string) {
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    const { files } = await ingest(store, [join(folder, name)]);
    expect(files[0]).toMatchObject({ status: 'added', episodes: EPISODES, rejects: 0, firstRejects: [] });
    const rows = (table: string, order: string) =>
      queryRows(
        store,
        `SELECT * EXCLUDE (${table === 'episodes' ? 'source' : 'episode'}) FROM ${table} ORDER BY ${order}`,
      );
    return {
      episodes: await rows('episodes', 'episode'),
      turns: await rows('turns', 'episode, turn'),
      segments: await rows('segments', 'episode, segment'),
    };
  } finally {
    store.close();
  }
}

/** JSON with its keys in order and every number as it is written; of a text that is none, the text. */
function ordered(text: unknown): unknown {
  if (typeof text !== 'string' || !/^[[{]/.test(text)) return text;
  const exact = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (t) => (t.startsWith('"') ? t : `"#${t}"`));
  return JSON.parse(exact, (_, v) =>
    v === null || typeof v !== 'object' || Array.isArray(v)
      ? v
      : Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

/** 0 differences, row by row; of the first that differ, a few are shown. */
async function expectAlike(name: string): Promise<void> {
  const found = await content(name);
  // A library that infers the columns has the keys of a struct in the order in which it first saw them.
  const shown = /inferred|reset/.test(name) ? (v: unknown) => JSON.stringify(ordered(v)) : JSON.stringify;
  for (const table of ['episodes', 'turns', 'segments'] as const) {
    expect(found[table]).toHaveLength(expected[table].length);
    const differ = expected[table].flatMap((row, i) => {
      const other = found[table][i]!;
      const keys = Object.keys(row).filter((key) => shown(row[key]) !== shown(other[key]));
      return keys.map((key) => [name, table, i, key, row[key], other[key]]);
    });
    expect(differ.slice(0, 5)).toEqual([]);
  }
}

const TYPES = (() => {
  const deep = 'STRUCT(k INTEGER[], t VARCHAR)';
  const call = `STRUCT("name" VARCHAR, arguments STRUCT(id BIGINT, q VARCHAR, deep ${deep}), result VARCHAR, error BOOLEAN)`;
  const part = 'STRUCT(score DOUBLE, weight DOUBLE)';
  return {
    episode_id: 'VARCHAR',
    task_id: 'VARCHAR',
    trial: 'INTEGER',
    policy: 'VARCHAR',
    ending: 'VARCHAR',
    reward: 'DOUBLE',
    rewards: `STRUCT(acc ${part}, fmt ${part})`,
    started_at: 'TIMESTAMPTZ',
    cost: 'DOUBLE',
    meta: 'STRUCT(s VARCHAR, n INTEGER, big BIGINT, b BOOLEAN, f DOUBLE, l INTEGER[], o STRUCT(x VARCHAR, y INTEGER))',
    turns: `STRUCT(observation VARCHAR, "action" VARCHAR, tool_calls ${call}[], reward DOUBLE, features DOUBLE[], sampling STRUCT(temperature DOUBLE, top_p DOUBLE, top_k INTEGER))[]`,
    segments: 'STRUCT(token_ids INTEGER[], action_mask BOOLEAN[], behaviour_logprobs FLOAT[])[]',
  };
})();

describe('DuckDB writes Parquet', () => {
  const copy = async (name: string, select: string, types: Record<string, string> = TYPES) => {
    const store = await openStore(':memory:', { mode: 'create' });
    await store.connection.run("SET TimeZone = 'UTC'");
    const columns = Object.entries(types).map(([key, type]) => `${key}: '${type}'`);
    const read = `read_json('${join(folder, 'log.jsonl')}', format = 'newline_delimited', columns = {${columns.join(', ')}})`;
    await store.connection.run(`COPY (${select} FROM ${read}) TO '${join(folder, name)}' (FORMAT parquet)`);
    store.close();
  };
  test.each([
    ['as the columns are', 'SELECT *', TYPES],
    ['times without a zone', 'SELECT * REPLACE (started_at::TIMESTAMP AS started_at)', TYPES],
    ['times in nanoseconds', 'SELECT * REPLACE (started_at::TIMESTAMP::TIMESTAMP_NS AS started_at)', TYPES],
    ['meta as JSON text', 'SELECT *', { ...TYPES, meta: 'JSON', rewards: 'JSON' }],
    [
      'meta and turns as plain text',
      'SELECT *',
      { ...TYPES, meta: 'VARCHAR', turns: 'VARCHAR', rewards: 'VARCHAR' },
    ],
    [
      'text as bytes',
      "SELECT * REPLACE (episode_id::BLOB AS episode_id, encode(policy) AS policy), 'never' AS ignored",
      TYPES,
    ],
    [
      'an enumeration',
      "SELECT * REPLACE (ending::ENUM ('terminated', 'limit', 'truncated', 'aborted', 'unfinished') AS ending)",
      TYPES,
    ],
    [
      'rewards as a map',
      "SELECT * REPLACE (CASE WHEN rewards IS NULL THEN NULL ELSE MAP {'acc': rewards.acc, 'fmt': rewards.fmt} END AS rewards)",
      TYPES,
    ],
    ['numbers as decimals', 'SELECT * REPLACE (trial::DECIMAL(9,3) AS trial)', TYPES],
    ['row numbers', 'SELECT row_number() OVER () AS "index", *', TYPES],
  ])('%s', async (what, select, types) => {
    const name = `duckdb-${what}.parquet`;
    await copy(
      name,
      select.replace(", 'never' AS ignored", '').replace('episode_id::BLOB', 'encode(episode_id)'),
      types,
    );
    await expectAlike(name);
  });
});

/** The fields of an Arrow table, as apache-arrow's builders want them. */
function arrowTable(): Table {
  const field = (name: string, type: ConstructorParameters<typeof Field>[1]) => new Field(name, type, true);
  const list = (type: ConstructorParameters<typeof Field>[1]) => new List(field('item', type));
  const struct = (types: Record<string, ConstructorParameters<typeof Field>[1]>) =>
    new Struct(Object.entries(types).map(([name, type]) => field(name, type)) as Field[]);
  const deep = struct({ k: list(new Int32()), t: new Utf8() });
  const call = struct({
    name: new Utf8(),
    arguments: struct({ id: new Int64(), q: new Utf8(), deep }),
    result: new Utf8(),
    error: new Bool(),
  });
  const sampling = struct({ temperature: new Float64(), top_p: new Float64(), top_k: new Int32() });
  const part = struct({ score: new Float64(), weight: new Float64() });
  const types = {
    episode_id: new Utf8(),
    task_id: new Utf8(),
    trial: new Int32(),
    policy: new Utf8(),
    ending: new Utf8(),
    reward: new Float64(),
    rewards: struct({ acc: part, fmt: part }),
    cost: new Float64(),
    meta: struct({
      s: new Utf8(),
      n: new Int32(),
      big: new Int64(),
      b: new Bool(),
      f: new Float64(),
      l: list(new Int32()),
      o: struct({ x: new Utf8(), y: new Int32() }),
    }),
    turns: list(
      struct({
        observation: new Utf8(),
        action: new Utf8(),
        tool_calls: list(call),
        reward: new Float64(),
        features: list(new Float64()),
        sampling,
      }),
    ),
    segments: list(
      struct({
        token_ids: list(new Int32()),
        action_mask: list(new Bool()),
        behaviour_logprobs: list(new Float32()),
      }),
    ),
  };
  const columns: Record<string, Vector> = {};
  for (const [name, type] of Object.entries(types))
    columns[name] = vectorFromArray(
      records.map((r) => filled(r[name], type)),
      type as never,
    ) as Vector;
  columns.started_at = microseconds(records.map((r) => r.started_at as string | null | undefined));
  return new Table(columns);
}

/** With null for every key that is not there: the builder of structs asks for it. */
function filled(value: unknown, type: DataType): unknown {
  if (value === null || value === undefined) return null;
  if (DataType.isList(type))
    return (value as unknown[]).map((v) => filled(v, type.children[0]!.type as DataType));
  if (!DataType.isStruct(type)) return value;
  const fields = type.children as Field[];
  return Object.fromEntries(
    fields.map((f) => [f.name, filled((value as Record_)[f.name], f.type as DataType)]),
  );
}

/** The builder counts in milliseconds; these have digits behind. */
function microseconds(times: readonly (string | null | undefined)[]): Vector {
  const data = BigInt64Array.from(times, (t) =>
    t ? BigInt(Date.parse(`${t.slice(0, 19)}Z`)) * 1000n + BigInt(t.slice(20, 26)) : 0n,
  );
  const nullBitmap = new Uint8Array(Math.ceil(times.length / 8));
  for (const [i, t] of times.entries()) if (t) nullBitmap[i >> 3]! |= 1 << (i & 7);
  return makeVector(makeData({ type: new TimestampMicrosecond(), data, nullBitmap, length: times.length }));
}

describe('apache-arrow writes', () => {
  test.each(['file', 'stream'] as const)('a %s', async (kind) => {
    writeFileSync(join(folder, `js-${kind}.arrow`), tableToIPC(arrowTable(), kind));
    await expectAlike(`js-${kind}.arrow`);
  });
});

const PYTHONS = [resolve(import.meta.dirname, '../../.cache/tables-venv/bin/python'), 'python3'];
const python = PYTHONS.find((p) => spawnSync(p, ['-c', 'import pyarrow, pandas, polars']).status === 0);
const why = existsSync(BENCH)
  ? 'no Python with pyarrow, pandas and polars: .ci/tables'
  : 'no bench/tables.py';
describe.skipIf(python === undefined)(
  `pyarrow, pandas and polars write${python === undefined ? ` (skipped: ${why})` : ''}`,
  () => {
    test('what they can, and every file gives the same store', async () => {
      const out = join(folder, 'python');
      mkdirSync(out);
      const done = spawnSync(python!, [BENCH, join(folder, 'log.jsonl'), out], {
        encoding: 'utf8',
        maxBuffer: 1 << 24,
      });
      expect(done.stderr).toBe('');
      const { written, failed } = JSON.parse(done.stdout) as {
        written: string[];
        failed: Record<string, string>;
      };
      expect(failed).toEqual({});
      for (const name of written) await expectAlike(join('python', name));
      expect(written.length).toBeGreaterThan(60);
    });
  },
);
