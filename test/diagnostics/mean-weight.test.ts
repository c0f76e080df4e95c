import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { meanWeights } from '../../src/diagnostics/mean-weight.ts';
import { stageTable } from '../../src/diagnostics/stages.ts';
import { weightSummary } from '../../src/diagnostics/weight-summary.ts';
import { clusterVariance, mean } from '../../src/math/statistics.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

const log = fc.oneof(fc.double({ min: -2, max: 2, noNaN: true }), fc.constant(-Infinity));
const rollout = fc.record({ logs: fc.array(log, { maxLength: 5 }), task: fc.integer({ min: 0, max: 4 }) });
const near = (got: number, want: number) =>
  Number.isNaN(want)
    ? expect(got).toBeNaN()
    : expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
        1e-9 * Math.max(1, Math.abs(want)),
      );

function weightsOf(rollouts: readonly { readonly logs: readonly number[]; readonly task: number }[]) {
  const t = trajectoriesOf(
    rollouts.map(({ logs, task }, i) => ({
      episode_id: `e${i}`,
      task_id: task === 0 ? null : `t${task}`,
      reward: 1,
      turns: logs.map(() => ({})),
    })),
  );
  return episodeWeights({
    target: 'x',
    measure: 'logprob',
    trainedOn: 'none',
    trajectories: t,
    values: Float64Array.from(rollouts.flatMap((r) => r.logs)),
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: null,
  });
}

test.prop([fc.array(rollout, { minLength: 1, maxLength: 15 })])(
  'the mean carried weight and its CR1 error are those of the padded table',
  (rollouts) => {
    const w = weightsOf(rollouts);
    const got = meanWeights(w);
    for (let t = 0; t < w.stages; t++) {
      const carried = rollouts.map(({ logs }) => Math.exp(logs.slice(0, t + 1).reduce((a, b) => a + b, 0)));
      const v = clusterVariance(carried, w.clusters.of, w.clusters.count);
      near(got.mean[t]!, mean(carried));
      near(got.se[t]!, v.se);
      const tasks = new Set<number>();
      rollouts.forEach(({ logs }, i) => {
        if (logs.length > t && carried[i]! > 0) tasks.add(w.clusters.of[i]!);
      });
      expect(got.followerTasks[t]).toBe(tasks.size);
    }
  },
);

test.prop([fc.array(rollout, { minLength: 1, maxLength: 15 })])(
  'effective sample sizes lie between 0 and the count',
  (rollouts) => {
    const w = weightsOf(rollouts);
    for (const s of stageTable(w)) {
      for (const [ess, most] of [
        [s.essAlive, s.followers],
        [s.essStagewise, s.alive],
        [s.essCarried, w.n],
      ] as const) {
        expect(ess).toBeGreaterThanOrEqual(0);
        expect(ess).toBeLessThanOrEqual(most * (1 + 1e-12));
      }
    }
    const s = weightSummary(w);
    expect(s.essByTask).toBeLessThanOrEqual(w.clusters.count * (1 + 1e-12));
    expect(s.topPercentShare).toBeGreaterThanOrEqual(s.largestShare * (1 - 1e-12));
  },
);

test('weights that do not vary have no z', () => {
  const [s] = stageTable(weightsOf([1, 2, 3].map((task) => ({ logs: [0], task }))));
  expect(s).toMatchObject({ meanWeight: 1, meanWeightSe: 0, z: null });
});

test('effective sample size by task: ten rollouts of one task are one', () => {
  const w = weightsOf([
    ...Array.from({ length: 10 }, () => ({ logs: [0], task: 1 })),
    { logs: [0], task: 2 },
  ]);
  const s = weightSummary(w);
  expect(s.ess).toBe(11);
  expect(s.essByTask).toBeCloseTo(121 / 101, 12);
});
