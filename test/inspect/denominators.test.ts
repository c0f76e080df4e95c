import { parseHTML } from 'linkedom';
import { afterEach, expect, test } from 'vitest';
import { comparisonText } from '../../src/cli/compare-text.ts';
import { descriptionText } from '../../src/cli/describe.ts';
import { compare } from '../../src/inspect/compare.ts';
import { describe } from '../../src/inspect/describe.ts';
import { buildReport } from '../../src/report/build-report.ts';
import { reportPage } from '../../src/report/report-page.ts';
import { Comparison } from '../../src/schema/compare.ts';
import { Description } from '../../src/schema/describe.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import { Report } from '../../src/schema/report.ts';
import type { Store } from '../../src/store/store.ts';
import { isBinary, isSuccess } from '../../src/trajectories/return.ts';
import { storeOf } from '../helpers/store.ts';

const opened: Store[] = [];
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});

let next = 0;
/** x: aborted. */
const trial = (policy: string | null, task: string, r: number | 'x'): EpisodeInput => ({
  episode_id: `e${next++}`,
  policy,
  task_id: task,
  ...(r === 'x' ? { ending: 'aborted', reward: null } : { ending: 'terminated', reward: r }),
  turns: [{ action: 'a' }],
});
type Grid = readonly (readonly [string, ...(number | 'x')[]])[];
const trials = (policy: string | null, grid: Grid): EpisodeInput[] =>
  grid.flatMap(([task, ...rewards]) => rewards.map((r) => trial(policy, task as string, r as number | 'x')));
async function made(episodes: readonly EpisodeInput[]): Promise<Store> {
  const store = await storeOf(episodes);
  opened.push(store);
  return store;
}

/** B aborts where it would have failed: left out it looks better, counted as 0 it is worse. */
const A: Grid = [
  ['t0', 1, 0],
  ['t1', 1, 0],
  ['t2', 1, 0],
  ['t3', 1, 0],
  ['t4', 1, 0],
];
const B: Grid = [
  ['t0', 1, 'x', 'x'],
  ['t1', 1, 'x', 'x'],
  ['t2', 1, 'x', 'x'],
  ['t3', 1, 'x', 'x'],
  ['t4', 0, 'x', 'x'],
];

test('compare: both denominators, by hand; the sign hangs on them and that is said', async () => {
  const store = await made([...trials('A', A), ...trials('B', B)]);
  const c = Comparison.parse(await compare(store, 'A', 'B'));
  // Left out: task means of B 1, 1, 1, 1, 0 against ½: d̄ = .8 − .5. As 0: ⅓ four times and 0: 4/15 − ½.
  expect(c.outcomes[0]!.difference.value).toBeCloseTo(0.3, 12);
  const zero = c.abortedAsZero!;
  expect(zero.outcome).toBe('success');
  expect(zero.difference.value).toBeCloseTo(4 / 15 - 1 / 2, 12);
  expect(zero.a).toMatchObject({ mean: 0.5, n: 10 });
  expect(zero.b.mean).toBeCloseTo(4 / 15, 12);
  expect(zero.b.n).toBe(15);
  expect(zero.tasks).toBe(5);
  // d: −1/6 four times, −1/2; mean −7/30; Σ(d − d̄)² = 4 (1/15)² + (4/15)² = 20/225; S² = 5/225.
  expect(zero.difference.se).toBeCloseTo(Math.sqrt(5 / 225 / 5), 12);
  expect(c.warnings.map((w) => w.code)).toContain('aborted-decide');
  const text = comparisonText(c).replace(/\s+/g, ' ');
  expect(text).toContain(
    'Aborted episodes counted as 0 instead of left out: success 0.500 of A, 0.267 of B, B − A −0.233',
  );
  const swapped = await compare(store, 'B', 'A');
  expect(swapped.abortedAsZero!.difference.value).toBeCloseTo(7 / 30, 12);
});

test('a task that one policy only aborted on is paired where aborted counts as 0', async () => {
  const store = await made([
    ...trials('A', [
      ['t0', 1],
      ['t1', 1],
    ]),
    ...trials('B', [
      ['t0', 1],
      ['t1', 'x'],
    ]),
  ]);
  const c = await compare(store, 'A', 'B');
  expect(c.outcomes[0]!.tasks).toBe(1);
  expect(c.abortedAsZero).toMatchObject({ tasks: 2, difference: { value: -0.5 } });
  const none = await compare(await made([...trials('A', [['t', 1]]), ...trials('B', [['t', 0]])]), 'A', 'B');
  expect(none.abortedAsZero).toBeNull();
});

test('describe: mean, error, success rate and policies with both denominators, by hand', async () => {
  const store = await made([...trials('A', A), ...trials('B', B)]);
  const d = Description.parse(await describe(store));
  expect(d.reward).toMatchObject({ mean: 9 / 15, n: 15, successRate: 9 / 15 });
  const zero = d.reward!.abortedAsZero!;
  expect(zero).toMatchObject({ mean: 9 / 25, n: 25, clusters: 5, successRate: 9 / 25 });
  // Sums of deviations by task: 2 − 5 · .36 = .2 four times, 1 − 1.8 = −.8.
  expect(zero.se).toBeCloseTo(Math.sqrt((5 / 4) * (4 * 0.04 + 0.64)) / 25, 12);
  const b = d.policies.find((p) => p.policy === 'B')!;
  expect(b).toMatchObject({ n: 5, meanReward: 0.8, successRate: 0.8, aborted: 10 });
  expect(b.abortedAsZero).toMatchObject({ n: 15, meanReward: 4 / 15, successRate: 4 / 15 });
  expect(d.policies.find((p) => p.policy === 'A')!.abortedAsZero).toBeNull();
  const text = descriptionText(d);
  expect(text).toMatch(/aborted as 0 +mean 0\.360 \(n = 25\).*success rate 36\.0 %/);
  expect(text).toMatch(/success rate +60\.0 %/);
});

test('pass^k by policy; none of the mixture, and a reason where a policy has too few trials', async () => {
  const store = await made([
    ...trials('A', [
      ['t0', 1, 1, 0],
      ['t1', 1, 1, 1],
    ]),
    ...trials('B', [
      ['t0', 1],
      ['t1', 0],
    ]),
  ]);
  const d = await describe(store);
  expect(d.passHatK).toBeNull();
  expect(d.passHatKReason).toContain('several policies');
  const [a, b] = d.policies;
  expect(a!.passHatK).toEqual([(2 / 3 + 1) / 2, (1 / 3 + 1) / 2, 1 / 2]);
  expect(a!.passHatKReason).toContain('no pass^k from k = 4');
  expect(b!.passHatK).toEqual([0.5]);
  expect(b!.passHatKReason).toContain('only 1 trial');
  expect(descriptionText(d)).toMatch(/pass\^k by policy\n +A +1: 0\.833 {2}2: 0\.667 {2}3: 0\.500/);
  // A task that B alone has tried once ends the pooled trials at 1; A still reaches 2, and B is told.
  const apart = await describe(
    await made([
      ...trials('A', [['t0', 1, 1]]),
      ...trials('B', [
        ['t0', 1, 1],
        ['t1', 0],
      ]),
    ]),
  );
  const [first, second] = ['A', 'B'].map((name) => apart.policies.find((p) => p.policy === name)!);
  expect(first).toMatchObject({ passHatK: [1, 1], passHatKReason: null });
  expect(second!.passHatK).toEqual([0.5]);
  expect(second!.passHatKReason).toContain('only 1 trial of it');
  const partial = await describe(await made(trials('A', [['t', 0.5, 1]])));
  expect(partial.passHatK).toBeNull();
  expect(partial.passHatKReason).toContain('0 or 1');
  expect((await describe(await made(trials('A', [['t', 0, 1]])))).passHatKReason).toBeNull();
});

test('success is 1 within 1e-6, in every place that counts it', async () => {
  expect([1, 1 + 1e-6, 1 - 9.9e-7, 1.0000011, 0.99999, 0].map(isSuccess)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect([1e-7, -1e-6, 2e-6, 0.5].map(isBinary)).toEqual([true, true, false, false]);
  // 1e-6 off in decimals, as doubles by a little more; the last is a sum of turn rewards.
  expect([0.999999, 1.000001, 0.333333 + 0.333333 + 0.333333, 0.9999989].map(isSuccess)).toEqual([
    true,
    true,
    true,
    false,
  ]);
  const off: Grid = [
    ['t0', 0.9999999, 1e-7, 1],
    ['t1', 1.0000005, 1, 0],
    ['t2', 1, 1, 1],
  ];
  const exact: Grid = [
    ['t0', 1, 0, 1],
    ['t1', 1, 1, 0],
    ['t2', 1, 1, 1],
  ];
  const other: Grid = [
    ['t0', 0, -1e-7, 1],
    ['t1', 0, 1, 0.9999995],
    ['t2', 0, 1, 1],
  ];
  const otherExact: Grid = [
    ['t0', 0, 0, 1],
    ['t1', 0, 1, 1],
    ['t2', 0, 1, 1],
  ];
  const [x, y] = [
    await made([...trials('A', off), ...trials('B', other)]),
    await made([...trials('A', exact), ...trials('B', otherExact)]),
  ];
  const [c, wanted] = [await compare(x, 'A', 'B'), await compare(y, 'A', 'B')];
  expect(c.outcomes[0]!.outcome).toBe('success');
  for (const of of ['a', 'b'] as const)
    expect(c.outcomes[0]![of].mean).toBeCloseTo(wanted.outcomes[0]![of].mean, 12);
  expect(c.outcomes[0]!.difference.value).toBeCloseTo(wanted.outcomes[0]!.difference.value, 12);
  expect(c.outcomes[0]!.difference.theseTasks!.se).toBeCloseTo(
    wanted.outcomes[0]!.difference.theseTasks!.se,
    12,
  );
  expect(c.outcomes[0]!.winRate.value).toBeCloseTo(wanted.outcomes[0]!.winRate.value, 12);
  expect(c.outcomes[0]!.tests).toEqual(wanted.outcomes[0]!.tests);
  expect(c.outcomes[0]!.success!.passHatK.map((k) => k.a)).toEqual(
    wanted.outcomes[0]!.success!.passHatK.map((k) => k.a),
  );
  const [d, dWanted] = [await describe(x), await describe(y)];
  expect(d.reward).toMatchObject({ binary: true, successRate: 12 / 18 });
  expect(d.successHistogram).toEqual(dWanted.successHistogram);
  expect(d.zeroVarianceTasks).toBe(dWanted.zeroVarianceTasks);
  expect(d.policies.map((p) => p.passHatK)).toEqual(dWanted.policies.map((p) => p.passHatK));
});

test('the report names the policies and compares those that share tasks', async () => {
  const store = await made([
    ...trials('<b>old</b>', A),
    ...trials('new', B),
    ...trials('elsewhere', [
      ['u0', 1],
      ['u1', 0],
    ]),
  ]);
  const report = Report.parse(await buildReport(store, { title: 'r' }));
  expect(report.comparisons.map((c) => [c.a, c.b, c.comparison !== null])).toEqual([
    ['new', '<b>old</b>', true],
    ['new', 'elsewhere', false],
  ]);
  const page = reportPage(report);
  expect(parseHTML(page).document.querySelector('#compare')!.textContent).toBe('<b>old</b> against new');
  expect(page).toContain('Not compared:');
  expect(page).toContain('Aborted episodes counted as 0');
  expect(page).not.toContain('<b>old');
  expect(page.match(/id="compare"/g)).toHaveLength(1);
});
