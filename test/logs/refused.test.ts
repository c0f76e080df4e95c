/*
 * Real logs in shapes that no format reads: each is refused by its name with the way out, and nothing of it
 * is stored; beside files that are read it does not pass unnoticed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { type BuiltCli, buildCli } from '../ingest/built-cli.ts';
import { LOGS, missing, skipped } from './logs.ts';

/** Files of a folder of logs, as paths within LOGS. */
const filesOf = (folder: string): string[] =>
  missing ? [] : readdirSync(join(LOGS, folder)).map((name) => join(folder, name));

const unread = [
  ...filesOf('archer'),
  ...filesOf('inspect'),
  'mini-swe-agent/results.json',
  ...filesOf('obd/random-men'),
  ...filesOf('obd/bts-men'),
  ...filesOf('openhands'),
  ...filesOf('swe-agent'),
  ...filesOf('swe-bench'),
  'tau-bench/MockAirlineDomainEnv-few_shot.jsonl',
  ...filesOf('webshop'),
  ...filesOf('who-and-when/algorithm-generated'),
  ...filesOf('who-and-when/hand-crafted'),
];
/** What is said of a file, by what it is. */
function told(name: string): readonly string[] {
  if (name.endsWith('.eval')) return ['is a zip archive, and no log', 'Unpack it, and name what it holds.'];
  const wrong = 'its format is not recognised, expected one of ';
  return name.endsWith('.csv')
    ? [wrong, 'A table of rows becomes a log as Parquet, one row an episode', '--rewards']
    : [wrong, 'Convert it to the canonical record, one JSON object a line: "turnwise schema episode".'];
}

describe.skipIf(missing)(`logs that no format reads${skipped}`, () => {
  let cli: BuiltCli;
  beforeAll(() => {
    cli = buildCli();
  });
  afterAll(() => cli?.remove());

  test('every one of them is refused by name, and the store stays empty', async () => {
    const store = await openStore(':memory:', { mode: 'create' });
    try {
      const paths = unread.map((name) => join(LOGS, name));
      const { files } = await ingest(store, paths);
      expect(files.map((f) => f.path)).toEqual(paths);
      for (const { path, format, status, error, episodes, rejects } of files) {
        expect({ path, format, status, episodes, rejects }).toEqual({
          path,
          format: null,
          status: 'failed',
          episodes: 0,
          rejects: 0,
        });
        const [wrong, ...ways] = told(path);
        expect(error).toContain(`${path}: ${wrong}`);
        for (const way of ways) expect(error).toContain(way);
      }
      const counts = await queryRows(
        store,
        `SELECT (SELECT count(*) FROM sources) AS sources, (SELECT count(*) FROM episodes) AS episodes,
          (SELECT count(*) FROM turns) AS turns, (SELECT count(*) FROM rejects) AS rejects`,
      );
      expect(counts).toEqual([{ sources: 0, episodes: 0, turns: 0, rejects: 0 }]);
      expect(unread.length).toBeGreaterThan(100);
    } finally {
      store.close();
    }
  });

  test.each([
    'inspect/log_formats.eval',
    'openhands/basic.json',
    'swe-agent/pydicom__pydicom-1458.traj',
    'webshop/20220427_1_12.jsonl',
    'obd/random-men/log.csv',
  ])('%s from the command line: exit 1, no store', (name) => {
    const path = join(LOGS, name);
    const done = cli.run(['ingest', path, '--store', 'new.duckdb']);
    expect([done.code, done.out.includes('0 episodes'), existsSync(join(cli.folder, 'new.duckdb'))]).toEqual([
      1,
      false,
      false,
    ]);
    const [wrong, ...ways] = told(path);
    expect(done.err).toContain(`error: ${path}: ${wrong}`);
    for (const way of ways) expect(done.err).toContain(way);
    expect(done.err).not.toMatch(/\n {4}at /);
  });

  test('beside a file that is read: exit 1, and the one that was read is stored', () => {
    const read = join(LOGS, 'chat/tinker_conversations.jsonl');
    const other = join(LOGS, 'openhands/basic.json');
    const done = cli.run(['ingest', read, other, '--store', 'both.duckdb', '--json']);
    expect(done.code).toBe(1);
    expect(done.err).toContain(`error: ${other}: its format is not recognised`);
    const both = cli.run(['describe', '--store', 'both.duckdb', '--json']);
    expect(JSON.parse(both.out)).toMatchObject({ episodes: 128, sources: [{ path: read }] });
  });

  test('a part of a trajectory without the other is a reject that names it', () => {
    for (const [name, reason] of [
      ['harbor_terminus2_continuation.json', /"trajectory\.cont-1\.json".*cannot be read/],
      ['harbor_terminus2_continuation_cont1.json', /continues another trajectory/],
    ] as const) {
      const done = cli.run(['ingest', join(LOGS, 'atif', name), '--store', `${name}.duckdb`, '--json']);
      expect(done.code).toBe(1);
      expect(done.err).toContain('gave nothing but rejects');
      const { episodes, turns, rejects } = JSON.parse(
        cli.run(['describe', '--store', `${name}.duckdb`, '--json']).out,
      );
      expect([episodes, turns, rejects.count]).toEqual([0, 0, 1]);
      expect(rejects.reasons[0].reason).toMatch(reason);
    }
  });
});
