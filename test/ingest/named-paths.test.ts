import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { targetOf } from '../../src/store/literal-path.ts';
import { exportParquet, importParquet } from '../../src/store/parquet.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { type BuiltCli, buildCli, line } from './built-cli.ts';

const FOUND = resolve(import.meta.dirname, '../../../shared/found/02-parquet-name-with-brackets');

/** Names that a pattern, an address, a home folder or a quoted text could be made of, and what a pattern would read. */
const NAMES = [
  'run[1]',
  'run[!2]',
  'run[a-z]',
  '[[]]',
  '][',
  'a*b',
  '**',
  '*',
  'what?',
  '{x,y}',
  "it's",
  'say "so"',
  'new\nline',
  '-lead',
  '~',
  's3:',
  'file:x',
  'a=b',
  'shard=3',
  '%20',
  '$HOME',
  'back\\slash',
  'ünï 👍',
] as const;

let cli: BuiltCli;
beforeAll(() => {
  cli = buildCli();
});
afterAll(() => cli.remove());

async function parquet(path: string, id: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const store = await openStore(':memory:', { mode: 'create' });
  await store.connection.run(
    `COPY (SELECT '${id}' AS episode_id, 1.0 AS reward, [{action: 'a'}] AS turns) TO ${targetOf(path)} (FORMAT parquet)`,
  );
  store.close();
}

async function read(path: string, sql: string): Promise<Record<string, unknown>[]> {
  const store = await openStore(path, { mode: 'read' });
  try {
    return await queryRows(store, sql);
  } finally {
    store.close();
  }
}

describe('a path that was named is that path, whatever it holds', () => {
  test.skipIf(!existsSync(FOUND))(
    `the file that was found, and a folder like another${existsSync(FOUND) ? '' : ' (skipped: no ../shared/found)'}`,
    async () => {
      for (const name of readdirSync(FOUND)) copyFileSync(join(FOUND, name), join(cli.folder, name));
      expect(cli.run(['ingest', 'run[1].parquet', '--store', 'found.duckdb']).code).toBe(0);
      expect(await read(join(cli.folder, 'found.duckdb'), 'SELECT episode_id, reward FROM episodes')).toEqual(
        [{ episode_id: 'named', reward: 1 }],
      );
    },
  );

  test('as a file, and as a folder: what is hashed is what is read', async () => {
    const base = join(cli.folder, 'names');
    const inputs: string[] = [];
    for (const [k, name] of NAMES.entries()) {
      await parquet(join(base, `${name}.parquet`), `file ${k}`);
      await parquet(join(base, name, 'f.parquet'), `folder ${k}`);
      await parquet(join(base, name, `${name}.parquet`), `both ${k}`);
      inputs.push(`names/${name}.parquet`, `names/${name}/f.parquet`, `names/${name}/${name}.parquet`);
    }
    // What patterns would read in their place.
    for (const decoy of ['run1', 'run3', 'runb', 'axb', 'whatx', 'x', 'y']) {
      await parquet(join(base, `${decoy}.parquet`), `decoy ${decoy}`);
      await parquet(join(base, decoy, 'f.parquet'), `decoy folder ${decoy}`);
    }
    const { code, err } = cli.run(['ingest', ...inputs, '--store', 'names.duckdb']);
    expect([code, err]).toEqual([0, expect.stringMatching(/^(warning: .*ending.*\n)?$/)]);
    const rows = await read(
      join(cli.folder, 'names.duckdb'),
      'SELECT e.episode_id, s.path, s.sha256 FROM episodes e JOIN sources s USING (source) ORDER BY episode',
    );
    expect(rows).toEqual(
      inputs.map((path, i) => ({
        episode_id: `${['file', 'folder', 'both'][i % 3]} ${Math.floor(i / 3)}`,
        path,
        sha256: createHash('sha256')
          .update(readFileSync(join(cli.folder, path)))
          .digest('hex'),
      })),
    );
  });

  test('from within its folder, where it has no slash before it', async () => {
    for (const [k, name] of NAMES.entries()) await parquet(join(cli.folder, `${name}.pq`), `bare ${k}`);
    const { code } = cli.run([
      'ingest',
      '--store',
      'bare.duckdb',
      '--',
      ...NAMES.map((name) => `${name}.pq`),
    ]);
    expect(code).toBe(0);
    const rows = await read(
      join(cli.folder, 'bare.duckdb'),
      'SELECT episode_id FROM episodes ORDER BY episode',
    );
    expect(rows.map((r) => r.episode_id)).toEqual(NAMES.map((_, k) => `bare ${k}`));
  });

  test('a backslash beside a pattern is refused by name, not read as another file', async () => {
    await parquet(join(cli.folder, 'odd', 'b\\[1].parquet'), 'odd');
    await parquet(join(cli.folder, 'odd', 'b', '1.parquet'), 'other');
    const { code, err } = cli.run(['ingest', 'odd/b\\[1].parquet', '--store', 'odd.duckdb']);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('its path holds a backslash beside one of * ? ['),
    ]);
  });

  test.each(NAMES)('export and import, Parquet, Arrow and shards: %j', async (name) => {
    const base = join(cli.folder, 'exports', String(NAMES.indexOf(name)));
    mkdirSync(base, { recursive: true });
    const store = await openStore(':memory:', { mode: 'create' });
    const other = await openStore(':memory:', { mode: 'create' });
    try {
      await store.connection.run(
        "INSERT INTO episodes (episode, episode_id, source, ending, ending_assumed, n_turns) SELECT i, 'e' || i, 0, 'limit', false, 0 FROM range(20) t(i)",
      );
      const whole = join(base, name, name);
      mkdirSync(join(base, name));
      expect(await exportParquet(store, 'episodes', whole)).toEqual({ rows: 20 });
      expect(readdirSync(join(base, name))).toEqual([name]);
      expect(await importParquet(other, 'episodes', whole)).toEqual({ rows: 20 });
      rmSync(whole);
      await exportParquet(store, 'episodes', whole, { shards: 3 });
      expect(readdirSync(whole).sort()).toEqual(['shard=0', 'shard=1', 'shard=2']);
      expect(await importParquet(other, 'episodes', whole)).toEqual({ rows: 20 });
    } finally {
      store.close();
      other.close();
    }
  });
});

test('exp[1] is imported, and the folder exp1 beside it is not', async () => {
  for (const [name, id] of [
    ['one', 'named'],
    ['two', 'OTHER'],
  ] as const) {
    writeFileSync(join(cli.folder, `${name}.jsonl`), line(id));
    expect(cli.run(['ingest', `${name}.jsonl`, '--store', `${name}.duckdb`]).code).toBe(0);
  }
  for (const [more, k] of [
    [['--to', 'parquet'], 0],
    [['--to', 'arrow'], 1],
  ] as const) {
    for (const [store, out] of [
      ['one', `exp[${k}]`],
      ['two', `exp${k}`],
    ])
      expect(cli.run(['export', '--store', `${store}.duckdb`, ...more, '--out', out!])).toMatchObject({
        code: 0,
        err: '',
      });
    expect(cli.run(['import', `exp[${k}]`, '--store', `copy${k}.duckdb`])).toMatchObject({
      code: 0,
      err: '',
    });
    expect(await read(join(cli.folder, `copy${k}.duckdb`), 'SELECT episode_id FROM episodes')).toEqual([
      { episode_id: 'named' },
    ]);
  }
});

test('a store has no "?" in its path', () => {
  const { code, err } = cli.run(['ingest', 'one.jsonl', '--store', 'what?.duckdb']);
  expect([code, err]).toEqual([2, expect.stringContaining('what?.duckdb: a store has no "?" in its path')]);
});

test.each(NAMES.filter((n) => n !== '-lead' && n !== 'what?'))(
  'a store and a report have any other name as well: %s',
  (name) => {
    const folder = join(cli.folder, 'stores', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.jsonl`), line('e'));
    const at = join('stores', name);
    const store = join(at, `${name}.duckdb`);
    expect(cli.run(['ingest', join(at, `${name}.jsonl`), '--store', store])).toMatchObject({
      code: 0,
      err: '',
    });
    expect(cli.run(['report', '--store', store, '--out', join(at, `${name}.html`)])).toMatchObject({
      code: 0,
      err: '',
    });
    expect(readdirSync(folder).sort()).toEqual([`${name}.duckdb`, `${name}.html`, `${name}.jsonl`].sort());
  },
);
