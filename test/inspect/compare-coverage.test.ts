import { expect, test } from 'vitest';
import { pairedDifference, winRate } from '../../src/inspect/compare-difference.ts';
import { fillTask, taskTable } from '../../src/inspect/compare-task.ts';
import { type Random, random, uniform } from '../../src/math/random.ts';
import { CompareConfig } from '../../src/schema/compare.ts';

const config = CompareConfig.parse({});
const REPLICATES = 3000;
/** Three standard deviations of a share of 95 % among the replicates. */
const ERROR = 3 * Math.sqrt((0.95 * 0.05) / REPLICATES);

const bernoulli = (rng: Random, n: number, p: number): Float64Array =>
  Float64Array.from({ length: n }, () => (uniform(rng) < p ? 1 : 0));

/** Success of A on a task is uniform on (.2, .6), that of B higher by a uniform on (0, .4): .2 on average. */
const drawTask = (rng: Random): [number, number] => {
  const a = 0.2 + 0.4 * uniform(rng);
  return [a, a + 0.4 * uniform(rng)];
};

function replicate(rng: Random, tasks: readonly (readonly [number, number])[]) {
  const table = taskTable(tasks.length);
  tasks.forEach(([a, b], c) => {
    fillTask(table, c, bernoulli(rng, 4, a), bernoulli(rng, 6, b));
  });
  const rows = Int32Array.from(tasks, (_, c) => c);
  return { d: pairedDifference(table, rows, 3, config), u: winRate(table, rows, 'higher', config) };
}

const holds = (interval: { lo: number; hi: number } | null, truth: number): boolean =>
  interval !== null && interval.lo <= truth && truth <= interval.hi;

test.each([10, 50])(
  'new tasks, %i of them: difference and win rate are covered as often as they say',
  (K) => {
    const rng = random(17, K);
    const covered = { difference: 0, winRate: 0, family: 0 };
    let total = 0;
    for (let r = 0; r < REPLICATES; r++) {
      const { d, u } = replicate(
        rng,
        Array.from({ length: K }, () => drawTask(rng)),
      );
      total += d.value;
      if (holds(d.interval, 0.2)) covered.difference++;
      // P(b > a) + ½ P(b = a) = ½ + (p_B − p_A)/2 for 0/1 outcomes.
      if (holds(u.interval, 0.6)) covered.winRate++;
      if (holds(d.simultaneous, 0.2)) covered.family++;
    }
    expect(Math.abs(total / REPLICATES - 0.2)).toBeLessThan(0.01);
    expect(Math.abs(covered.difference / REPLICATES - 0.95)).toBeLessThan(ERROR);
    expect(Math.abs(covered.winRate / REPLICATES - 0.95)).toBeLessThan(ERROR);
    expect(Math.abs(covered.family / REPLICATES - (1 - 0.05 / 3))).toBeLessThan(ERROR);
  },
);

test.each([10, 50])('these very tasks, %i of them: the mean of their own differences is covered', (K) => {
  const rng = random(18, K);
  const tasks = Array.from({ length: K }, () => drawTask(rng));
  const truth = tasks.reduce((s, [a, b]) => s + b - a, 0) / K;
  let covered = 0;
  for (let r = 0; r < REPLICATES; r++)
    if (holds(replicate(rng, tasks).d.theseTasks!.interval, truth)) covered++;
  expect(Math.abs(covered / REPLICATES - 0.95)).toBeLessThan(ERROR);
});
