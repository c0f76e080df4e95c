import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import type { LogRatios } from '../../src/weights/ratios.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

function ratiosOf(logs: readonly (readonly number[])[]): LogRatios {
  const t = trajectoriesOf(
    logs.map((turns, i) => ({ episode_id: `e${i}`, reward: i, turns: turns.map(() => ({})) })),
  );
  return {
    target: 'x',
    measure: 'log_propensity',
    trainedOn: 'none',
    trajectories: t,
    values: Float64Array.from(logs.flat()),
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: null,
  };
}
const log = fc.oneof(fc.double({ min: -3, max: 3, noNaN: true }), fc.constant(-Infinity));
const episodes = fc.array(fc.array(log, { maxLength: 5 }), { minLength: 1, maxLength: 12 });
const near = (got: number, want: number) =>
  expect(Math.abs(got - want)).toBeLessThanOrEqual(1e-10 * Math.max(1, Math.abs(want)));

test.prop([episodes])(
  'cumulative weights are products of ratios, and stage sums are what they say',
  (logs) => {
    const w = episodeWeights(ratiosOf(logs));
    const sums = stageSums(w);
    const products = logs.map((turns) =>
      turns.map((_, t) => turns.slice(0, t + 1).reduce((x, l) => x * Math.exp(l), 1)),
    );
    products.flat().forEach((x, s) => {
      near(w.weights[s]!, x);
    });
    for (let t = 0; t < w.stages; t++) {
      const alive = products.filter((p) => p.length > t).map((p) => p[t]!);
      const carried = products.map((p) => (p.length > t ? p[t]! : (p.at(-1) ?? 1)));
      const add = (values: number[], power = 1) => values.reduce((a, x) => a + x ** power, 0);
      expect(sums.alive[t]).toBe(alive.length);
      expect(sums.followers[t]).toBe(alive.filter((x) => x > 0).length);
      near(sums.aliveSum[t]!, add(alive));
      near(sums.aliveSquares[t]!, add(alive, 2));
      near(sums.carriedSum[t]!, add(carried));
      near(sums.carriedSquares[t]!, add(carried, 2));
    }
  },
);

test.prop([episodes, fc.integer({ min: 300, max: 5000 })])(
  'a huge factor on every first ratio changes shifts, not shapes',
  (logs, by) => {
    const full = logs.filter((turns) => turns.length > 0 && turns.every((l) => l > -Infinity));
    if (full.length === 0) return;
    const a = episodeWeights(ratiosOf(full));
    const b = episodeWeights(ratiosOf(full.map(([first, ...rest]) => [first! + by, ...rest])));
    const [x, y] = [stageSums(a), stageSums(b)];
    for (let t = 0; t < a.stages; t++) {
      near(y.carriedSum[t]! ** 2 / y.carriedSquares[t]! / (x.carriedSum[t]! ** 2 / x.carriedSquares[t]!), 1);
      near(y.aliveSum[t]! ** 2 / y.aliveSquares[t]! / (x.aliveSum[t]! ** 2 / x.aliveSquares[t]!), 1);
    }
  },
);

test('weights are scanned per episode: 400 turns at equal probabilities keep a ratio of exactly 1', () => {
  const same = Array.from({ length: 400 }, () => Math.log(0.02) - Math.log(0.02));
  const drift = Array.from({ length: 50_000 }, () => -0.5);
  const w = episodeWeights(ratiosOf([drift, same]));
  expect(w.weights.at(-1)).toBe(w.shift[399] === 0 ? 1 : Math.exp(-w.shift[399]!));
  expect(Math.exp(w.logWeight[1]!)).toBe(1);
  expect(w.logWeight[0]).toBe(-25_000);
});

test('the episode’s reward is paid at its last turn', () => {
  const t = trajectoriesOf([
    { episode_id: 'e', reward: 10, turns: [{ reward: 1 }, { reward: null }, { reward: 3 }] },
  ]);
  const w = episodeWeights({ ...ratiosOf([[0, 0, 0]]), trajectories: t }, 0.5);
  expect([...w.rewards]).toEqual([1, 0, 13 / 4]);
  expect([...w.returns]).toEqual([1 + 13 / 4]);
});
