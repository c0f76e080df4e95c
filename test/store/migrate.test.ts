import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from 'duckdb';
import { afterAll, expect, test } from 'vitest';
import { runCritic } from '../../src/critic/credit.ts';
import { saveTurnValues } from '../../src/critic/save-values.ts';
import { turnValues } from '../../src/critic/turn-values.ts';
import { check } from '../../src/inspect/check.ts';
import { describe } from '../../src/inspect/describe.ts';
import { tableSql } from '../../src/store/create-tables.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { TABLES } from '../../src/store/tables.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-migrate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As versions 1 and 2 had it. */
const TURN_VALUES_2 = `CREATE TABLE turn_values (critic VARCHAR NOT NULL, episode BIGINT NOT NULL,
  turn INTEGER NOT NULL, q DOUBLE, v DOUBLE, advantage DOUBLE, delta DOUBLE, supported BOOLEAN)`;

/** A store as version 1 wrote it: three episodes with segments of 2,500, 0 and 3 tokens, and a score of the first. */
async function storeOfVersion1(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  const run = (sql: string) => connection.run(sql);
  for (const table of ['sources', 'episodes', 'turns', 'rejects', 'censored'] as const)
    await run(tableSql(table));
  await run(`CREATE TABLE segments (episode BIGINT NOT NULL, segment INTEGER NOT NULL, token_ids INTEGER[] NOT NULL,
    action_mask BOOLEAN[] NOT NULL, behaviour_logprobs FLOAT[], versions INTEGER[], token_turn INTEGER[])`);
  await run(`CREATE TABLE scores (policy VARCHAR NOT NULL, source INTEGER NOT NULL, trained_on JSON NOT NULL,
    episode BIGINT NOT NULL, turn INTEGER, segment INTEGER, logprob DOUBLE, log_propensity DOUBLE, logprobs FLOAT[],
    logprob_kind VARCHAR)`);
  await run(TURN_VALUES_2);
  await run('CREATE TABLE meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)');
  await run("INSERT INTO meta VALUES ('turnwise_store_version', '1')");
  await run(
    `INSERT INTO sources VALUES (0, 'log.jsonl', 'aa', 'bb', 'canonical', 1, 3, 3, 0, TIMESTAMP '2026-01-01')`,
  );
  await run(`INSERT INTO episodes (episode, episode_id, source, ending, n_turns, reward)
    SELECT i, 'e' || i, 0, 'terminated', 1, i FROM range(3) t(i)`);
  await run(`INSERT INTO turns (episode, turn, segment, action) SELECT i, 0, 0, 'a' || i FROM range(3) t(i)`);
  await run(`INSERT INTO segments SELECT i, 0, range(n)::INTEGER[], list_transform(range(n), x -> x % 2 = 0),
    CASE WHEN i < 2 THEN list_transform(range(n), x -> CASE WHEN x % 2 = 0 THEN -0.5 END)::FLOAT[] END, NULL,
    list_transform(range(n), x -> 0)::INTEGER[] FROM (VALUES (0, 2500), (1, 0), (2, 3)) t(i, n)`);
  await run(`INSERT INTO scores VALUES
    ('p', 0, '"none"', 0, NULL, 0, NULL, NULL, list_transform(range(2500), x -> -0.25), 'raw'),
    ('q', 0, '"none"', 1, 0, NULL, -1.5, NULL, NULL, 'raw')`);
  connection.closeSync();
  instance.closeSync();
}

test('a store of version 1 keeps everything, its sequences cut into pieces', async () => {
  const path = join(folder, 'old.duckdb');
  await storeOfVersion1(path);
  await expect(openStore(path, { mode: 'read' })).rejects.toThrow(/was written by an older Turnwise.*ingest/);
  (await openStore(path, { mode: 'write' })).close();
  const store = await openStore(path, { mode: 'read' });
  try {
    for (const table of ['segments', 'scores'] as const) {
      const columns = await queryRows(store, `SELECT column_name FROM (DESCRIBE ${table})`);
      expect(columns.map((c) => c.column_name)).toEqual(TABLES[table].map((c) => c.name));
    }
    const rows = await queryRows(
      store,
      'SELECT episode, segment, piece, len(token_ids)::INTEGER AS n FROM segments',
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      [0, 0, 0, 1024],
      [0, 0, 1, 1024],
      [0, 0, 2, 452],
      [1, 0, 0, 0],
      [2, 0, 0, 3],
    ]);
    const scores = await queryRows(
      store,
      'SELECT policy, turn, piece, len(logprobs)::INTEGER AS n FROM scores',
    );
    expect(scores.map((row) => Object.values(row))).toEqual([
      ['p', null, 0, 1024],
      ['p', null, 1, 1024],
      ['p', null, 2, 452],
      ['q', 0, null, null],
    ]);
    const { tokens } = await loadTrajectories(store, { tokens: true });
    expect([...tokens!.tokenOffsets]).toEqual([0, 2500, 2500, 2503]);
    expect([...tokens!.tokenIds.subarray(0, 2500)]).toEqual(Array.from({ length: 2500 }, (_, k) => k));
    const [version] = await queryRows(store, "SELECT value FROM meta WHERE key = 'turnwise_store_version'");
    expect(version).toEqual({ value: '3' });
    const codes = (await check(store)).findings.map((f) => f.code);
    expect(codes).not.toContain('token-lengths');
  } finally {
    store.close();
  }
});

/** The schema of version 2, written out. */
const VERSION_2 = [
  `CREATE TABLE sources (source INTEGER NOT NULL, path VARCHAR NOT NULL, sha256 VARCHAR NOT NULL, content_sha256 VARCHAR,
    format VARCHAR NOT NULL, bytes BIGINT NOT NULL, episodes INTEGER NOT NULL, turns BIGINT NOT NULL,
    rejects INTEGER NOT NULL, ingested_at TIMESTAMP NOT NULL)`,
  `CREATE TABLE episodes (episode BIGINT NOT NULL, episode_id VARCHAR NOT NULL, source INTEGER NOT NULL, task_id VARCHAR,
    trial INTEGER, policy VARCHAR, version_start VARCHAR, version_end VARCHAR, ending VARCHAR NOT NULL,
    ending_assumed BOOLEAN, reward DOUBLE, rewards JSON, n_turns INTEGER NOT NULL, started_at TIMESTAMP,
    ended_at TIMESTAMP, cost DOUBLE, meta JSON, fenced JSON)`,
  `CREATE TABLE turns (episode BIGINT NOT NULL, turn INTEGER NOT NULL, segment INTEGER, observation VARCHAR,
    action VARCHAR, tool_calls JSON, tool_errors INTEGER, reward DOUBLE, process_reward DOUBLE, behaviour_logprob DOUBLE,
    behaviour_log_propensity DOUBLE, n_action_tokens INTEGER, version VARCHAR, temperature DOUBLE, top_p DOUBLE,
    top_k INTEGER, logprob_kind VARCHAR, action_class VARCHAR, features DOUBLE[])`,
  `CREATE TABLE segments (episode BIGINT NOT NULL, segment INTEGER NOT NULL, token_ids INTEGER[] NOT NULL,
    action_mask BOOLEAN[] NOT NULL, behaviour_logprobs FLOAT[], versions INTEGER[], token_turn INTEGER[], piece INTEGER NOT NULL)`,
  `CREATE TABLE scores (policy VARCHAR NOT NULL, source INTEGER NOT NULL, trained_on JSON NOT NULL, episode BIGINT NOT NULL,
    turn INTEGER, segment INTEGER, logprob DOUBLE, log_propensity DOUBLE, logprobs FLOAT[], logprob_kind VARCHAR, piece INTEGER)`,
  TURN_VALUES_2,
  'CREATE TABLE rejects (source INTEGER NOT NULL, line BIGINT, byte_offset BIGINT, reason VARCHAR NOT NULL, excerpt VARCHAR)',
  'CREATE TABLE censored (episode_id VARCHAR NOT NULL, task_id VARCHAR, lag INTEGER, reason VARCHAR NOT NULL)',
  'CREATE TABLE meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)',
  "INSERT INTO meta VALUES ('turnwise_store_version', '2')",
  "INSERT INTO sources VALUES (0, 'log.jsonl', 'aa', 'bb', 'canonical', 1, 40, 40, 0, TIMESTAMP '2026-01-01')",
  `INSERT INTO episodes (episode, episode_id, source, task_id, ending, n_turns, reward)
    SELECT i, 'e' || i, 0, 't' || i % 10, 'terminated', 1, i // 10 % 2 FROM range(40) t(i)`,
  "INSERT INTO turns (episode, turn, action) SELECT i, 0, 'a' || i % 3 FROM range(40) t(i)",
  "INSERT INTO turn_values SELECT 'ridge', i, 0, 0.75, 0.5, 0.25, i / 8, i > 0 FROM range(40) t(i)",
];

test('a store of version 2 keeps its turn values, named as of unknown origin', async () => {
  const path = join(folder, 'two.duckdb');
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const sql of VERSION_2) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();

  const store = await openStore(path, { mode: 'write' });
  try {
    for (const [table, columns] of Object.entries(TABLES)) {
      const found = await queryRows(store, `SELECT column_name, column_type FROM (DESCRIBE ${table})`);
      expect(found.map((c) => [c.column_name, c.column_type])).toEqual(columns.map((c) => [c.name, c.type]));
    }
    const description = await describe(store);
    const reason =
      'of unknown origin: kept by an older Turnwise, or imported without table "critics"; the store does not say on which episodes it was fitted';
    const message = `critic "ridge": ${reason}; run turnwise credit --save-as ridge again`;
    expect(description.critics).toEqual([
      {
        ...{ critic: 'ridge', values: 40, state: 'unknown', reason },
        ...{ fix: 'run turnwise credit --save-as ridge again', method: null, config: null, policies: null },
        ...{ sources: null, episodes: null, turns: null, fittedAt: null, quality: null, markRule: null },
      },
    ]);
    expect(description.warnings).toContainEqual({ code: 'critic-of-unknown-origin', message });
    await expect(turnValues(store, 'ridge')).rejects.toThrow(message);
    const old = await turnValues(store, 'ridge', { stale: 'warn' });
    expect([...old.delta]).toEqual(Array.from({ length: 40 }, (_, i) => i / 8));
    expect([...old.advantageSe]).toEqual(new Array(40).fill(Number.NaN));
    expect([old.q[0], old.v[0], old.advantage[0]]).toEqual([0.75, 0.5, 0.25]);
    expect([old.supported[0], old.supported[1], old.mark[0]]).toEqual([0, 1, null]);

    await saveTurnValues(store, await runCritic(store, { critic: { placebos: 1 } }));
    expect((await turnValues(store, 'ridge')).critic).toMatchObject({ state: 'current', episodes: 40 });
  } finally {
    store.close();
  }
});
