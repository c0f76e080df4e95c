import { once } from 'node:events';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryRows } from '../../src/store/query.ts';
import { openStore } from '../../src/store/store.ts';
import { type BuiltCli, buildCli } from './built-cli.ts';

const FILES = 4;
const EPISODES = [900, 1300, 700, 1100];
const KILLS = 20;

let cli: BuiltCli;
beforeAll(() => {
  cli = buildCli();
  for (let f = 0; f < FILES; f++) {
    const lines = Array.from({ length: EPISODES[f]! }, (_, k) => JSON.stringify(episode(`f${f}-${k}`)));
    writeFileSync(join(cli.folder, `f${f}.jsonl`), `${lines.join('\n')}\n`);
  }
});
afterAll(() => cli.remove());

/** Some 8 kB, so that a file takes long enough to be hit. */
function episode(episode_id: string) {
  const n = 600;
  const token_ids = Array.from({ length: n }, (_, i) => (i * 7919) % 50000);
  return {
    episode_id,
    reward: 1,
    turns: [{ action: 'a'.repeat(300) }, { action: 'b' }],
    segments: [
      {
        token_ids,
        action_mask: token_ids.map((_, i) => i % 3 > 0),
        behaviour_logprobs: token_ids.map((id, i) => (i % 3 > 0 ? -(id + 1) / 50001 : null)),
      },
    ],
  };
}

/** Moments from a fixed sequence: the same every run, though not the same place in the work. */
function* moments(seed: number): Generator<number> {
  for (let x = seed; ; ) yield (x = (x * 48271) % 2147483647) / 2147483647;
}

/** Files the store holds whole; fails where a file is there in part, or a row has no source. */
async function wholeFiles(store: string): Promise<string[]> {
  const open = await openStore(store, { mode: 'read' });
  try {
    const sources = await queryRows(
      open,
      `SELECT s.path, s.episodes, s.turns,
         (SELECT count(*) FROM episodes e WHERE e.source = s.source) AS found,
         (SELECT count(*) FROM turns t JOIN episodes e USING (episode) WHERE e.source = s.source) AS found_turns,
         (SELECT count(*) FROM segments g JOIN episodes e USING (episode) WHERE e.source = s.source) AS found_segments,
       FROM sources s ORDER BY s.path`,
    );
    for (const s of sources) {
      const expected = EPISODES[Number(/f(\d)/.exec(s.path as string)![1])]!;
      expect(s).toMatchObject({ episodes: expected, turns: 2 * expected });
      expect(s).toMatchObject({ found: expected, found_turns: 2 * expected, found_segments: expected });
    }
    const [all] = await queryRows(
      open,
      `SELECT (SELECT count(*) FROM episodes) AS episodes, (SELECT count(*) FROM turns) AS turns,
         (SELECT count(*) FROM segments) AS segments`,
    );
    const episodes = sources.reduce((n, s) => n + (s.episodes as number), 0);
    expect(all).toEqual({ episodes, turns: 2 * episodes, segments: episodes });
    return sources.map((s) => s.path as string);
  } finally {
    open.close();
  }
}

const remove = (store: string) => {
  for (const suffix of ['', '.wal', '.tmp']) rmSync(store + suffix, { recursive: true, force: true });
};

test(`killed at ${KILLS} moments, the store holds whole files only, and a second run completes it`, async () => {
  const store = join(cli.folder, 'killed.duckdb');
  const args = ['ingest', 'f*.jsonl', '--store', store];
  const started = performance.now();
  expect(cli.run(args).code).toBe(0);
  const wholeRun = performance.now() - started;
  expect(await wholeFiles(store)).toHaveLength(FILES);
  remove(store);

  const counts: number[] = [];
  const draw = moments(20240229);
  for (let k = 0; k < KILLS; k++) {
    const child = cli.start(args);
    // From the first row on: before that there is nothing to hit.
    while (!existsSync(store) && child.exitCode === null) await sleep(2);
    await sleep(draw.next().value! * 0.7 * wholeRun);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    counts.push(existsSync(store) && statSync(store).size > 0 ? (await wholeFiles(store)).length : 0);
    // Every other time the next run goes on with what this one left; at the end it must be complete.
    if (k % 2 === 1) {
      expect(cli.run(args).code).toBe(0);
      expect(await wholeFiles(store)).toEqual(EPISODES.map((_, f) => `f${f}.jsonl`));
      remove(store);
    }
  }
  // The moments must have hit different stages, or the test shows nothing.
  expect(new Set(counts).size).toBeGreaterThan(2);
  expect(counts.filter((n) => n < FILES).length).toBeGreaterThan(KILLS / 4);
});
