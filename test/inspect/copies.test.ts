import { afterEach, describe, expect, test } from 'vitest';
import { credit } from '../../src/critic/credit.ts';
import { check } from '../../src/inspect/check.ts';
import { checkCopies, copiesIn } from '../../src/inspect/check-copies.ts';
import { EFFECTS, effectOf, NO_EFFECT } from '../../src/inspect/finding-effects.ts';
import { normal, random, uniform } from '../../src/math/random.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import type { Store } from '../../src/store/store.ts';
import { storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});
async function open(episodes: Iterable<EpisodeInput>): Promise<Store> {
  const store = await storeOf(episodes);
  opened.push(store);
  return store;
}

type Turns = EpisodeInput['turns'];
const rollouts = (
  n: number,
  turns: (i: number, u: () => number, rng: ReturnType<typeof random>) => Turns,
  seed = 1,
) =>
  Array.from({ length: n }, (_, i): EpisodeInput => {
    const rng = random(seed, i);
    const u = () => uniform(rng);
    return {
      episode_id: `e${i}`,
      task_id: `t${i}`,
      reward: u() < 0.5 ? 1 : 0,
      turns: turns(i, u, rng),
    };
  });
/** Each of them so many times, under other names and tasks, at other times. */
const copied = (episodes: readonly EpisodeInput[], times: number): EpisodeInput[] =>
  Array.from({ length: times }, (_, k) =>
    episodes.map((e, i) => ({
      ...e,
      episode_id: `${k}/${e.episode_id}`,
      task_id: `${k}/${e.task_id}`,
      started_at: new Date(Date.UTC(2026, 0, 1, k, 0, i)).toISOString(),
    })),
  ).flat();
const text = (u: () => number, words: number) =>
  Array.from({ length: words }, () => `word${Math.floor(u() * 1000)}`).join(' ');

const realFeatures = (_: number, u: () => number, rng: ReturnType<typeof random>): Turns =>
  Array.from({ length: 6 }, () => ({
    action_class: u() < 0.5 ? 'A' : 'B',
    behaviour_log_propensity: -Math.LN2,
    features: [normal(rng)],
  }));
const discrete = (_: number, u: () => number): Turns =>
  Array.from({ length: 4 }, () => ({
    action_class: u() < 0.5 ? 'A' : 'B',
    behaviour_log_propensity: -Math.LN2,
    features: [u() < 0.5 ? 0 : 1],
  }));
const texts = (_: number, u: () => number): Turns =>
  Array.from({ length: 3 }, () => ({ observation: 'the same prompt', action: text(u, 20) }));

describe('copies under other names are found', () => {
  test.each([
    ['rollouts of real-valued features, 8 times', copied(rollouts(150, realFeatures), 8), 1050, 8],
    [
      'half of them twice',
      [...rollouts(300, realFeatures), ...copied(rollouts(300, realFeatures), 1).slice(0, 150)],
      150,
      5 / 3,
    ],
    ['texts without probabilities, 3 times', copied(rollouts(40, texts), 3), 80, 3],
  ] as const)('%s', async (_, episodes, extra, inflation) => {
    const store = await open(episodes);
    const found = (await copiesIn(store))!;
    expect(found.extra).toBe(extra);
    // Σ k²/n of the groups.
    expect(found.inflation).toBeCloseTo(inflation, 10);
    const [finding] = await checkCopies(store);
    expect(finding).toMatchObject({ code: 'copied-episode', severity: 'error', count: extra });
    expect(finding!.examples[0]!.value).toMatch(/^like (0\/)?e0$/);
  });
});

describe('rollouts that are alike by chance are not copies', () => {
  test.each([
    ['two actions, one binary feature, four turns', rollouts(1200, discrete)],
    [
      'one turn of two actions without a state',
      rollouts(500, (_, u) => [{ action_class: u() < 0.5 ? 'A' : 'B', behaviour_log_propensity: -Math.LN2 }]),
    ],
    [
      'one turn that pays what the action says',
      rollouts(500, (_, u) => {
        const a = u() < 0.9;
        return [
          {
            action_class: a ? 'A' : 'B',
            behaviour_log_propensity: Math.log(a ? 0.9 : 0.1),
            reward: a ? 1 : 0,
          },
        ];
      }),
    ],
    [
      'the same prompt and other answers',
      rollouts(200, (_, u) => [{ observation: 'the same prompt', action: text(u, 30) }]),
    ],
    ['simulated agents', [...simulateToolAgent({ tasks: 200, episodes: 2000, seed: 0 })]],
    [
      'a deterministic policy on the same task, as at temperature 0',
      rollouts(100, () => [{ action: 'a '.repeat(300), behaviour_logprob: 0 }]).map((e) => ({
        ...e,
        task_id: 't',
        reward: 1,
      })),
    ],
  ] as const)('%s', async (_, episodes) => {
    expect(await copiesIn(await open(episodes))).toBeNull();
  });

  test('copies within a task are a note: their cluster is one', async () => {
    const episodes = copied(rollouts(30, texts), 2).map((e) => ({ ...e, task_id: e.task_id!.slice(2) }));
    const { findings } = await check(await open(episodes));
    expect(findings.map((f) => f.code)).not.toContain('copied-episode');
    for (const { code, severity } of findings)
      if (code.startsWith('duplicate')) expect([code, severity]).toEqual([code, 'note']);
  });
});

test('every finding of check has an effect on a verdict, or a reason why it has none', async () => {
  const { checks } = await check(await open([]));
  const known = [...Object.keys(EFFECTS), ...Object.keys(NO_EFFECT)];
  expect(new Set(known).size).toBe(known.length);
  expect([...checks].sort()).toEqual(known.sort());
});

test('what is known to be wrong is never above what is unknown', () => {
  // An unknown kind of log-probability is weak.
  expect(effectOf('logprob-raw-of-other-sampling', 1, 'logprob')).toBe('refused');
  expect(effectOf('logprob-raw-of-other-sampling', 1e-6, 'logprob')).toBe('weak');
  expect(effectOf('logprob-raw-of-other-sampling', 1, 'log_propensity')).toBe('nothing');
  expect(effectOf('reward-twice', 0.5, 'log_propensity')).toBe('weak');
  expect(effectOf('turn-order', 1e-9, 'logprob')).toBe('refused');
  expect(effectOf('tool-error-unknown', 1, 'logprob')).toBe('nothing');
});

test('credit marks nothing where copies lie in other folds, and says why', async () => {
  // The action decides the reward.
  const episodes = rollouts(60, (_, u, rng) => [
    { action_class: u() < 0.5 ? 'A' : 'B', behaviour_log_propensity: -Math.LN2, features: [normal(rng)] },
  ]).map((e, i) => ({ ...e, task_id: `t${i % 12}`, reward: e.turns[0]!.action_class === 'A' ? 1 : 0 }));
  const alone = await credit(await open(episodes));
  expect(alone.actions.some((a) => a.mark !== null)).toBe(true);
  const twice = await credit(await open(copied(episodes, 4)));
  expect(twice.actions.map((a) => a.mark)).toEqual(twice.actions.map(() => null));
  expect(twice.warnings[0]).toMatchObject({ code: 'copied-episodes', count: 180 });
});
