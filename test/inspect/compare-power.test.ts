import { expect, test } from 'vitest';
import { comparePower } from '../../src/inspect/compare-power.ts';
import { fillTask, taskTable } from '../../src/inspect/compare-task.ts';
import { normal, random } from '../../src/math/random.ts';
import { CompareConfig } from '../../src/schema/compare.ts';

const config = CompareConfig.parse({});
type Trials = readonly (readonly [readonly number[], readonly number[]])[];
function powerOf(tasks: Trials, difference: number | null = null) {
  const table = taskTable(tasks.length);
  tasks.forEach(([a, b], c) => {
    fillTask(table, c, Float64Array.from(a), Float64Array.from(b));
  });
  return comparePower(
    table,
    Int32Array.from(tasks, (_, c) => c),
    difference,
    config,
  );
}

test('variance split by hand', () => {
  // Differences 0, 1, 2, 3, 4 of the means: S² = 2.5. Trials of A at ±1 have s² = 2, s²/2 = 1; B has none.
  const tasks = [0, 1, 2, 3, 4].map(
    (d) =>
      [
        [-1, 1],
        [d, d],
      ] as const,
  );
  const power = powerOf(tasks)!;
  expect(power.variance).toEqual({ task: 2.5, within: 1, between: 1.5 });
  expect(power.floor).toBeCloseTo(power.detectable * Math.sqrt(1.5 / 2.5), 12);
  // 5 tasks, 4 degrees of freedom: 80 % power needs 3.8 to 3.9 standard errors instead of 2.8.
  expect(power.detectable / Math.sqrt(0.5)).toBeGreaterThan(3.7);
  expect(power.difference).toBeNull();
  expect(power.tasksNeeded).toBeNull();
});

test('a side with one trial on some tasks takes its mean spread there', () => {
  const tasks: Trials = [
    [
      [-1, 1],
      [0, 2],
    ], // s² = 2 and 2: 1 + 1
    [
      [-2, 2],
      [5, 5],
    ], // s² = 8 and 0: 4 + 0
    [[3], [1, 1]], // mean s² of A = 5, one trial: 5 + 0
    [
      [0, 0],
      [9, 9],
    ],
    [
      [0, 0],
      [2, 2],
    ],
  ];
  // Mean s² of A over its four known tasks is (2 + 8 + 0 + 0)/4 = 2.5.
  expect(powerOf(tasks)!.variance!.within).toBeCloseTo((2 + 4 + 2.5) / 5, 12);
});

test('no task with two trials of both: the split is not known, the rest is', () => {
  const power = powerOf(
    [0, 1, 2, 4, 8, 9].map((d) => [[0], [d]] as const),
    3,
  )!;
  expect(power.variance).toBeNull();
  expect(power.floor).toBeNull();
  expect(power.trialsNeeded).toBeNull();
  expect(power.tasksNeeded).toBeGreaterThan(6);
});

test('too few tasks, or no spread: no power', () => {
  expect(
    powerOf([
      [[0], [1]],
      [[0], [2]],
      [[0], [3]],
      [[0], [4]],
    ]),
  ).toBeNull();
  expect(powerOf([1, 2, 3, 4, 5, 6].map((a) => [[a], [a + 1]] as const))).toBeNull();
});

test('tasks needed: (z + z)² S² / δ² for many, the classic table for few', () => {
  // S² = 2 exactly with pairs ±√(2 (K − 1)/K).
  const K = 10;
  const x = Math.sqrt((2 * (K - 1)) / K);
  const tasks = Array.from({ length: K }, (_, c) => [[0], [c % 2 ? x : -x]] as const);
  const many = powerOf(tasks, 0.02)!;
  expect(many.tasksNeeded! / ((2.8015852 ** 2 * 2) / 0.02 ** 2)).toBeCloseTo(1, 3);
  // One sample, effect of half a standard deviation: 34 (Cohen 1988).
  expect(powerOf(tasks, 0.5 * Math.SQRT2)!.tasksNeeded).toBe(34);
});

test('with the trials it asks for, the design sees the difference; below the floor none do', () => {
  const rng = random(5);
  const trials = (n: number, centre: number): number[] =>
    Array.from({ length: n }, () => centre + normal(rng));
  const tasks = Array.from({ length: 60 }, () => {
    const own = 0.5 * normal(rng);
    return [trials(3, 0), trials(6, own)] as const;
  });
  const first = powerOf(tasks)!;
  const aim = 1.2 * first.floor!;
  const { trialsNeeded, variance } = powerOf(tasks, aim)!;
  // The logged ratio is kept, and (τ² + W/f)/K is what the aim needs.
  expect(trialsNeeded!.b / trialsNeeded!.a).toBeCloseTo(2, 0);
  const f = trialsNeeded!.a / 3;
  const se = Math.sqrt((variance!.between + variance!.within / f) / 60);
  const now = Math.sqrt(variance!.task / 60);
  expect((first.detectable * se) / now).toBeLessThanOrEqual(aim * (1 + 1e-9));
  const less = Math.sqrt((variance!.between + variance!.within / (f - 1 / 3)) / 60);
  expect((first.detectable * less) / now).toBeGreaterThan(aim);
  expect(powerOf(tasks, 0.99 * first.floor!)!.trialsNeeded).toBeNull();
});
