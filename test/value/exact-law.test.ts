import { expect, test } from 'vitest';
import { valueBounds } from '../../src/value/bounds.ts';
import { estimators } from '../../src/value/estimators.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { type EpisodeWeights, episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import exact from '../fixtures/agent-turns-exact.json' with { type: 'json' };
import {
  allPaths,
  episodeOf,
  POLICIES,
  policyFile,
  simulated,
  trajectoriesOf,
} from '../helpers/agent-turns.ts';

const paths = allPaths();
const p = Float64Array.from(paths, (x) => x.p);
const every = trajectoriesOf(paths.map(({ steps }, i) => episodeOf(steps, i)));
const weightsOf = new Map(
  POLICIES.map((name) => [name, episodeWeights(logRatiosFromPolicyFile(every, policyFile(name)))]),
);
const E = (f: (i: number) => number): number => p.reduce((total, pi, i) => total + pi * f(i), 0);
const psi = (name: string, w: EpisodeWeights) =>
  estimators.find((e) => e.name === name)!.estimate(w, stageSums(w)).psi;

test('the paths of the law are all there', () => {
  expect(E(() => 1)).toBeCloseTo(1, 12);
});

test.each(POLICIES)('E[IS] = E[PDIS] = V by full enumeration: %s', (name) => {
  const w = weightsOf.get(name)!;
  const { V, var_IS, var_PDIS } = exact.policies[name];
  for (const [estimator, variance] of [
    ['IS', var_IS],
    ['PDIS', var_PDIS],
  ] as const) {
    const x = psi(estimator, w);
    expect(Math.abs(E((i) => x[i]!) - V)).toBeLessThanOrEqual(1e-12);
    expect(Math.abs(E((i) => (x[i]! - V) ** 2) / variance - 1)).toBeLessThanOrEqual(1e-10);
  }
});

test.each(POLICIES)('E[w] = 1 and E[w²] at every turn, carried forward: %s', (name) => {
  const { offsets, weights, weight, stages } = weightsOf.get(name)!;
  for (let t = 0; t < stages; t++) {
    const at = (i: number) => (offsets[i]! + t < offsets[i + 1]! ? weights[offsets[i]! + t]! : weight[i]!);
    expect(Math.abs(E(at) - 1)).toBeLessThanOrEqual(1e-12);
    expect(
      Math.abs(E((i) => at(i) ** 2) / exact.policies[name].E_rho2_all_carried_forward[t]! - 1),
    ).toBeLessThanOrEqual(1e-10);
  }
});

test.each(POLICIES)('what the bounds limit is the value, under full support: %s', (name) => {
  const { weight, returns } = weightsOf.get(name)!;
  const { V } = exact.policies[name];
  const [lo, hi] = [-0.3, 1];
  expect(Math.abs(lo + E((i) => weight[i]! * (returns[i]! - lo)) - V)).toBeLessThanOrEqual(1e-12);
  expect(Math.abs(hi - E((i) => weight[i]! * (hi - returns[i]!)) - V)).toBeLessThanOrEqual(1e-12);
});

test('the bounds hold in samples at their level, and say something', () => {
  const replicates = 60;
  const range = { lo: -0.3, hi: 1, source: 'declared' } as const;
  for (const name of POLICIES) {
    let held = 0;
    let width = 0;
    for (let r = 0; r < replicates; r++) {
      const t = trajectoriesOf(simulated(60, 5, 500 + r));
      const b = valueBounds(episodeWeights(logRatiosFromPolicyFile(t, policyFile(name))), range, 0.95)!;
      const { V } = exact.policies[name];
      if (b.lo <= V && V <= b.hi) held++;
      width += (b.hi - b.lo) / replicates;
    }
    // Nominal is 95 % or more: six misses of 60 have a chance of 8 % at exactly 95 %, eight of 1 %.
    expect(held).toBeGreaterThanOrEqual(replicates - 7);
    if (name === 'behaviour') expect(width).toBeLessThan(1);
  }
});

test('without support the bounds still hold: the logs never take the better action', () => {
  // V = ½ · 0.2 + ½ · 1, of which the logs show the first half only.
  const weight = 0.5;
  const n = 5000;
  const w = {
    n,
    logWeight: new Float64Array(n).fill(Math.log(weight)),
    returns: Float64Array.from({ length: n }, (_, i) => (i % 5 === 0 ? 1 : 0)),
    clusters: { of: Int32Array.from({ length: n }, (_, i) => i), count: n },
  };
  const b = valueBounds(w, { lo: 0, hi: 1, source: 'declared' }, 0.95)!;
  expect(b.lo).toBeLessThanOrEqual(0.1);
  expect(b.lo).toBeGreaterThan(0.07);
  expect(b.hi).toBeGreaterThanOrEqual(0.6);
  expect(b.hi).toBeLessThan(0.63);
});
