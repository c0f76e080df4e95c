import { expect, test } from 'vitest';
import { weightSummary } from '../../src/diagnostics/weight-summary.ts';
import { tailIndex } from '../../src/math/pareto.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import known from '../fixtures/ope-known-answers.json' with { type: 'json' };
import { trajectoriesOf } from '../helpers/agent-turns.ts';

/** Episodes of one turn with these weights. */
function weightsOf(weights: readonly number[]) {
  return episodeWeights({
    target: 'x',
    measure: 'log_propensity',
    trainedOn: 'none',
    trajectories: trajectoriesOf(
      weights.map((_, i) => ({ episode_id: `e${i}`, turns: [{ reward: 1, action_class: 'a' }] })),
    ),
    values: Float64Array.from(weights, Math.log),
    held: { episodes: 0, tasks: 0, known: true },
    warnings: [],
    table: null,
  });
}

test.each(known.psis.rows)(
  'generalised-Pareto weights: k̂ by either tail, and the effective sample size: S = $S, k = $k',
  ({ S, k, khat_floor, khat_ceil, ESS }) => {
    const weights = Array.from({ length: S }, (_, i) => ((1 - (i + 0.5) / S) ** -k - 1) / k);
    const w = weightsOf(weights);
    const summary = weightSummary(w);
    // As many decimals as are printed.
    expect(tailIndex(w.weight, 'floor').k).toBeCloseTo(khat_floor, 6);
    expect(tailIndex(w.weight, 'ceil').k).toBeCloseTo(khat_ceil, 6);
    expect(summary.ess).toBeCloseTo(ESS, 4);
    expect(summary.kHat).toBe(tailIndex(w.weight).k);
    expect(summary.kHatThreshold).toBeCloseTo(Math.min(1 - 1 / Math.log10(S), 0.7), 12);
  },
);

test('weights made of a few atoms: no index, and why', () => {
  // Products of six ratios of 2 and ½: seven atoms.
  const atoms = Array.from({ length: 1000 }, (_, i) => 2 ** (6 - 2 * ((i * i) % 7)));
  const { kHat, kHatReason } = weightSummary(weightsOf(atoms));
  expect(kHat).toBeNull();
  expect(kHatReason).toMatch(/equal|quarter of the tail|distinct/);
});
