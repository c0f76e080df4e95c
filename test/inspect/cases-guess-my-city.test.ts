import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { describe } from '../../src/inspect/describe.ts';
import known from '../fixtures/ope-known-answers.json' with { type: 'json' };
import { storeOf } from '../helpers/store.ts';

interface Dialogue {
  readonly conversation: readonly string[];
  readonly done: boolean;
  readonly word: string;
}
const cities = resolve(import.meta.dirname, '../../../shared/logs/archer/guess_my_city.json');
const near = (got: number | null, want: number) =>
  expect(Math.abs(got! - want), `${got} against ${want}`).toBeLessThanOrEqual(1e-12);

test.skipIf(!existsSync(cities))(
  'guess my city: dialogues, tasks, turns, and successes with both standard errors (skipped: ../shared is not here)',
  async () => {
    const want = known.guess_my_city;
    const dialogues: Dialogue[] = JSON.parse(readFileSync(cities, 'utf8'));
    const store = await storeOf(
      dialogues.map(({ conversation, done, word }, i) => ({
        episode_id: `e${i}`,
        task_id: word,
        reward: done ? 1 : 0,
        ending: done ? ('terminated' as const) : ('limit' as const),
        turns: conversation.map((action) => ({ action })),
      })),
    );
    const d = await describe(store);
    store.close();
    expect([d.episodes, d.tasks, d.turns]).toEqual([want.episodes, want.tasks, want.turns]);
    near(d.reward!.mean, want.success);
    near(d.reward!.seNaive, want.se_naive);
    near(d.reward!.se, want.se_task_clustered);
    expect([d.turnsPerEpisode!.min, d.turnsPerEpisode!.max]).toEqual([want.turns_min, want.turns_max]);
  },
);
