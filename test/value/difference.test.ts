import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { difference, differenceOf } from '../../src/value/difference.ts';
import { meanReturn } from '../../src/value/estimate.ts';
import { pdis } from '../../src/value/pdis.ts';
import { policyBand } from '../../src/value/policy-band.ts';
import { wis } from '../../src/value/wis.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { POLICIES, policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const target = fc.constantFrom(...POLICIES);

test.prop([fc.integer({ min: 1, max: 1e6 }), target, target], { numRuns: 25 })(
  'Var(V₁ − V₂) = Var V₁ + Var V₂ − 2 Cov(V₁, V₂), clustered by task',
  (seed, a, b) => {
    const t = trajectoriesOf(simulated(30, 3, seed));
    const [w, v] = [a, b].map((name) => episodeWeights(logRatiosFromPolicyFile(t, policyFile(name)))) as [
      ReturnType<typeof episodeWeights>,
      ReturnType<typeof episodeWeights>,
    ];
    const [x, y] = [pdis.estimate(w, stageSums(w)), pdis.estimate(v, stageSums(v))];
    const { of, count } = w.clusters;
    // CR1 by hand.
    const sums = (psi: Float64Array, value: number) => {
      const out = new Float64Array(count);
      psi.forEach((p, i) => {
        out[of[i]!] = out[of[i]!]! + p - value;
      });
      return out;
    };
    const [p, q] = [sums(x.psi, x.value), sums(y.psi, y.value)];
    const cov = (m: Float64Array, k: Float64Array) =>
      ((count / (count - 1)) * m.reduce((s, mc, c) => s + mc * k[c]!, 0)) / w.n ** 2;
    const d = differenceOf({ name: a, influence: x }, { name: b, influence: y }, 'PDIS', {
      clusters: w.clusters,
      level: 0.95,
    });
    const want = cov(p, p) + cov(q, q) - 2 * cov(p, q);
    expect(d.value).toBeCloseTo(x.value - y.value, 12);
    expect(Math.abs(d.se! ** 2 - want)).toBeLessThanOrEqual(1e-10 * (cov(p, p) + cov(q, q)));
  },
);

test('the logs’ luck is shared: a near policy differs from the logging one with less error than it is known', () => {
  const t = trajectoriesOf(simulated(100, 5, 3));
  const w = episodeWeights(logRatiosFromPolicyFile(t, policyFile('soft')));
  const v = episodeWeights(logRatiosFromPolicyFile(t, policyFile('behaviour')));
  const soft = wis.estimate(w, stageSums(w));
  const same = difference(wis.estimate(v, stageSums(v)), meanReturn(v.returns));
  expect(Math.abs(same.value)).toBeLessThan(1e-14);
  for (const x of same.psi) expect(Math.abs(x)).toBeLessThan(1e-12);
  const context = { clusters: w.clusters, level: 0.95 };
  const d = differenceOf(
    { name: 'soft', influence: soft },
    { name: 'soft', influence: soft },
    'WIS',
    context,
  );
  expect([d.value, d.se, d.interval]).toEqual([0, 0, null]);
  expect(d.warnings.map((w) => w.code)).toEqual(['no-spread']);
});

const band = (
  names: readonly (typeof POLICIES)[number][],
  trained: Record<string, string[]> = {},
  seed = 0,
) => {
  const t = trajectoriesOf(simulated(60, 5, 11));
  const ratios = names.map((name) =>
    logRatiosFromPolicyFile(
      t,
      policyFile(name, trained[name] ? { sources: [], tasks: trained[name] } : 'none'),
    ),
  );
  return policyBand(ratios, { replicates: 1000, seed });
};

test('values, differences from the logging policy and pairs: 2 p + p (p − 1)/2 numbers, all within Bonferroni', () => {
  const { values, compared, critical, bonferroni, single, behaviour } = band(['soft', 'eager', 'behaviour']);
  expect(compared).toBe(9);
  expect(values.map((v) => [v.policy, v.against])).toEqual([
    ['soft', null],
    ['eager', null],
    ['behaviour', null],
    ['soft', 'behaviour'],
    ['eager', 'behaviour'],
    ['behaviour', 'behaviour'],
    ['soft', 'eager'],
    ['soft', 'behaviour'],
    ['eager', 'behaviour'],
  ]);
  expect(critical).toBeGreaterThan(single!);
  expect(critical).toBeLessThan(bonferroni!);
  for (const { estimate, simultaneous, bonferroni: wide } of values) {
    expect(simultaneous!.lo).toBeLessThanOrEqual(estimate.interval!.lo);
    expect(wide!.lo).toBeLessThanOrEqual(simultaneous!.lo);
    expect(simultaneous!.hi - simultaneous!.lo).toBeCloseTo(2 * critical! * estimate.se!, 12);
    expect(simultaneous!.method).toMatch(
      /max-t, 9 intervals, 59 degrees of freedom, .*1000 replicates, seed 0/,
    );
  }
  expect(values[3]!.estimate.value).toBeCloseTo(values[0]!.estimate.value! - behaviour.value!, 12);
  expect(values[6]!.estimate.value).toBeCloseTo(values[0]!.estimate.value! - values[1]!.estimate.value!, 12);
});

test('one seed, one band; the episodes are those that no policy was trained on', () => {
  expect(band(['soft', 'eager'])).toEqual(band(['soft', 'eager']));
  expect(band(['soft', 'eager'], {}, 5).critical).not.toBe(band(['soft', 'eager']).critical);
  const less = band(['soft', 'eager'], { eager: ['task-0', 'task-1'] });
  expect([less.episodes, less.clusters]).toEqual([290, 58]);
});
