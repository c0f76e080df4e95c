import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { auditStore } from '../../src/audit/audit-store.ts';
import { auditTarget } from '../../src/audit/audit-target.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { Store } from '../../src/store/store.ts';
import { holdsStandIn } from '../../src/weights/stand-in.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

/** Ten tasks, two episodes of two turns each; turn 1 of e7 is changed. Log-probabilities by turn or by token. */
const logs = (by: 'turn' | 'token' | 'class', bad: number): EpisodeInput[] =>
  Array.from({ length: 20 }, (_, i) => {
    const value = (k: number) => (i === 7 && k === 1 ? bad : -0.5 - k / 4);
    const turn = (k: number) => ({
      action_class: 'a',
      logprob_kind: 'raw' as const,
      ...(by === 'turn' ? { behaviour_logprob: value(k) - 0.4, n_action_tokens: 2 } : {}),
      ...(by === 'class' ? { behaviour_log_propensity: value(k) } : {}),
    });
    const segments =
      by === 'token'
        ? [
            {
              token_ids: [1, 2, 3, 4],
              action_mask: [true, true, true, true],
              behaviour_logprobs: [value(0), -0.4, value(1), -0.4],
              token_turn: [0, 0, 1, 1],
            },
          ]
        : [];
    return { episode_id: `e${i}`, task_id: `t${i % 10}`, reward: i % 2, turns: [turn(0), turn(1)], segments };
  });

const file = join(mkdtempSync(join(tmpdir(), 'turnwise-')), 'p.json');
writeFileSync(
  file,
  JSON.stringify({ policy: 'p', trained_on: 'none', rules: [{ probabilities: { a: 1 } }] }),
);

test.each([
  ['token', -9999],
  ['token', -1e30],
  ['turn', -9999],
  ['turn', -1e308],
  ['class', -9999],
  ['class', -1e308],
] as const)('a stand-in by %s, %d: the audit names episode and turn, loaded and scanned', async (by, bad) => {
  const store = await storeOf(logs(by, bad));
  opened.push(store);
  if (by !== 'class')
    await plant(
      store,
      `INSERT INTO scores (policy, source, trained_on, episode, turn, logprob, logprob_kind)
       SELECT 'q', 0, '"none"', episode, turn, -1, 'raw' FROM turns`,
    );
  const target = by === 'class' ? file : 'q';
  const said =
    /episode e7 turn 1, column behaviour_log(prob|_propensity): holds a stand-in for no probability/;
  await expect(auditTarget(store, target)).rejects.toThrow(said);
  await expect(auditStore(store, [target], { threads: 1 })).rejects.toThrow(said);
  const sound = await storeOf(logs(by, -3));
  opened.push(sound);
  if (by === 'class') expect((await auditTarget(sound, target)).weights).not.toBeNull();
});

test('long turns have small sums by right', () => {
  // 20,000 tokens at −1 nat are no stand-in; −9999 among a hundred tokens is.
  expect(holdsStandIn(-20_000, 20_000)).toBe(false);
  expect(holdsStandIn(-20_000, -1)).toBe(false);
  expect(holdsStandIn(-9999 - 100, 100)).toBe(true);
  expect(holdsStandIn(-9999.4, 2)).toBe(true);
  expect(holdsStandIn(-1e308, -1)).toBe(true);
  expect(holdsStandIn(-Infinity, 5)).toBe(true);
  expect(holdsStandIn(Number.NaN, 5)).toBe(false);
});
