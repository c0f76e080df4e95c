import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { Exported } from '../../src/schema/exported.ts';
import { appendBatch } from '../../src/store/append.ts';
import { fromIpc } from '../../src/store/arrow.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { TABLES } from '../../src/store/tables.ts';
import { batchOf } from '../store/arbitrary-batch.ts';

let folder: string;
let path: string;
const episodes = [0, 1, 2].map((episode) => ({
  episode,
  episode_id: `e${episode}`,
  source: 0,
  task_id: `t${episode % 2}`,
  ending: 'terminated',
  n_turns: 1,
}));
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-export-'));
  path = join(folder, 'runs.duckdb');
  const store = await openStore(path, { mode: 'create' });
  await appendBatch(store, batchOf('episodes', episodes));
  store.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<string> {
  let out = '';
  const io = {
    out(text: string) {
      out += text;
    },
    err() {},
    progress() {},
    stdin: process.stdin,
  };
  const { values, positionals } = readArguments(
    exportCommand,
    args.includes('--store') ? args : ['--store', path, ...args],
  );
  expect(await exportCommand.run(values, positionals, io)).toBe(0);
  return out;
}

async function parquetRows(file: string) {
  const store = await openStore(':memory:', { mode: 'create' });
  const rows = await queryRows(store, `SELECT episode_id FROM read_parquet('${file}') ORDER BY 1`);
  store.close();
  return rows.map((r) => r.episode_id);
}

test.each(['parquet', 'arrow'])('every table to a folder of %s files', async (format) => {
  const out = join(folder, 'all', 'of them');
  const result = Exported.parse(JSON.parse(await run('--to', format, '--out', out, '--json')));
  expect(readdirSync(out).sort()).toEqual(
    Object.keys(TABLES)
      .map((t) => `${t}.${format}`)
      .sort(),
  );
  expect(result.files.find((f) => f.table === 'episodes')!.rows).toBe(3);
  for (const file of result.files) expect(readFileSync(file.path).length).toBe(file.bytes);
});

test('one table to one file', async () => {
  const parquet = join(folder, 'e.parquet');
  expect(await run('--to', 'parquet', '--table', 'episodes', '--out', parquet)).toMatch(
    /e\.parquet {2}3 rows/,
  );
  expect(await parquetRows(parquet)).toEqual(['e0', 'e1', 'e2']);
  const arrow = join(folder, 'e.arrow');
  await run('--to', 'arrow', '--table', 'episodes', '--out', arrow);
  expect([...fromIpc(readFileSync(arrow)).getChild('episode_id')!]).toEqual(['e0', 'e1', 'e2']);
});

describe('nothing is replaced without --force', () => {
  test('a file', async () => {
    const out = join(folder, 'e.parquet');
    writeFileSync(out, 'mine');
    const args = ['--to', 'parquet', '--table', 'episodes', '--out', out];
    await expect(run(...args)).rejects.toThrow(/e\.parquet: is there already. Pass --force/);
    expect(readFileSync(out, 'utf8')).toBe('mine');
    await run(...args, '--force');
    expect(await parquetRows(out)).toEqual(['e0', 'e1', 'e2']);
  });

  test('one of all tables: none is written', async () => {
    const out = join(folder, 'all');
    mkdirSync(out);
    writeFileSync(join(out, 'turns.arrow'), 'mine');
    await expect(run('--to', 'arrow', '--out', out)).rejects.toThrow(/turns\.arrow: is there already/);
    expect(readdirSync(out)).toEqual(['turns.arrow']);
  });

  test('shards; and never what is not a shard', async () => {
    const out = join(folder, 'shards');
    const args = ['--to', 'parquet', '--table', 'episodes', '--out', out, '--shards'];
    await run(...args, '8');
    expect(await parquetRows(join(out, '**', '*.parquet'))).toEqual(['e0', 'e1', 'e2']);
    await expect(run(...args, '2')).rejects.toThrow(/is there already/);
    await run(...args, '2', '--force');
    expect(await parquetRows(join(out, '**', '*.parquet'))).toEqual(['e0', 'e1', 'e2']);
    writeFileSync(join(out, 'thesis.tex'), 'mine');
    await expect(run(...args, '2', '--force')).rejects.toThrow(/thesis\.tex/);
    expect(existsSync(join(out, 'thesis.tex'))).toBe(true);
  });
});

test.each([
  [['--to', 'csv', '--out', 'x'], /--to: is not known, got "csv", expected parquet, arrow/, 2],
  [['--to', 'arrow', '--table', 'turn', '--out', 'x'], /--table: is not known/, 2],
  [
    ['--to', 'arrow', '--table', 'turns', '--shards', '2', '--out', 'x'],
    /--shards: does not go with --to arrow/,
    2,
  ],
  [['--to', 'parquet', '--shards', '0', '--table', 'turns', '--out', 'x'], /--shards: is out of range/, 2],
  [['--to', 'arrow'], /--out is missing/, 2],
  [['--to', 'arrow', '--out', 'x', '--store', '/nowhere/a.duckdb'], /a\.duckdb: no such store/, 1],
  [['--to', 'arrow', '--table', 'turns', '--out', '/nowhere/a.arrow'], /folder does not exist/, 1],
])('%j is refused', async (args, message, exitCode) => {
  const error = await run(...args).then(
    () => undefined,
    (e) => e,
  );
  expect(error?.message).toMatch(message);
  expect(error?.exitCode).toBe(exitCode);
});
