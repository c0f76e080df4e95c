import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { episodeCredits, runCritic } from '../../src/critic/credit.ts';
import { saveTurnValues } from '../../src/critic/save-values.ts';
import { turnValues } from '../../src/critic/turn-values.ts';
import { ingest } from '../../src/ingest/ingest.ts';
import { describe } from '../../src/inspect/describe.ts';
import { savedCritics, staleWarnings } from '../../src/inspect/saved-critics.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { SavedCritic } from '../../src/schema/saved-critic.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import { queryRows } from '../../src/store/query.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { plant } from '../helpers/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-saved-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORLD: EpisodeInput[] = [...simulateToolAgent({ tasks: 20, episodes: 200, seed: 3 })];
const critic = { placebos: 1 };
const named = (policy: string, from: number, to: number) =>
  WORLD.slice(from, to).map((e) => ({ ...e, policy }));

let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:', { mode: 'create' });
  return () => store.close();
});

let logs = 0;
async function add(episodes: readonly EpisodeInput[], rewards?: string): Promise<string> {
  const path = join(folder, `${logs++}.jsonl`);
  writeFileSync(path, episodes.map((e) => `${JSON.stringify(e)}\n`).join(''));
  await ingest(store, [path], { rewards });
  return path;
}

async function save(label?: string, policies?: readonly string[], ngrams?: number): Promise<number> {
  return saveTurnValues(store, await runCritic(store, { critic, policies, ngrams }), label);
}

const states = async () => (await savedCritics(store)).map((c) => [c.critic, c.state]);
const messages = async () => staleWarnings(await savedCritics(store)).map((w) => w.message);

test('a critic knows its method, configuration, files, time and quality', async () => {
  const path = await add(WORLD.slice(0, 150));
  await add(WORLD.slice(150));
  const before = Date.now();
  const run = await runCritic(store, { critic: { ...critic, lambda: 3 }, ngrams: 16 });
  const turns = await saveTurnValues(store, run, 'stiff');
  const [c, ...others] = await savedCritics(store);
  expect(others).toEqual([]);
  expect(SavedCritic.parse(c)).toMatchObject({
    critic: 'stiff',
    state: 'current',
    reason: null,
    method: 'ridge backward induction, cross-fitted by task',
    config: { name: 'stiff', lambda: 3, folds: 5, seed: 0, ngrams: 16 },
    policies: null,
    episodes: 200,
    turns,
    values: turns,
    quality: { rmse: run.fit.report.heldOut.rmse, r2: run.fit.report.heldOut.r2 },
  });
  const files = await queryRows(store, 'SELECT path, sha256, episodes FROM sources ORDER BY source');
  expect(c!.sources).toEqual(files);
  expect(c!.sources![0]).toMatchObject({ path, episodes: 150 });
  expect(c!.markRule).toMatch(/^(Marked by A|No turn is marked)/);
  // Seconds are cut.
  expect(Date.parse(c!.fittedAt!)).toBeGreaterThan(before - 1001);
  expect(Date.parse(c!.fittedAt!)).toBeLessThanOrEqual(Date.now());
  expect((await describe(store)).critics).toEqual([c]);
});

test('turn values are those of the critic, with errors and marks', async () => {
  // The state and the action both matter: turns with A are marked helpful, those with B harmful.
  const effect = Array.from({ length: 600 }, (_, i): EpisodeInput => {
    const hard = i % 2;
    const act = (i >> 4) % 2 === 0 ? 'A' : 'B';
    const tenths = (hard ? 0 : 4) + (act === 'A' ? 6 : 0);
    return {
      episode_id: `x${i}`,
      task_id: `t${i % 50}`,
      ending: 'terminated',
      reward: (i * 7919) % 10 < tenths ? 1 : 0,
      turns: [{ observation: 'go', action: act, action_class: act, features: [hard] }],
    };
  });
  await add(effect);
  const run = await runCritic(store, { critic });
  await saveTurnValues(store, run);
  const kept = await turnValues(store, 'ridge');
  const turns = [...episodeCredits(run)].flatMap((e) => e.turns.map((k) => ({ ...k, id: e.episode })));
  const ids = (await queryRows(store, 'SELECT episode_id FROM episodes ORDER BY episode')).map(
    (r) => r.episode_id,
  );
  expect(kept.warnings).toEqual([]);
  expect(new Set(kept.mark)).toEqual(new Set(['helpful', 'harmful']));
  expect(kept.q).toHaveLength(turns.length);
  for (const [s, k] of turns.entries()) {
    expect([ids[kept.episode[s]!], kept.turn[s], kept.q[s], kept.v[s], kept.advantage[s]]).toEqual([
      k.id,
      k.turn,
      k.q,
      k.v,
      k.advantage,
    ]);
    expect([kept.advantageSe[s], kept.delta[s], kept.supported[s] === 1, kept.mark[s]]).toEqual([
      k.advantageSe ?? Number.NaN,
      k.delta,
      k.supported,
      k.mark,
    ]);
  }
  const [row] = await queryRows(
    store,
    'SELECT count(*) FILTER (isnan(advantage_se)) AS nan, count(advantage_se) AS known FROM turn_values',
  );
  expect(row).toEqual({ nan: 0, known: turns.filter((k) => k.advantageSe !== null).length });
});

test('stale once episodes are added, current after the same file again and after another credit', async () => {
  const first = await add(WORLD.slice(0, 120));
  await save('ridge');
  await ingest(store, [first]);
  expect(await states()).toEqual([['ridge', 'current']]);
  const kept = await turnValues(store, 'ridge');
  const t = await loadTrajectories(store);
  expect([...kept.turn]).toEqual([...t.turns.turn]);
  expect([...kept.episode]).toEqual(
    Array.from(t.index).flatMap((e) => new Array(t.episodeOffsets[e + 1]! - t.episodeOffsets[e]!).fill(e)),
  );

  // Of what is not finished the critic takes nothing.
  await add([{ ...WORLD[120]!, episode_id: 'cut', ending: 'truncated' }]);
  expect(await states()).toEqual([['ridge', 'current']]);

  await add(WORLD.slice(120, 200));
  const message =
    'critic "ridge": fitted on 120 finished episodes, the store now holds 200; run turnwise credit --save-as ridge again';
  expect(await messages()).toEqual([message]);
  expect((await describe(store)).warnings).toContainEqual({ code: 'stale-critic', message });
  await expect(turnValues(store, 'ridge')).rejects.toMatchObject({ exitCode: 1, message });
  const read = await turnValues(store, 'ridge', { stale: 'warn' });
  expect(read.warnings).toEqual([{ code: 'stale-critic', message }]);
  expect(read.q.length).toBe(read.critic.turns);

  await save('ridge');
  expect(await states()).toEqual([['ridge', 'current']]);
  await expect(turnValues(store, 'other')).rejects.toMatchObject({
    exitCode: 2,
    message:
      'critic "other": is not in the store, expected "ridge". Keep one with "turnwise credit --save-as NAME".',
  });
});

test('stale once rewards are joined to episodes that were fitted with others, or without', async () => {
  const unpaid = WORLD.slice(0, 100).map((e) => ({
    ...e,
    turns: e.turns.map((turn) => ({ ...turn, reward: null })),
    reward: null,
    ending: undefined,
  }));
  const log = await add([...unpaid, ...WORLD.slice(100)]);
  await save();
  const rewards = join(folder, 'rewards.jsonl');
  writeFileSync(rewards, unpaid.map((e) => `{"episode_id":"${e.episode_id}","reward":1}\n`).join(''));
  await ingest(store, [log], { rewards });
  expect(await messages()).toEqual([
    'critic "ridge": fitted on 100 finished episodes, the store now holds 200; run turnwise credit --save-as ridge again',
  ]);
  await save();
  expect(await messages()).toEqual([]);
  // As many and the same episodes, one of them scored otherwise.
  await plant(store, 'UPDATE episodes SET reward = 0 WHERE episode = 7');
  expect(await messages()).toEqual([
    'critic "ridge": fitted on 200 finished episodes, whose rewards, tasks or turns have changed since in the store; run turnwise credit --save-as ridge again',
  ]);
  await plant(
    store,
    "UPDATE episodes SET reward = 1 WHERE episode = 7; UPDATE episodes SET episode_id = 'z' WHERE episode = 7",
  );
  expect(await messages()).toEqual([
    'critic "ridge": fitted on 200 finished episodes, the store now holds as many, under other names; run turnwise credit --save-as ridge again',
  ]);
});

test('several critics, each of its own policies; one whose values are lost in part', async () => {
  await add([...named('old', 0, 80), ...named('new', 80, 160)]);
  await save('all');
  await save('old', ['old']);
  await save('my critic', ['new'], 0);
  expect(await states()).toEqual([
    ['all', 'current'],
    ['my critic', 'current'],
    ['old', 'current'],
  ]);
  await add(named('new', 160, 200));
  expect(await messages()).toEqual([
    'critic "all": fitted on 160 finished episodes, the store now holds 200; run turnwise credit --save-as all again',
    'critic "my critic": fitted on 80 finished episodes of new, the store now holds 120; run turnwise credit --save-as \'my critic\' --policy new again',
  ]);
  await save('all');
  const { critic: old } = await turnValues(store, 'old');
  await plant(store, "DELETE FROM turn_values WHERE critic = 'old' AND episode = 0 AND turn = 0");
  const n = old.turns!;
  expect((await messages())[1]).toBe(
    `critic "old": holds ${n - 1} of its ${n} turn values; run turnwise credit --save-as old --policy old again`,
  );
});

test('episodes that come between the fit and the keeping of its values make them stale', async () => {
  await add(WORLD.slice(0, 120));
  const run = await runCritic(store, { critic });
  await add(WORLD.slice(120));
  await saveTurnValues(store, run);
  expect(await states()).toEqual([['ridge', 'stale']]);
});

test.each(['critics', 'turn_values'])(
  'a failure at table %s leaves what was there, in both tables',
  async (table) => {
    await add(WORLD.slice(0, 120));
    await save('ridge');
    const both = async () => [
      await queryRows(store, 'SELECT * FROM critics'),
      await queryRows(store, 'SELECT * FROM turn_values'),
    ];
    const before = await both();
    await add(WORLD.slice(120));
    const run = await runCritic(store, { critic: { ...critic, lambda: 9 } });
    const make = store.connection.createAppender.bind(store.connection);
    store.connection.createAppender = (name: string) => {
      if (name === table) throw new Error('the disk is full');
      return make(name);
    };
    await expect(saveTurnValues(store, run, 'ridge')).rejects.toThrow('the disk is full');
    await expect(saveTurnValues(store, run, 'another')).rejects.toThrow('the disk is full');
    store.connection.createAppender = make;
    expect(await both()).toEqual(before);
    await saveTurnValues(store, run, 'ridge');
    expect(await states()).toEqual([['ridge', 'current']]);
  },
);

test('a name that a shell or a terminal would read otherwise stays one name on one line', async () => {
  await add(WORLD.slice(0, 120));
  await save("$(date) 'x'\nwarning: none");
  await add(WORLD.slice(120));
  expect(await messages()).toEqual([
    `critic "$(date) 'x'\\nwarning: none": fitted on 120 finished episodes, the store now holds 200; run turnwise credit --save-as '$(date) '\\''x'\\''\\nwarning: none' again`,
  ]);
});
