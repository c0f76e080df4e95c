/*
 * Records changed at random, over all formats that are read record by record: every one is stored or rejected with a
 * reason, the counts add up, the store opens and `check` runs on it. `--records N` changes how many, `--seed S` which.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ingest } from '../src/ingest/ingest.ts';
import type { FormatName } from '../src/ingest/log-format.ts';
import { check } from '../src/inspect/check.ts';
import { describe } from '../src/inspect/describe.ts';
import { queryRows } from '../src/store/query.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { mutated, type Random, random } from './damage/mutate.ts';
import { machine, type Study } from './result.ts';

export interface MutationRow {
  readonly format: string;
  readonly records: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** Records that are in none of those counts, or in two; rejects without a reason; rows without their episode. */
  readonly faults: number;
  readonly seconds: number;
}

/** Records of a file, and files of one record, that are read at once. */
const BATCH = 2000;
const FILES = 100;

/** A format, its records, and how many stand in one file. */
interface Source {
  readonly name: string;
  readonly format: FormatName;
  readonly records: readonly unknown[];
  /** 'lines': changed in their bytes too; 'array': changed in their structure only, or one would spoil all. */
  readonly as: 'lines' | 'array' | 'file';
  readonly share: number;
}

const fixture = (name: string) =>
  readFileSync(new URL(`../test/fixtures/ingest/${name}`, import.meta.url), 'utf8');
const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));

const SOURCES: readonly Source[] = [
  { name: 'canonical', format: 'canonical', records: canonical(), as: 'lines', share: 0.4 },
  {
    name: 'chat, OpenAI',
    format: 'chat',
    records: jsonLines(fixture('chat-openai.jsonl')),
    as: 'lines',
    share: 0.2,
  },
  {
    name: 'chat, Anthropic',
    format: 'chat',
    records: jsonLines(fixture('chat-anthropic.jsonl')),
    as: 'lines',
    share: 0.2,
  },
  {
    name: 'tau-bench',
    format: 'tau-bench',
    records: JSON.parse(fixture('tau-bench.json')),
    as: 'array',
    share: 0.19,
  },
  {
    name: 'ATIF',
    format: 'atif',
    records: [alone(fixture('atif/trajectory.json'))],
    as: 'file',
    share: 0.01,
  },
];

/** Without the files that it refers to, which do not lie beside it here. */
function alone(text: string): unknown {
  return JSON.parse(text, (key, value) => (/_ref$/.test(key) ? undefined : value));
}

function canonical(): unknown[] {
  const turns = [
    {
      observation: 'look',
      action: 'search',
      reward: 0.5,
      tool_calls: [{ name: 'find', arguments: { q: 'x', n: 3 }, result: 'ok', error: false }],
      action_class: 'search',
      behaviour_log_propensity: -0.7,
      features: [1, 2.5],
    },
    { action: 'answer', process_reward: -1, behaviour_logprob: -3.25, n_action_tokens: 2 },
  ];
  const segments = [
    {
      token_ids: [1, 2, 3, 4],
      action_mask: [false, false, true, true],
      behaviour_logprobs: [null, null, -0.5, -1],
    },
  ];
  return [
    {
      episode_id: 'a',
      task_id: 't',
      trial: 1,
      policy: 'p',
      ending: 'terminated',
      reward: 1,
      turns,
      segments,
    },
    {
      episode_id: 'b',
      ending: 'limit',
      rewards: { exact: { score: 1, weight: 0.5 } },
      meta: { k: [1, { d: null }] },
      turns,
    },
    { episode_id: 'c', turns: [{ action: 'é😀\u2028' }], started_at: '2024-01-01T00:00:00Z' },
  ];
}

export async function bench(flags: readonly string[]): Promise<Study> {
  const given = (name: string, other: number) => {
    const at = flags.indexOf(name);
    return at < 0 ? other : Number(flags[at + 1]);
  };
  const rows = await mutations(given('--records', 200_000), given('--seed', 1));
  const data = { machine: machine(), rows, faults: rows.reduce((n, r) => n + r.faults, 0) };
  const lines = rows.map(
    (r) =>
      `${r.format.padEnd(16)} ${[r.records, r.stored, r.duplicates, r.rejected, r.faults].map((n) => String(n).padStart(10)).join('')} ${r.seconds.toFixed(1).padStart(8)} s`,
  );
  const head = `${'format'.padEnd(16)} ${['records', 'stored', 'duplicates', 'rejected', 'faults'].map((n) => n.padStart(10)).join('')}`;
  return { data, text: [`mutated records, ${data.machine}`, '', head, ...lines, ''].join('\n') };
}

export async function mutations(records: number, seed: number): Promise<MutationRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-mutations-'));
  try {
    const rows: MutationRow[] = [];
    for (const source of SOURCES)
      rows.push(await mutatedSource(folder, source, Math.ceil(records * source.share), seed));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function mutatedSource(
  folder: string,
  source: Source,
  records: number,
  seed: number,
): Promise<MutationRow> {
  const draw = random(seed);
  const started = performance.now();
  const counts = { stored: 0, duplicates: 0, rejected: 0, faults: 0 };
  const fault = (what: string, n = 1) => {
    counts.faults += n;
    process.stderr.write(`${source.name}: ${what}\n`);
  };
  for (let done = 0; done < records; ) {
    const n = Math.min(source.as === 'file' ? FILES : BATCH, records - done);
    const paths = written(folder, source, n, done, draw);
    try {
      await readBack(paths, source, n, counts, fault);
      for (const path of paths) rmSync(path);
    } catch (error) {
      fault(`${paths[0]}: ${(error as Error).stack}`);
    }
    done += n;
  }
  const seconds = (performance.now() - started) / 1000;
  return { format: source.name, records, ...counts, seconds };
}

/** Writes n changed records. @returns the files */
function written(
  folder: string,
  { records, format, as }: Source,
  n: number,
  from: number,
  draw: Random,
): string[] {
  const pieces = Array.from({ length: n }, (_, k) => {
    const record = structuredClone(records[Math.floor(draw() * records.length)]) as Record<string, unknown>;
    // Ids of their own, or nearly all would be copies.
    for (const id of ['episode_id', 'id', 'session_id', 'trial'])
      if (id in record) record[id] = typeof record[id] === 'number' ? from + k : `${record[id]} ${from + k}`;
    return mutated(record, draw, as === 'lines');
  });
  const path = (k: number) => join(folder, `${format}-${from + k}.${as === 'lines' ? 'jsonl' : 'json'}`);
  if (as === 'file') {
    pieces.forEach((piece, k) => {
      writeFileSync(path(k), piece);
    });
    return pieces.map((_, k) => path(k));
  }
  const [open, between, close] = as === 'lines' ? ['', '\n', '\n'] : ['[', ',\n', ']'];
  const parts = pieces.flatMap((piece, k) => (k > 0 ? [Buffer.from(between!), piece] : [piece]));
  writeFileSync(path(0), Buffer.concat([Buffer.from(open!), ...parts, Buffer.from(close!)]));
  return [path(0)];
}

async function readBack(
  paths: readonly string[],
  { format }: Source,
  n: number,
  counts: { stored: number; duplicates: number; rejected: number },
  fault: (what: string, n?: number) => void,
): Promise<void> {
  const store = await openStore(':memory:', { mode: 'create', threads: 1 });
  try {
    const { files } = await ingest(store, paths, { format });
    const sum = (name: 'episodes' | 'rejects' | 'duplicates') => files.reduce((all, f) => all + f[name], 0);
    const [episodes, rejects, duplicates] = [sum('episodes'), sum('rejects'), sum('duplicates')];
    // A document that is none is refused by name, and so is one of the same content as another.
    const whole = files.filter((f) => f.status === 'failed' || f.status === 'known').length;
    if (whole > 0 && paths.length === 1) fault(`${paths[0]}: ${files[0]!.error}`, n);
    counts.stored += episodes;
    counts.rejected += rejects + whole;
    counts.duplicates += duplicates;
    if (episodes + rejects + duplicates + whole !== n)
      fault(`${paths[0]}: ${episodes} stored, ${duplicates} duplicates and ${rejects} rejected of ${n}`);
    await requireSound(store, episodes, rejects, (what) => fault(`${paths[0]}: ${what}`));
    await check(store);
    await describe(store);
  } finally {
    store.close();
  }
}

async function requireSound(store: Store, episodes: number, rejects: number, fault: (what: string) => void) {
  const [row] = await queryRows(
    store,
    `SELECT (SELECT count(*) FROM episodes) AS episodes, (SELECT count(*) FROM rejects) AS rejects,
       (SELECT count(*) FROM rejects WHERE reason IS NULL OR trim(reason) = '') AS unsaid,
       (SELECT count(*) FROM turns WHERE episode NOT IN (SELECT episode FROM episodes)) AS lost,
       (SELECT count(*) FROM episodes e WHERE n_turns <> (SELECT count(*) FROM turns t WHERE t.episode = e.episode)) AS cut`,
  );
  const expected = { episodes, rejects, unsaid: 0, lost: 0, cut: 0 };
  if (JSON.stringify(row) !== JSON.stringify(expected)) fault(JSON.stringify(row));
}
