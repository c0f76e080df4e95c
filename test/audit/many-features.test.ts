import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { auditStore } from '../../src/audit/audit-store.ts';
import { auditTarget } from '../../src/audit/audit-target.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { Store } from '../../src/store/store.ts';
import { storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

/** A linear congruential generator, so that the figures do not hang on the code under test. */
function uniform(): () => number {
  let seed = 11;
  const next = () => (seed = (16807 * seed) % 2147483647) / 2147483647;
  for (let i = 0; i < 10; i++) next();
  return next;
}

/** K features, of which the first is drawn and the last is always 1; the others are 0. */
async function logs(K: number, played: (f0: number, u: () => number) => [string, number, number]) {
  const u = uniform();
  const episodes = Array.from({ length: 2000 }, (_, i): EpisodeInput => {
    const f0 = u() < 0.5 ? 0 : 1;
    const [action_class, b, reward] = played(f0, u);
    const features = [f0, ...Array.from({ length: K - 2 }, () => 0), 1];
    return {
      episode_id: `e${i}`,
      task_id: `t${i % 200}`,
      ending: 'terminated',
      turns: [{ action_class, behaviour_log_propensity: Math.log(b), features, reward }],
    };
  });
  const store = await storeOf(episodes);
  opened.push(store);
  return store;
}

function policy(K: number, rules: readonly object[]): string {
  const path = join(mkdtempSync(join(tmpdir(), 'turnwise-')), 'p.json');
  // Never applies, and names both values of every feature: cells are as fine as they can be.
  const when = Object.fromEntries(Array.from({ length: K }, (_, k) => [`features.${k}`, [0, 1]]));
  const first = { when: { ...when, turn: 99 }, probabilities: { x: 0.5, y: 0.5 } };
  writeFileSync(path, JSON.stringify({ policy: 'p', trained_on: 'none', rules: [first, ...rules] }));
  return path;
}

/** Where f0 = 1 the logs show x alone, and the target takes y there with probability .02. */
test.each([20, 34, 40, 64])(
  '%i features: what the logs never show there is found, loaded and scanned',
  async (K) => {
    let ones = 0;
    const store = await logs(K, (f0, u) => {
      ones += f0;
      const a = f0 === 1 || u() < 0.5 ? 'x' : 'y';
      return [a, f0 === 1 ? 1 : 0.5, u() < 0.5 ? 1 : 0];
    });
    const target = policy(K, [
      { when: { 'features.0': 0 }, probabilities: { x: 0.8, y: 0.2 } },
      { probabilities: { x: 0.98, y: 0.02 } },
    ]);
    for (const audit of [await auditTarget(store, target), (await auditStore(store, [target]))[0]!]) {
      expect(audit.verdict).toBe('weak');
      expect(audit.unsupported!.mass).toBeCloseTo((0.02 * ones) / 2000, 12);
      expect(audit.unsupported!.cells.map((c) => c.actions)).toEqual([['y']]);
    }
  },
);

/** The target takes what pays in each state; its value is 1. */
test.each([20, 40, 100])('%i features: the tabular Q tells the states apart', async (K) => {
  const store = await logs(K, (f0, u) => {
    const a = u() < 0.5 ? 'x' : 'y';
    return [a, 0.5, a === (f0 === 0 ? 'x' : 'y') ? 1 : 0];
  });
  const target = policy(K, [
    { when: { 'features.0': 0 }, probabilities: { x: 1 } },
    { probabilities: { y: 1 } },
  ]);
  const audit = await auditTarget(store, target);
  const dm = audit.evaluation!.estimates.find((e) => e.estimator === 'DM')!;
  expect(dm.value).toBeCloseTo(1, 12);
});
