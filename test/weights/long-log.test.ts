import { expect, test } from 'vitest';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { trajectoriesOf, uniform } from '../helpers/agent-turns.ts';

const [EPISODES, EACH, LAST] = [5000, 600, 40];

/** Weights of episodes of these lengths, from their log-ratios. */
function weightsOf(values: Float64Array, lengths: readonly number[]) {
  const t = trajectoriesOf(lengths.map((_, i) => ({ episode_id: `e${i}`, reward: 1, turns: [] })));
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((n, i) => {
    offsets[i + 1] = offsets[i]! + n;
  });
  const reward = new Float64Array(values.length).fill(1);
  return episodeWeights({
    target: 'x',
    measure: 'logprob',
    trainedOn: 'none',
    trajectories: { ...t, episodeOffsets: offsets, turns: { ...t.turns, reward } },
    values,
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: null,
  });
}

test('an episode’s weights are to the bit the same after three million turns: scanned per episode, not over all', () => {
  const u = uniform(5);
  const drift = () => -0.5 + 0.2 * (u() - 0.5);
  const before = EPISODES * EACH;
  const values = new Float64Array(before + LAST).map(drift);
  const last = values.slice(before);
  const alone = weightsOf(last, [LAST]);
  const all = weightsOf(values, [...new Array(EPISODES).fill(EACH), LAST]);
  expect(all.logWeight.at(-1)).toBe(alone.logWeight[0]);
  expect(all.logRatios.slice(before)).toEqual(alone.logRatios);
  expect(all.weights.slice(before)).toEqual(alone.weights);

  // What a running sum over the whole log, less its value at the episode's start, would have lost.
  const overAll = (round: (x: number) => number): number => {
    let [total, start] = [0, 0];
    values.forEach((x, s) => {
      if (s === before) start = total;
      total = round(total + x);
    });
    return total - start;
  };
  const exact = alone.logWeight[0]!;
  expect(Math.abs(overAll(Math.fround) - exact)).toBeGreaterThan(0.01);
  expect(Math.abs(overAll((x) => x) - exact)).toBeGreaterThan(1e-12);
});
