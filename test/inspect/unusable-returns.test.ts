import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { auditStore } from '../../src/audit/audit-store.ts';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { credit } from '../../src/critic/credit.ts';
import { check } from '../../src/inspect/check.ts';
import { compare } from '../../src/inspect/compare.ts';
import { describe } from '../../src/inspect/describe.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { Warning } from '../../src/schema/warning.ts';
import type { Store } from '../../src/store/store.ts';
import { loadTrajectories } from '../../src/trajectories/load.ts';
import { episodeReturn } from '../../src/trajectories/return.ts';
import { uniform } from '../helpers/agent-turns.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

const target = join(mkdtempSync(join(tmpdir(), 'turnwise-')), 'p.json');
writeFileSync(
  target,
  JSON.stringify({
    policy: 'p',
    trained_on: 'none',
    rules: [{ probabilities: { a: 0.6, b: 0.4 } }],
  }),
);

/** 120 episodes of two turns in 30 tasks, under A and B; `bad` changes the one named e50. */
function logs(bad: (e: EpisodeInput) => EpisodeInput, without = false): EpisodeInput[] {
  const u = uniform(3);
  const all = Array.from({ length: 120 }, (_, i): EpisodeInput => {
    const turns = [0, 1].map((k) => {
      const action_class = u() < 0.5 ? 'a' : 'b';
      const reward = u() < (action_class === 'a' ? 0.7 : 0.3) ? 1 : 0;
      return { action_class, behaviour_log_propensity: -Math.LN2, features: [k], reward };
    });
    const e: EpisodeInput = {
      episode_id: `e${i}`,
      task_id: `t${i % 30}`,
      policy: i < 60 ? 'A' : 'B',
      ending: 'terminated',
      reward: u() < 0.5 ? 1 : 0,
      turns,
    };
    return i === 50 ? bad(e) : e;
  });
  return without ? all.filter((e) => e.episode_id !== 'e50') : all;
}

const turnReward =
  (turn: number, r: number) =>
  (e: EpisodeInput): EpisodeInput => ({
    ...e,
    turns: e.turns.map((t, k) => (k === turn ? { ...t, reward: r } : t)),
  });
const same = (e: EpisodeInput): EpisodeInput => e;

/** What is wrong with e50, what `check` calls it, and at which turn. */
const cases: readonly [string, (e: EpisodeInput) => EpisodeInput, string | null, string, number | null][] = [
  ['a reward of 1.7e308', (e) => ({ ...e, reward: 1.7e308 }), null, 'reward-not-finite', null],
  ['a turn reward of −1e200', turnReward(1, -1e200), null, 'turn-reward-not-finite', 1],
  [
    'a sum that overflows',
    (e) => turnReward(0, 1.1e308)({ ...e, reward: 1.1e308 }),
    null,
    'turn-reward-not-finite',
    0,
  ],
  [
    'large rewards that cancel',
    (e) => turnReward(1, -1e150)({ ...e, reward: 1e150 }),
    null,
    'turn-reward-not-finite',
    1,
  ],
  [
    'a sum beyond the limit of rewards within it',
    (e) => turnReward(1, 9e99)({ ...e, reward: 9e99 }),
    null,
    'return-not-finite',
    null,
  ],
  [
    'NaN in the store',
    same,
    "UPDATE episodes SET reward = 'nan' WHERE episode_id = 'e50'",
    'reward-not-finite',
    null,
  ],
  [
    '−∞ at a turn',
    same,
    "UPDATE turns SET reward = '-infinity'::DOUBLE WHERE turn = 1 AND episode = 50",
    'turn-reward-not-finite',
    1,
  ],
  [
    'NaN at a turn',
    same,
    "UPDATE turns SET reward = 'nan' WHERE turn = 1 AND episode = 50",
    'turn-reward-not-finite',
    1,
  ],
];

const named = (warnings: readonly Warning[]) => warnings.find((w) => w.code === 'return-not-finite');

test.each(cases)(
  '%s: named by check and left out everywhere, as if it had not been logged',
  async (_, bad, sql, code, turn) => {
    const store = await storeOf(logs(bad));
    const clean = await storeOf(logs(same, true));
    opened.push(store, clean);
    if (sql) await plant(store, sql);

    const finding = (await check(store)).findings.find((f) => f.code === code)!;
    expect(finding).toMatchObject({ severity: 'error', count: 1 });
    expect(finding.examples[0]).toMatchObject({ episode: 'e50', turn });

    const d = await describe(store);
    const wanted = (await describe(clean)).reward!;
    expect(d.reward).toMatchObject({ mean: wanted.mean, se: wanted.se, n: 119, nonFinite: 1 });

    const both = await compare(store, 'A', 'B');
    expect(both.outcomes[0]!.difference).toEqual((await compare(clean, 'A', 'B')).outcomes[0]!.difference);
    expect(both.outcomes[0]!.a).toMatchObject({ n: 59, invalid: 1 });

    const config = { critic: { placebos: 1 } };
    const c = await credit(store, config);
    const cleanCredit = await credit(clean, config);
    expect(c.excluded).toMatchObject({ returnNotFinite: 1, withoutReward: 0 });
    expect(c.heldOut.rmse).toBe(cleanCredit.heldOut.rmse);

    const loaded = await auditTarget(store, target);
    const [scanned] = await auditStore(store, [target], { threads: 1 });
    const other = await auditTarget(clean, target);
    for (const a of [loaded, scanned!]) {
      expect(a.evaluation!.episodes).toMatchObject({ used: 119, withoutReturn: 1 });
      for (const name of ['IS', 'WIS', 'WPDIS carried']) {
        const value = (x: typeof a) => x.evaluation!.estimates.find((e) => e.estimator === name)!.value!;
        expect(value(a)).toBeCloseTo(value(other), 12);
      }
    }
    for (const warnings of [d.warnings, both.warnings, c.warnings, loaded.warnings, scanned!.warnings]) {
      expect(named(warnings)).toMatchObject({ count: 1, episode: 'e50' });
      expect(named(warnings)!.turn).toBe(turn ?? undefined);
    }
  },
);

test('within 1e100 in size a reward counts as it is; an aborted episode is out whatever it holds', async () => {
  const store = await storeOf([
    { episode_id: 'large', task_id: 'a', reward: 1e100, turns: [{}] },
    { episode_id: 'none', task_id: 'b', reward: null, turns: [{ reward: null }] },
    { episode_id: 'aborted', task_id: 'c', ending: 'aborted', reward: 1e300, turns: [{}] },
    { episode_id: 'beyond', task_id: 'd', reward: -1.01e100, turns: [{}] },
  ]);
  opened.push(store);
  const d = await describe(store);
  expect(d.reward).toMatchObject({ n: 1, mean: 1e100, aborted: 1, withoutReward: 1, nonFinite: 1 });
  expect([...episodeReturn(await loadTrajectories(store))]).toEqual([1e100, NaN, NaN, NaN]);
  expect(named(d.warnings)).toMatchObject({ count: 1, episode: 'beyond' });
});
