import { fc, test as property } from '@fast-check/vitest';
import { afterEach, expect, test } from 'vitest';
import { compare } from '../../src/inspect/compare.ts';
import { random, uniform } from '../../src/math/random.ts';
import { type CompareConfigInput, Comparison, type OutcomeComparison } from '../../src/schema/compare.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { simulateToolAgent } from '../../src/simulate/tool-agent.ts';
import type { Store } from '../../src/store/store.ts';
import { plant, storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});
async function compared(
  episodes: Iterable<EpisodeInput>,
  config: CompareConfigInput = {},
  sql?: string,
): Promise<Comparison> {
  const store = await storeOf(episodes);
  opened.push(store);
  if (sql) await plant(store, sql);
  return Comparison.parse(await compare(store, 'A', 'B', config));
}
const refused = (episodes: Iterable<EpisodeInput>, config: CompareConfigInput = {}) =>
  compared(episodes, config).then(
    () => {
      throw new Error('was accepted');
    },
    (e) => ({ code: e.exitCode as number, message: e.message as string }),
  );

let next = 0;
const episode = (
  policy: string,
  task: string | null,
  reward: number | null,
  more: Partial<EpisodeInput> = {},
): EpisodeInput => ({ episode_id: `e${next++}`, policy, task_id: task, reward, turns: [{}], ...more });

/** Rewards of A and of B, task by task. */
type Grid = readonly (readonly [readonly number[], readonly number[]])[];
const grid = (rewards: Grid): EpisodeInput[] =>
  rewards.flatMap(([a, b], c) => [
    ...a.map((r) => episode('A', `t${c}`, r)),
    ...b.map((r) => episode('B', `t${c}`, r)),
  ]);
const codes = (c: Comparison): string[] => c.warnings.map((w) => w.code);

test('a table by hand: means, CR1, paired difference, both estimands', async () => {
  // Means of A 1, 2, 3, 4, 5; of B 3, 3, 3, 8, 6: d = 2, 1, 0, 4, 1.
  const c = await compared(
    grid([
      [[0, 2], [3]],
      [[2], [2, 4]],
      [[3], [3]],
      [[4], [8]],
      [[5], [6]],
    ]),
  );
  expect(c.primary).toBe('return');
  const [o] = c.outcomes;
  const { value, se, interval, theseTasks } = o!.difference;
  expect(value).toBeCloseTo(8 / 5, 12);
  // Σ(d − 1.6)² = .16 + .36 + 2.56 + 5.76 + .36 = 9.2; S² = 2.3.
  expect(se).toBeCloseTo(Math.sqrt(2.3 / 5), 12);
  // t quantile .975 with 4 degrees of freedom is 2.7764451051977934.
  expect(interval!.hi - value).toBeCloseTo(2.7764451051977934 * Math.sqrt(2.3 / 5), 9);
  expect(interval!.method).toContain('4 degrees');
  expect(theseTasks).toBeNull();
  // A over its 6 episodes: mean 16/6; sums of deviations by task 2 − 16/3, −2/3, 1/3, 4/3, 7/3.
  const sums = [2 - 16 / 3, -2 / 3, 1 / 3, 4 / 3, 7 / 3];
  expect(o!.a.mean).toBeCloseTo(16 / 6, 12);
  expect(o!.a.se).toBeCloseTo(Math.sqrt((5 / 4) * sums.reduce((s, x) => s + x * x, 0)) / 6, 12);
  expect(o!.a.pairedMean).toBe(3);
  expect(o!.b.pairedMean).toBeCloseTo(4.6, 12);
  expect(o!.a.pairedTrials).toBeCloseTo(5 / 4.5, 12);
  expect(o!.tests).toMatchObject({ wins: 4, ties: 1, losses: 0 });
  expect(o!.tests.sign).toBeCloseTo(2 / 16, 12);
  // u = 1, ¾, ½, 1, 1.
  expect(o!.winRate.value).toBeCloseTo(4.25 / 5, 12);
  expect(o!.success).toBeNull();
  expect(o!.largest.gains.map((x) => x.task)).toEqual(['t3', 't0', 't1', 't4']);
  expect(o!.largest.losses).toEqual([]);
});

test('these very tasks: Welch and Satterthwaite by hand', async () => {
  const c = await compared(
    grid([
      [
        [0, 2],
        [3, 3],
      ],
      [
        [1, 1],
        [0, 4],
      ],
    ]),
  );
  // v = 2/2, 0, 0, 8/2; se = √5 / 2; ν = 25 / (1 + 16).
  const t = c.outcomes[0]!.difference.theseTasks!;
  expect(t.se).toBeCloseTo(Math.sqrt(5) / 2, 12);
  expect(t.interval!.method).toContain('1.5 degrees');
  // Two tasks: the difference is shown, an interval over new tasks is refused, by number.
  expect(c.outcomes[0]!.difference).toMatchObject({ value: 1.5, interval: null, simultaneous: null });
  expect(c.outcomes[0]!.winRate.interval).toBeNull();
  expect(c.warnings.find((w) => w.code === 'few-tasks')).toMatchObject({ count: 2 });
});

test('success: the table of trial pairs and pass^k by hand', async () => {
  const c = await compared(
    grid([
      [
        [1, 0],
        [1, 1],
      ],
      [
        [1, 0],
        [1, 0, 0],
      ],
      [
        [1, 1],
        [1, 1],
      ],
      [[1], [0]],
    ]),
  );
  expect(c.primary).toBe('success');
  const o = c.outcomes[0]!;
  const { pairs, passHatK } = o.success!;
  // p_A = ½, ½, 1, 1; p_B = 1, ⅓, 1, 0.
  expect(pairs.both).toBeCloseTo((0.5 + 1 / 6 + 1 + 0) / 4, 12);
  expect(pairs.onlyA).toBeCloseTo((0 + 1 / 3 + 0 + 1) / 4, 12);
  expect(pairs.onlyB).toBeCloseTo((0.5 + 1 / 6 + 0 + 0) / 4, 12);
  expect(pairs.onlyB - pairs.onlyA).toBeCloseTo(o.difference.value, 12);
  expect(pairs.both + pairs.onlyA + pairs.onlyB + pairs.neither).toBeCloseTo(1, 12);
  // For 0/1 the win rate is ½ + d/2.
  expect(o.winRate.value).toBeCloseTo(0.5 + o.difference.value / 2, 12);
  expect(passHatK.map((k) => k.tasks)).toEqual([4, 3]);
  expect(passHatK[0]!.difference).toBeCloseTo(o.difference.value, 12);
  // Two of two: A 0, 0, 1; B 1, 0 (one of three succeeded), 1.
  expect(passHatK[1]).toMatchObject({ a: 1 / 3, b: 2 / 3 });
  // --outcome return reads the same numbers as a return.
  const again = await compared(
    grid([
      [
        [1, 0],
        [1, 1],
      ],
    ]),
    { outcomes: ['return', 'success'] },
  );
  expect(again.outcomes.map((x) => x.outcome)).toEqual(['return', 'success']);
  expect(again.outcomes[0]!.difference).toEqual(again.outcomes[1]!.difference);
});

test('turns, cost, latency and tool errors: less is better, unknown is not 0', async () => {
  const at = (seconds: number): Partial<EpisodeInput> => ({
    started_at: '2025-01-01T00:00:00Z',
    ended_at: new Date(Date.UTC(2025, 0, 1, 0, 0, 0, 1000 * seconds)).toISOString(),
  });
  const turns = (n: number, errors: number | null): EpisodeInput['turns'] =>
    Array.from({ length: n }, () => ({
      tool_calls: [{ name: 'x', arguments: {}, error: errors === null ? null : errors > 0 }],
    }));
  const c = await compared([
    episode('A', 't', 1, { cost: 2, turns: turns(4, 1), ...at(1.5) }),
    episode('B', 't', 0, { cost: 1, turns: turns(2, 0), ...at(4) }),
    episode('B', 't', 0, { cost: null, turns: [...turns(1, 1)!, ...turns(2, null)!], ...at(-2) }),
  ]);
  const of = (name: string) => c.outcomes.find((o) => o.outcome === name)!;
  expect(of('turns').difference.value).toBe(2.5 - 4);
  expect(of('turns').tests).toMatchObject({ wins: 1, losses: 0 });
  expect(of('turns').winRate.value).toBe(1);
  expect(of('cost').difference.value).toBe(-1);
  expect(of('cost').b).toMatchObject({ n: 1, missing: 1 });
  expect(of('latency').difference.value).toBeCloseTo(2.5, 9);
  expect(of('latency').b).toMatchObject({ n: 1, invalid: 1 });
  expect(of('latency').tests).toMatchObject({ wins: 0, losses: 1 });
  expect(of('tool-errors').difference.value).toBe(-4);
  expect(of('tool-errors').b.missing).toBe(1);
  expect(of('latency').largest.losses[0]!.task).toBe('t');
  expect(c.family.size).toBe(5);
  expect(codes(c)).toEqual(expect.arrayContaining(['missing-outcome', 'invalid-outcome', 'few-tasks']));
});

test('aborted, without a task, without a reward, NaN: out, each counted; both denominators', async () => {
  const base = grid(Array.from({ length: 6 }, (_, c) => [[c], [c + (c % 2)]] as const));
  const c = await compared(
    [
      ...base,
      episode('A', 't0', 100, { ending: 'aborted' }),
      episode('A', null, 7),
      episode('B', 't1', null, { ending: 'truncated' }),
      episode('B', 'alone', 50),
      { ...episode('B', 't2', 1), episode_id: 'nan' },
    ],
    {},
    "UPDATE episodes SET reward = 'nan' WHERE episode_id = 'nan'",
  );
  const o = c.outcomes[0]!;
  expect(o.difference.value).toBeCloseTo(0.5, 12);
  expect(c.a).toMatchObject({ episodes: 8, aborted: 1, withoutTask: 1, tasks: 6 });
  expect(c.b).toMatchObject({ episodes: 9, aborted: 0, cutShort: 1, tasks: 7 });
  expect(c.tasks).toEqual({ common: 6, onlyA: 0, onlyB: 1 });
  // The one without a task is in A's own mean, as a cluster; not in the pairs.
  expect(o.a).toMatchObject({ n: 7, clusters: 7, mean: 22 / 7, pairedMean: 2.5 });
  expect(o.b).toMatchObject({ n: 7, missing: 1, invalid: 1 });
  expect(codes(c)).toEqual(
    expect.arrayContaining([
      'aborted',
      'missing-task',
      'unpaired-tasks',
      'cut-short',
      'missing-outcome',
      'invalid-outcome',
      'rough-interval',
    ]),
  );
});

const rewards = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 4 });
const grids = fc.array(fc.tuple(rewards, rewards), { minLength: 5, maxLength: 9 });
const options = { outcomes: ['return' as const] };
const few = { numRuns: 8 };
/** The return under each pair of policies of one store. */
async function pairs(episodes: Iterable<EpisodeInput>, ...of: readonly (readonly [string, string])[]) {
  const store = await storeOf(episodes);
  opened.push(store);
  const out = [];
  for (const [a, b] of of) out.push(Comparison.parse(await compare(store, a, b, options)).outcomes[0]!);
  return out as [OutcomeComparison, OutcomeComparison];
}
const named = (name: string, g: Grid, side: 0 | 1): EpisodeInput[] =>
  g.flatMap((x, c) => x[side].map((r) => episode(name, `t${c}`, r)));
/** Numbers apart from rounding. */
const near = (a: number | null, b: number | null): void => {
  if (a === null || b === null) expect(a).toBe(b);
  else expect(Math.abs(a - b)).toBeLessThan(1e-9);
};

property.prop([grids], few)('swapping A and B turns every sign', async (g) => {
  const [one, two] = await pairs(grid(g), ['A', 'B'], ['B', 'A']);
  near(one.difference.value, -two.difference.value);
  near(one.difference.se, two.difference.se);
  near(one.difference.interval?.lo ?? null, two.difference.interval ? -two.difference.interval.hi : null);
  near(one.winRate.value, 1 - two.winRate.value);
  expect([one.tests.wins, one.tests.losses]).toEqual([two.tests.losses, two.tests.wins]);
  for (const p of ['sign', 'wilcoxon', 'signFlip'] as const) expect(one.tests[p]).toEqual(two.tests[p]);
  near(one.power?.detectable ?? null, two.power?.detectable ?? null);
});

property.prop([grids, fc.integer({ min: -9, max: 9 })], few)(
  'c more for B shifts the difference by c',
  async (g, c) => {
    const shifted: Grid = g.map(([a, b]) => [a, b.map((x) => x + c)]);
    const [one, two] = await pairs([...grid(g), ...named('C', shifted, 1)], ['A', 'B'], ['A', 'C']);
    near(two.difference.value, one.difference.value + c);
    near(two.difference.se, one.difference.se);
    near(two.difference.theseTasks?.se ?? null, one.difference.theseTasks?.se ?? null);
    near(two.power?.variance?.within ?? null, one.power?.variance?.within ?? null);
  },
);

property.prop([grids, fc.infiniteStream(fc.nat())], few)(
  'the order of episodes changes nothing',
  async (g, order) => {
    const episodes = grid(g);
    const shuffled = episodes
      .map((e) => [order.next().value as number, e] as const)
      .sort((x, y) => x[0] - y[0])
      .map(([, e]) => e);
    const strip = (c: Comparison) => ({ ...c, store: '' });
    expect(strip(await compared(shuffled))).toEqual(strip(await compared(episodes)));
  },
);

property.prop([grids, fc.integer({ min: 2, max: 3 })], few)(
  'duplicated trials leave the difference and its standard error',
  async (g, times) => {
    const again = (x: readonly number[]): number[] => Array.from({ length: times }, () => x).flat();
    const twice: Grid = g.map(([a, b]) => [again(a), again(b)]);
    const all = [...grid(g), ...named('C', twice, 0), ...named('D', twice, 1)];
    const [one, two] = await pairs(all, ['A', 'B'], ['C', 'D']);
    near(one.difference.value, two.difference.value);
    near(one.difference.se, two.difference.se);
    near(one.winRate.value, two.winRate.value);
    expect(one.tests).toEqual(two.tests);
  },
);

test('rounding makes neither wins nor spread: .1 + .2 against .3', async () => {
  const c = await compared(
    Array.from({ length: 6 }, (_, k) => [
      episode('A', `t${k}`, null, { turns: [{ reward: 0.1 }, { reward: 0.2 }] }),
      episode('B', `t${k}`, 0.3),
      episode('B', `t${k}`, 0.3),
      episode('B', `t${k}`, 0.3),
    ]).flat(),
    options,
  );
  expect(c.outcomes[0]!.tests).toMatchObject({ wins: 0, ties: 6, losses: 0 });
  expect(c.outcomes[0]!.winRate.value).toBe(0.5);
  // Equal everywhere is not certainty.
  expect(c.outcomes[0]!.difference).toMatchObject({ value: 0, se: 0, interval: null });
  expect(codes(c)).toContain('no-spread');
});

test('A/A: a policy against itself, split by the parity of the trial', async () => {
  const episodes = [...simulateToolAgent({ tasks: 100, episodes: 800, seed: 11 })].map((e) => ({
    ...e,
    policy: e.trial! % 2 === 0 ? 'A' : 'B',
  }));
  const c = await compared(episodes);
  for (const o of c.outcomes) {
    expect(Math.abs(o.difference.value)).toBeLessThan(3.5 * o.difference.se!);
    expect(o.tests.signFlip.p).toBeGreaterThan(0.001);
  }
  // Nothing differs between tasks: all of the variance is of the trials, within its own error (√(2/99) S²).
  const { task, within } = c.outcomes[0]!.power!.variance!;
  expect(Math.abs(within / task - 1)).toBeLessThan(3 * Math.sqrt(2 / 99));
});

test('no task in common, no outcome in common: refused by name, exit 3', async () => {
  const apart = [episode('A', 'x', 1), episode('B', 'y', 0), episode('B', null, 0)];
  const none = await refused(apart);
  expect(none.code).toBe(3);
  expect(none.message).toMatch(/no task was tried by both.*1 of "A".*1 of "B".*1 without a task/s);
  const aborted = [episode('A', 'x', 1), episode('B', 'x', 0, { ending: 'aborted' })];
  expect((await refused(aborted)).code).toBe(3);
  const both = [episode('A', 'x', 0.5), episode('B', 'x', 1)];
  expect(await refused(both, { outcomes: ['success'] })).toMatchObject({ code: 3 });
  expect((await refused(both, { outcomes: ['success'] })).message).toContain('from 0.5 to 1');
  expect((await refused(both, { outcomes: ['cost'] })).message).toContain(
    'no episode of either policy has it',
  );
});

test('what cannot be compared is said; without a reward the primary outcome is another', async () => {
  const c = await compared([
    ...Array.from({ length: 3 }, (_, k) =>
      episode('A', `t${k}`, null, { cost: k, turns: Array.from({ length: k + 1 }, () => ({})) }),
    ),
    ...Array.from({ length: 3 }, (_, k) => episode('B', `t${k}`, null)),
  ]);
  expect(c.primary).toBe('turns');
  expect(Object.fromEntries(c.absent.map((x) => [x.outcome, x.reason]))).toEqual({
    return: 'no episode of either policy has it',
    cost: 'no episode of B has it',
    latency: 'no episode of either policy has it',
    'tool-errors': 'every episode of both has the same value, 0',
  });
  expect(codes(c)).toContain('no-reward');
});

test('the primary outcome takes the difference asked for, the family the simultaneous level', async () => {
  const rng = random(2);
  const episodes = Array.from({ length: 40 }, (_, k) =>
    ['A', 'B'].map((p) => episode(p, `t${k}`, uniform(rng) < 0.5 ? 1 : 0, { cost: 1 + uniform(rng) })),
  ).flat();
  const c = await compared(episodes, { difference: 0.2 });
  expect(c.outcomes.map((o) => o.outcome)).toEqual(['success', 'cost']);
  expect(c.outcomes[0]!.power!.difference).toBe(0.2);
  expect(c.outcomes[1]!.power!.difference).toBeCloseTo(0.05 * c.outcomes[1]!.a.pairedMean, 12);
  expect(c.family).toMatchObject({ size: 2, level: 0.975 });
  const { interval, simultaneous } = c.outcomes[0]!.difference;
  expect(simultaneous!.level).toBe(0.975);
  expect(simultaneous!.hi).toBeGreaterThan(interval!.hi);
});
