/*
 * The airline log written as canonical JSON Lines by the second reader, and the same rows as Parquet; and the
 * Open Bandit logs turned into Parquet by the SQL of the README. What is described is what the second reader saw.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingest } from '../../src/ingest/ingest.ts';
import { check } from '../../src/inspect/check.ts';
import { describe as describeStore } from '../../src/inspect/describe.ts';
import type { Description } from '../../src/schema/describe.ts';
import { openStore } from '../../src/store/store.ts';
import { agree } from './agree.ts';
import { LOGS, missing, skipped } from './logs.ts';
import * as raw from './raw-figures.ts';
import { type RawEpisode, readTauBench } from './raw-reader.ts';

const ERROR = { failed: true, worked: false, unknown: null };

const canonical = (e: RawEpisode): object => ({
  episode_id: e.id,
  task_id: e.task,
  trial: e.trial,
  policy: e.policy,
  ending: e.ending,
  reward: e.reward,
  turns: e.turns.map((t) => ({
    observation: t.observation,
    action: t.action,
    tool_calls: t.calls.map((c) => ({
      name: c.tool,
      arguments: JSON.parse(String(c.arguments)),
      result: c.answer,
      error: ERROR[c.outcome],
    })),
  })),
});

async function sql(text: string): Promise<void> {
  const store = await openStore(':memory:', { mode: 'create' });
  try {
    await store.connection.run(text);
  } finally {
    store.close();
  }
}

async function described(format: string, path: string) {
  const store = await openStore(':memory:', { mode: 'create' });
  try {
    const { files } = await ingest(store, [path]);
    expect(files).toMatchObject([{ format, rejects: 0 }]);
    return { told: await describeStore(store), found: (await check(store)).findings };
  } finally {
    store.close();
  }
}

describe.skipIf(missing)(`real logs as canonical lines and as tables${skipped}`, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnwise-log-tables-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('the airline log as JSON Lines and as Parquet: every figure', async () => {
    const episodes = readTauBench(join(LOGS, 'tau-bench/gpt-4o-airline.json'));
    const lines = join(folder, 'airline.jsonl');
    const parquet = join(folder, 'airline.parquet');
    writeFileSync(lines, episodes.map((e) => `${JSON.stringify(canonical(e))}\n`).join(''));
    await sql(
      `COPY (FROM read_json('${lines}', maximum_object_size = 16777216)) TO '${parquet}' (FORMAT parquet)`,
    );
    const both: Description[] = [];
    for (const [format, path] of [
      ['canonical', lines],
      ['parquet', parquet],
    ] as const) {
      const { told, found } = await described(format, path);
      const { theseTasks, ...reward } = raw.rewardFigures(episodes)!;
      agree(told, {
        episodes: 200,
        turns: episodes.reduce((n, e) => n + e.turns.length, 0),
        tasks: new Set(episodes.map((e) => e.task)).size,
        endings: raw.endings(episodes),
        turnsPerEpisode: raw.spread(episodes.map((e) => e.turns.length)),
        tools: raw.toolTable(episodes),
        reward: { ...reward, theseTasks: { se: theseTasks } },
      });
      expect(Object.fromEntries(found.map((f) => [f.code, f.count]))).toEqual(raw.findings(episodes));
      both.push(told);
    }
    const { sources: _, ...asLines } = both[0]!;
    const { sources: __, ...asTable } = both[1]!;
    expect(asTable).toEqual(asLines);
  });

  test.each(['random-men', 'bts-men'])('Open Bandit %s by the SQL of the README', async (name) => {
    const csv = join(LOGS, 'obd', name, 'log.csv');
    const parquet = join(folder, `${name}.parquet`);
    await sql(`COPY (SELECT id::VARCHAR AS episode_id, 'terminated' AS ending,
        [{action_class: item::VARCHAR, behaviour_log_propensity: ln(propensity), reward: click::DOUBLE,
          features: [position::DOUBLE]}] AS turns
      FROM (SELECT column00 AS id, item_id AS item, propensity_score AS propensity, click, position
        FROM read_csv('${csv}', header = true, names = ['column00']))) TO '${parquet}' (FORMAT parquet)`);
    const rows = readFileSync(csv, 'utf8').trim().split('\n').slice(1);
    const cells = rows.map((row) => row.split(',').slice(0, 6));
    const clicks = cells.map((c) => Number(c[4]));
    const propensities = cells.map((c) => Number(c[5]));
    const { told, found } = await described('parquet', parquet);
    const centre = raw.mean(clicks);
    agree(told, {
      episodes: rows.length,
      turns: rows.length,
      tasks: 0,
      endings: { terminated: rows.length, limit: 0, truncated: 0, aborted: 0, unfinished: 0 },
      tools: [],
      reward: {
        mean: centre,
        seNaive: Math.sqrt((centre * (1 - centre)) / rows.length),
        se: Math.sqrt((centre * (1 - centre)) / (rows.length - 1)),
        n: rows.length,
        clusters: rows.length,
        missingTask: rows.length,
      },
    });
    const counts = Object.fromEntries(found.map((f) => [f.code, f.count]));
    const items = new Set(cells.map((c) => c[2])).size;
    const uniform = new Set(propensities).size === 1 && Math.abs(1 / propensities[0]! - items) < 0.01;
    expect(counts).toMatchObject({ 'missing-task': rows.length });
    expect(counts['propensity-uniform'] ?? 0).toBe(uniform ? rows.length : 0);
    expect(Object.keys(counts).filter((code) => /not-finite|positive|partial|constant/.test(code))).toEqual(
      [],
    );
  });
});
