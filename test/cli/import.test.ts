import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { Table } from 'apache-arrow';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import type { Command } from '../../src/cli/command.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { importCommand } from '../../src/cli/import.ts';
import { ingestCommand } from '../../src/cli/ingest.ts';
import { Imported } from '../../src/schema/imported.ts';
import { fromIpc, toIpc } from '../../src/store/arrow.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { TABLES, type TableName } from '../../src/store/tables.ts';
import { run as runCommand } from '../helpers/run-command.ts';
import { episodes } from '../ingest/arbitrary-episode.ts';
import { line } from '../ingest/built-cli.ts';

const base = mkdtempSync(join(tmpdir(), 'turnwise-import-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let folder: string;
let made = 0;
function freshFolder(): void {
  folder = join(base, String(made++));
  mkdirSync(folder);
}
beforeEach(freshFolder);
const at = (name: string) => join(folder, name);

async function run(command: Command, ...args: string[]): Promise<string> {
  let out = '';
  const io = {
    out(text: string) {
      out += text;
    },
    err() {},
    progress() {},
    stdin: process.stdin,
  };
  const { values, positionals } = readArguments(command, args);
  await command.run(values, positionals, io);
  return out;
}

/** Every row of every table, in the order of the store. */
async function content(name: string): Promise<Record<string, unknown>> {
  const store = await openStore(at(name), { mode: 'read' });
  const tables: Record<string, unknown> = {};
  for (const table of Object.keys(TABLES) as TableName[])
    tables[table] = await queryRows(store, `SELECT * FROM ${table}`);
  store.close();
  return tables;
}

/** A store with something in every table that a log can fill. */
async function filled(records: readonly object[]): Promise<void> {
  const one = line('one', {
    task_id: 'a',
    segments: [{ token_ids: [1, 2], action_mask: [false, true], behaviour_logprobs: [null, -0.1] }],
  });
  const two = line('two', {
    task_id: 'b',
    rewards: { r: { score: 0.1 } },
    started_at: '2026-01-02T03:04:05Z',
  });
  writeFileSync(
    at('a.jsonl'),
    `${one}${two}{"bad"\n${records.map((r) => `${JSON.stringify(r)}\n`).join('')}`,
  );
  writeFileSync(
    at('s.jsonl'),
    '{"policy":"p","trained_on":"none","episode_id":"one","segment":0,"logprobs":[null,-1]}\n',
  );
  await run(ingestCommand, at('a.jsonl'), at('s.jsonl'), '--store', at('runs.duckdb'));
}

describe('store → files → store is the same store', () => {
  test.prop(
    [
      fc.constantFrom('parquet', 'arrow'),
      fc.uniqueArray(episodes(), { selector: (e) => e.episode_id, maxLength: 4 }),
    ],
    { numRuns: 4 },
  )('as Parquet and as Arrow', async (format, records) => {
    freshFolder();
    await filled(records);
    await run(exportCommand, '--store', at('runs.duckdb'), '--to', format, '--out', at('out'));
    const printed = await run(importCommand, at('out'), '--store', at('copy.duckdb'), '--json');
    const tables = Object.keys(TABLES).sort();
    expect(Imported.parse(JSON.parse(printed)).tables.map((t) => [t.table, t.format])).toEqual(
      tables.map((name) => [name, format]),
    );
    expect(await content('copy.duckdb')).toEqual(await content('runs.duckdb'));
  });

  test('files by any name, in any order, a table in shards among them', async () => {
    await filled([]);
    const write = (...args: string[]) => run(exportCommand, '--store', at('runs.duckdb'), ...args);
    await write('--to', 'parquet', '--table', 'turns', '--shards', '3', '--out', at('t'));
    await write('--to', 'arrow', '--table', 'episodes', '--out', at('x.bin'));
    await write('--to', 'parquet', '--table', 'sources', '--out', at('y.bin'));
    await run(importCommand, at('t'), at('x.bin'), at('y.bin'), '--store', at('copy.duckdb'));
    const { sources, episodes, turns } = await content('runs.duckdb');
    expect(await content('copy.duckdb')).toMatchObject({ sources, episodes, turns, segments: [] });
  });

  test('what is ingested afterwards goes on from there', async () => {
    await filled([]);
    await run(exportCommand, '--store', at('runs.duckdb'), '--to', 'arrow', '--out', at('out'));
    await run(importCommand, at('out'), '--store', at('copy.duckdb'));
    writeFileSync(at('b.jsonl'), line('three'));
    const add = (name: string) =>
      run(ingestCommand, at('a.jsonl'), at('b.jsonl'), '--store', at(name)).then(() => content(name));
    const copy = await add('copy.duckdb');
    const original = await add('runs.duckdb');
    expect([copy.episodes, copy.turns]).toEqual([original.episodes, original.turns]);
  });
});

describe('what does not fit is refused, and nothing of it is kept', () => {
  const sql = async (statement: string) => {
    const store = await openStore(at('runs.duckdb'), { mode: 'write' });
    await store.connection.run(statement);
    store.close();
  };
  const importing = () =>
    run(
      importCommand,
      ...readdirSync(at('out')).map((n) => join(at('out'), n)),
      '--store',
      at('copy.duckdb'),
    );
  const exporting = (...tables: string[]) =>
    Promise.all(
      tables.map(async (table) => {
        mkdirSync(at('out'), { recursive: true });
        const out = join(at('out'), `${table}.parquet`);
        await run(
          exportCommand,
          '--store',
          at('runs.duckdb'),
          '--to',
          'parquet',
          '--table',
          table,
          '--out',
          out,
        );
      }),
    );

  test('tables that already hold rows', async () => {
    await filled([]);
    await exporting('sources', 'episodes', 'turns');
    const before = await content('runs.duckdb');
    await expect(
      run(importCommand, at('out/episodes.parquet'), '--store', at('runs.duckdb')),
    ).rejects.toThrow(
      /runs\.duckdb: its table "episodes" already holds rows, and .*episodes\.parquet would be added to them, got 2, expected none\. Import into a new store\./,
    );
    expect(await content('runs.duckdb')).toEqual(before);
  });

  test.each<[string, string, RegExp]>([
    [
      'turns out of order',
      'INSERT INTO turns SELECT * FROM turns',
      /table "turns": its rows are not in the order/,
    ],
    [
      'a name twice',
      `UPDATE episodes SET episode_id = 'one'`,
      /"episodes": an episode_id stands twice, got one/,
    ],
    ['a gap', 'UPDATE episodes SET episode = 7 WHERE episode = 1', /2 episodes are not numbered 0 to 1/],
    ['an ending', `UPDATE episodes SET ending = 'over'`, /an ending is none of terminated, .*, got over/],
    [
      'a source',
      'UPDATE episodes SET source = 9',
      /refers to a source that is not there, got 9\. Import table "sources"/,
    ],
    [
      'an episode',
      'UPDATE turns SET episode = 5 WHERE episode = 1',
      /"turns": refers to an episode that is not there, got 5/,
    ],
  ])('%s', async (_, statement, message) => {
    await filled([]);
    await sql(statement);
    await exporting('sources', 'episodes', 'turns');
    await expect(importing()).rejects.toThrow(message);
    expect(existsSync(at('copy.duckdb'))).toBe(false);
  });

  test('a log, a text, a folder of neither, the same table twice', async () => {
    await filled([]);
    await expect(run(importCommand, at('a.jsonl'), '--store', at('copy.duckdb'))).rejects.toThrow(
      'a.jsonl: is neither Parquet nor Arrow',
    );
    mkdirSync(at('empty'));
    await expect(run(importCommand, at('empty'), '--store', at('copy.duckdb'))).rejects.toThrow(
      'holds no Parquet or Arrow file',
    );
    await expect(run(importCommand, at('none'), '--store', at('copy.duckdb'))).rejects.toThrow(
      'no such file',
    );
    await exporting('turns');
    await run(
      exportCommand,
      '--store',
      at('runs.duckdb'),
      '--to',
      'arrow',
      '--table',
      'turns',
      '--out',
      at('t.arrow'),
    );
    await expect(
      run(importCommand, at('out/turns.parquet'), at('t.arrow'), '--store', at('copy.duckdb')),
    ).rejects.toThrow(/turns\.parquet and .*t\.arrow: both hold table "turns"/);
    expect(readdirSync(folder)).not.toContain('copy.duckdb');
  });
});

describe('half an export is refused by the name of what is missing, and nothing of it is kept', () => {
  const exported = async (format: string) => {
    await filled([]);
    await run(exportCommand, '--store', at('runs.duckdb'), '--to', format, '--out', at('out'));
  };
  const importing = (...inputs: string[]) =>
    run(importCommand, ...inputs.map((name) => at(name)), '--store', at('copy.duckdb'));
  afterEach(() => expect(existsSync(at('copy.duckdb'))).toBe(false));

  test.each(Object.keys(TABLES))('a folder without %s', async (table) => {
    await exported('arrow');
    rmSync(at(`out/${table}.arrow`));
    await expect(importing('out')).rejects.toThrow(
      `out: is not a whole export: table ${table} not there. Export again`,
    );
  });

  test('several tables', async () => {
    await exported('parquet');
    for (const table of ['turns', 'scores']) rmSync(at(`out/${table}.parquet`));
    await expect(importing('out')).rejects.toThrow('tables turns, scores not there');
  });

  test('turns of one episode; of all', async () => {
    await exported('parquet');
    const store = await openStore(at('runs.duckdb'), { mode: 'write' });
    await store.connection.run('DELETE FROM turns WHERE episode = 1');
    store.close();
    rmSync(at('out/turns.parquet'));
    const turns = ['--table', 'turns', '--out', at('out/turns.parquet')];
    await run(exportCommand, '--store', at('runs.duckdb'), '--to', 'parquet', ...turns);
    await expect(importing('out')).rejects.toThrow(
      'table "turns": does not hold the turns that table "episodes" counts, of 1 episode, got 0 of episode "two", expected 1. The export is not whole',
    );
    await expect(importing('out/sources.parquet', 'out/episodes.parquet')).rejects.toThrow(
      'of 2 episodes, got 0 of episode "one", expected 1',
    );
  });

  test('an export that was killed', async () => {
    await exported('arrow');
    const again = ['--to', 'arrow', '--out', at('out'), '--force'];
    const files = Object.keys(TABLES).map((t) => `${t}.arrow`);
    // While it moved its files: old ones may lie beside new ones.
    mkdirSync(at('out/export.moving-Ab3dE9'));
    await expect(importing('out')).rejects.toThrow(
      'out: holds an export that was not finished, old files beside new ones (export.moving-Ab3dE9)',
    );
    await run(exportCommand, '--store', at('runs.duckdb'), ...again);
    expect(readdirSync(at('out')).sort()).toEqual(files.sort());
    // While it wrote: what was there before stands. A folder of a name that no export gives is the user's.
    mkdirSync(at('out/export.part-Ab3dE9'));
    mkdirSync(at('out/export.part'));
    const { err } = await runCommand(exportCommand, '--store', at('runs.duckdb'), ...again);
    expect(err).toMatch(/^warning: .*export\.part-Ab3dE9 is left of an export that did not end/);
    expect(readdirSync(at('out')).sort()).toEqual([...files, 'export.part', 'export.part-Ab3dE9'].sort());
    await importing('out');
    rmSync(at('copy.duckdb'));
  });

  test('an Arrow file that is cut between two batches, which reads as a whole stream', async () => {
    await exported('arrow');
    const file = at('out/segments.arrow');
    const table = fromIpc(readFileSync(file));
    const [one, two] = [table, new Table([...table.batches, ...table.batches])].map((t) => toIpc(t));
    const same = one!.findIndex((byte, i) => byte !== two![i]);
    writeFileSync(file, two!.subarray(0, same - (same % 8)));
    await expect(importing('out')).rejects.toThrow(
      'segments.arrow: is cut: it does not end as an Arrow file',
    );
  });

  test.each(['parquet', 'arrow'])('a %s file that is cut', async (format) => {
    await exported(format);
    const file = at(`out/segments.${format}`);
    truncateSync(file, statSync(file).size - 8);
    await expect(importing('out')).rejects.toThrow(`segments.${format}`);
  });
});
