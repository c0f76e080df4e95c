import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { creditCommand } from '../../src/cli/credit.ts';
import { describeCommand } from '../../src/cli/describe.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { importCommand } from '../../src/cli/import.ts';
import { ingestCommand } from '../../src/cli/ingest.ts';
import { reportCommand } from '../../src/cli/report.ts';
import { savedCritics } from '../../src/inspect/saved-critics.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { Exported } from '../../src/schema/exported.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { fromIpc } from '../../src/store/arrow.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { run } from '../helpers/run-command.ts';
import { storeFileOf } from '../helpers/store-file.ts';

const WORLD: EpisodeInput[] = [...simulateToolAgent({ tasks: 20, episodes: 160, seed: 5 })];
let folder: string;
const at = (name: string) => join(folder, name);
const STALE =
  'critic "mine": fitted on 120 finished episodes, the store now holds 160; run turnwise credit --save-as mine again';

/** A store of 120 episodes with the values of a critic, and the log of 40 more. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-saved-cli-'));
  await storeFileOf(at('more'), WORLD.slice(120));
  await storeFileOf(at('runs'), WORLD.slice(0, 120));
  await credit();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const credit = (...more: string[]) =>
  run(creditCommand, '--store', at('runs.duckdb'), '--placebos', '1', '--save-as', 'mine', ...more);
const grow = () => run(ingestCommand, at('more.jsonl'), '--store', at('runs.duckdb'));
const exported = (...args: string[]) => run(exportCommand, '--store', at('runs.duckdb'), ...args);

async function read<T>(name: string, body: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(at(name), { mode: 'read' });
  try {
    return await body(store);
  } finally {
    store.close();
  }
}

test('describe lists the critics and warns of what is stale; so does the report', async () => {
  const describe = () => run(describeCommand, '--store', at('runs.duckdb'));
  const before = await describe();
  expect(before.out).toMatch(
    /Saved critics\n {2}mine: current; ridge backward induction, cross-fitted by task; kept \d{4}-\d\d-\d\dT[\d:]+Z;\s+fitted\s+on\s+120\s+episodes;\s+\d+\s+turn\s+values\n/,
  );
  expect(before.err).not.toContain('critic');
  await grow();
  const after = await describe();
  expect(after.out).toContain('mine: stale; ');
  expect(after.err).toContain(`warning: ${STALE}\n`);
  const json = JSON.parse((await run(describeCommand, '--store', at('runs.duckdb'), '--json')).out);
  expect(json.critics).toEqual(await read('runs.duckdb', savedCritics));
  await run(reportCommand, '--store', at('runs.duckdb'), '--out', at('report.html'));
  expect(readFileSync(at('report.html'), 'utf8').replaceAll('&quot;', '"')).toContain(STALE);
});

test.each(['parquet', 'arrow'])(
  'exported to %s they carry errors, marks and where they come from',
  async (format) => {
    const file = at(`values.${format}`);
    const fresh = await exported('--to', format, '--table', 'turn_values', '--out', file, '--json');
    expect(fresh.err).toBe('');
    const critics = await read('runs.duckdb', savedCritics);
    expect(Exported.parse(JSON.parse(fresh.out))).toMatchObject({ critics, warnings: [] });
    expect(await read('runs.duckdb', (store) => metadataOf(store, file))).toEqual(critics);
    await grow();
    const out = at('all');
    const stale = await exported('--to', format, '--out', out);
    expect(stale).toMatchObject({ code: 0, err: `warning: ${STALE}\n` });
    const later = await read('runs.duckdb', (store) => metadataOf(store, join(out, `turn_values.${format}`)));
    expect(later).toMatchObject([{ critic: 'mine', state: 'stale', episodes: 120 }]);
    const other = await exported('--to', format, '--table', 'turns', '--out', at('turns'), '--json');
    expect(Exported.parse(JSON.parse(other.out))).toMatchObject({ critics: [], warnings: [] });
  },
);

async function metadataOf(store: Store, file: string): Promise<unknown> {
  if (file.endsWith('.arrow')) {
    const { schema } = fromIpc(readFileSync(file));
    expect(schema.fields.map((f) => f.name)).toEqual(expect.arrayContaining(['advantage_se', 'mark']));
    return JSON.parse(schema.metadata.get('turnwise_critics')!);
  }
  const columns = await queryRows(store, `SELECT column_name FROM (DESCRIBE FROM read_parquet('${file}'))`);
  expect(columns.map((c) => c.column_name)).toEqual(expect.arrayContaining(['advantage_se', 'mark']));
  const [row] = await queryRows(
    store,
    `SELECT decode(value) AS text FROM parquet_kv_metadata('${file}') WHERE decode(key) = 'turnwise_critics'`,
  );
  return JSON.parse(row!.text as string);
}

test('sharded, each file carries it', async () => {
  await exported('--to', 'parquet', '--table', 'turn_values', '--shards', '2', '--out', at('shards'));
  const rows = await read('runs.duckdb', (store) =>
    queryRows(
      store,
      `SELECT count(*) AS n FROM parquet_kv_metadata('${at('shards')}/*/*.parquet') WHERE decode(key) = 'turnwise_critics'`,
    ),
  );
  expect(rows).toEqual([{ n: 2 }]);
});

test.each(['parquet', 'arrow'])('a store read back from %s knows them as before', async (format) => {
  await exported('--to', format, '--out', at('all'));
  await run(importCommand, at('all'), '--store', at('copy.duckdb'));
  expect(await read('copy.duckdb', savedCritics)).toEqual(await read('runs.duckdb', savedCritics));
  // Without the table that says so nothing is known of them, and half of it is refused.
  rmSync(at('copy.duckdb'));
  const some = (...tables: string[]) =>
    run(importCommand, ...tables.map((t) => at(`all/${t}.${format}`)), '--store', at('copy.duckdb'));
  await some('sources', 'episodes', 'turns', 'turn_values');
  expect(await read('copy.duckdb', savedCritics)).toMatchObject([{ critic: 'mine', state: 'unknown' }]);
  rmSync(at('copy.duckdb'));
  await expect(some('sources', 'episodes', 'turns', 'critics')).rejects.toThrow(
    'table "turn_values": does not hold the values that table "critics" counts, of critic, got mine',
  );
});

test('values beside episodes that are not theirs are stale, whatever their numbers', async () => {
  await exported('--to', 'parquet', '--out', at('all'));
  await storeFileOf(at('others'), [...WORLD.slice(40)]);
  await run(exportCommand, '--store', at('others.duckdb'), '--to', 'parquet', '--out', at('others'));
  const files = [
    ...['sources', 'episodes', 'turns'].map((t) => at(`others/${t}.parquet`)),
    ...['critics', 'turn_values'].map((t) => at(`all/${t}.parquet`)),
  ];
  await run(importCommand, ...files, '--store', at('mixed.duckdb'));
  expect(await read('mixed.duckdb', savedCritics)).toMatchObject([
    {
      state: 'stale',
      reason: 'fitted on 120 finished episodes, the store now holds as many, under other names',
    },
  ]);
});

test('an export of an older Turnwise, without the table and its columns, is read as it was', async () => {
  await exported('--to', 'parquet', '--out', at('all'));
  rmSync(at('all/critics.parquet'));
  const values = at('all/turn_values.parquet');
  await expect(run(importCommand, at('all'), '--store', at('copy.duckdb'))).rejects.toThrow(
    'is not a whole export: table critics not there',
  );
  const engine = await openStore(':memory:', { mode: 'create' });
  await engine.connection.run(
    `COPY (SELECT * EXCLUDE (advantage_se, mark) FROM read_parquet('${values}')) TO '${at('old.parquet')}'`,
  );
  await engine.connection.run(`COPY (FROM read_parquet('${at('old.parquet')}')) TO '${values}'`);
  engine.close();
  await run(importCommand, at('all'), '--store', at('copy.duckdb'));
  expect(await read('copy.duckdb', savedCritics)).toMatchObject([{ critic: 'mine', state: 'unknown' }]);
});

test.each(['critics', 'turn_values'])(
  'killed as it writes %s, credit leaves the values and what they are of',
  async (table) => {
    const both = (store: Store) =>
      Promise.all(
        ['critics', 'turn_values'].map((name) => queryRows(store, `SELECT * FROM ${name} ORDER BY ALL`)),
      );
    const before = await read('runs.duckdb', both);
    await grow();
    const src = resolve(import.meta.dirname, '../../src');
    const code = `
    import { openStore } from '${src}/store/store.ts';
    import { runCritic } from '${src}/critic/credit.ts';
    import { saveTurnValues } from '${src}/critic/save-values.ts';
    const store = await openStore(${JSON.stringify(at('runs.duckdb'))}, { mode: 'write' });
    const run = await runCritic(store, { critic: { placebos: 1, lambda: 9 } });
    const make = store.connection.createAppender.bind(store.connection);
    store.connection.createAppender = async (name) => {
      const appender = await make(name);
      const close = appender.closeSync.bind(appender);
      appender.closeSync = () => {
        close();
        if (name === '${table}') process.kill(process.pid, 'SIGKILL');
      };
      return appender;
    };
    await saveTurnValues(store, run, 'mine');
    console.log('kept');`;
    const done = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      encoding: 'utf8',
    });
    expect([done.signal, done.stdout]).toEqual(['SIGKILL', '']);
    expect(await read('runs.duckdb', both)).toEqual(before);
    expect(await read('runs.duckdb', savedCritics)).toMatchObject([{ critic: 'mine', state: 'stale' }]);
  },
);
