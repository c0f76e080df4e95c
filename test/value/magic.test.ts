import { expect, test } from 'vitest';
import { resampleCounts } from '../../src/math/bootstrap.ts';
import { clusterVariance } from '../../src/math/statistics.ts';
import { dm } from '../../src/value/dm.ts';
import { taskBuckets } from '../../src/value/intervals/buckets.ts';
import { blend, magic } from '../../src/value/magic.ts';
import { episodeQ } from '../../src/value/nuisances.ts';
import { qValues } from '../../src/value/q-values.ts';
import { withResiduals } from '../../src/value/residuals.ts';
import { wdrCarried } from '../../src/value/wdr-carried.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import exact from '../fixtures/agent-turns-values.json' with { type: 'json' };
import {
  ACTIONS,
  type PolicyName,
  policyFile,
  sample,
  simulated,
  trajectoriesOf,
} from '../helpers/agent-turns.ts';
import { columnsBy } from '../helpers/q-columns.ts';

type Table = Record<string, Record<string, Record<string, number>>>;
/** The true Q of a policy, moved by a constant. */
function setting(name: PolicyName, by = 0, t = trajectoriesOf(sample())) {
  const Q: Table = exact.policies[name].Q_t;
  const ratios = logRatiosFromPolicyFile(t, policyFile(name));
  const w = episodeWeights(ratios);
  const stages = stageSums(w);
  const columns = columnsBy(t, ACTIONS, (turn, x, a) => Q[turn + 1]![x[0]!]![a]! + by);
  const q = episodeQ(ratios, w, qValues(ratios, columns));
  return { w, stages, q, corrected: withResiduals(w, q.logged, q.v) };
}
const sumOf = (x: ArrayLike<number>) => Array.from(x).reduce((a, b) => a + b, 0);

test('g^(j) is the j-step return of the definition, from DM to WDR', () => {
  const { w, stages, q, corrected } = setting('soft', 0.3);
  const { steps, g } = blend(corrected, stages);
  expect(steps).toEqual([-1, 0, 1, 2, 3, 4, 5]);
  expect(g[0]).toBeCloseTo(dm.estimate(w, stages, { q }).value, 12);
  expect(g.at(-1)).toBeCloseTo(wdrCarried.estimate(w, stages, { q }).value, 12);
  // Σ_{t≤j} w̄_t r_t + w̄_j V_{j+1} − Σ_{t≤j} (w̄_t Q_t − w̄_{t−1} V_t), w̄ over all n with ended ones carried.
  const length = (i: number) => w.offsets[i + 1]! - w.offsets[i]!;
  const weightAt = (i: number, t: number) =>
    t < 0 ? 1 : t < length(i) ? w.weights[w.offsets[i]! + t]! : Math.exp(w.logWeight[i]!);
  const bar = (t: number) => {
    const all = Array.from({ length: w.n }, (_, i) => weightAt(i, t));
    const total = sumOf(all);
    return all.map((x) => x / total);
  };
  const bars = Array.from({ length: w.stages + 1 }, (_, k) => bar(k - 1)); // bars[t + 1] = w̄_t
  const value = (x: Float64Array, i: number, t: number) => (t < length(i) ? x[w.offsets[i]! + t]! : 0);
  for (const j of [0, 2, 4]) {
    let want = 0;
    for (let i = 0; i < w.n; i++) {
      for (let t = 0; t <= j; t++)
        want +=
          bars[t + 1]![i]! * (value(w.rewards, i, t) - value(q.logged, i, t)) +
          bars[t]![i]! * value(q.v, i, t);
      want += bars[j + 1]![i]! * value(q.v, i, j + 1);
    }
    expect(g[j + 1]).toBeCloseTo(want, 12);
  }
});

test('the covariance carries the factor n: that of DM is the variance of its mean', () => {
  for (const t of [trajectoriesOf(sample()), trajectoriesOf(simulated(40, 5, 3))]) {
    const { w, stages, q, corrected } = setting('soft', 0, t);
    const { covariance } = blend(corrected, stages);
    const { psi } = dm.estimate(w, stages, { q });
    const variance = clusterVariance(psi, w.clusters.of, w.clusters.count).variance;
    // Tasks of unequal size aside (here they are equal), Σ of a task less its share is CR1.
    expect(covariance[0]! / variance).toBeCloseTo(1, 10);
  }
});

test('bbᵀ, not bᵀb: the shares satisfy the conditions of the minimum of xᵀ(Ω + bbᵀ + 10⁻⁵I)x', () => {
  for (const by of [0, 0.05, 0.5, -2]) {
    const { stages, corrected } = setting('patient', by);
    const { covariance, bias, x, g } = blend(corrected, stages);
    const m = g.length;
    const gradientOf = (outer: (k: number, l: number) => number) => {
      const gradient = Array.from({ length: m }, (_, k) =>
        sumOf(
          Array.from(
            { length: m },
            (_, l) => (covariance[k * m + l]! + outer(k, l) + (k === l ? 1e-5 : 0)) * x[l]!,
          ),
        ),
      );
      return { gradient, value: sumOf(gradient.map((v, k) => v * x[k]!)) };
    };
    const { gradient, value } = gradientOf((k, l) => bias[k]! * bias[l]!);
    expect(sumOf(x)).toBeCloseTo(1, 12);
    gradient.forEach((v, k) => {
      expect(x[k]).toBeGreaterThanOrEqual(0);
      expect(v).toBeGreaterThanOrEqual(value * (1 - 1e-9));
      if (x[k]! > 1e-9) expect(v / value).toBeCloseTo(1, 8);
    });
    if (by !== -2) continue;
    // A bias there is. bᵀb is one number, and adding a number to all entries moves no minimum: without
    // bbᵀ these shares are none.
    expect(Math.max(...bias.map(Math.abs))).toBeGreaterThan(1);
    const ignored = gradientOf(() => 0);
    expect(Math.min(...ignored.gradient)).toBeLessThan(ignored.value * 0.9);
  }
});

test('b is the signed distance from the middle half of WDR on resampled tasks, 0 within it', () => {
  const signs = new Set<number>();
  for (const by of [-2, 0, 0.5]) {
    const { w, stages, corrected } = setting('soft', by); // 500 rollouts, each a task of its own
    const { g, bias } = blend(corrected, stages, { seed: 3, replicates: 80 });
    const { of, count } = taskBuckets(w);
    expect(count).toBe(w.n);
    const drawnTasks = new Int32Array(w.n);
    const counts = new Int32Array(w.n);
    const length = (i: number) => w.offsets[i + 1]! - w.offsets[i]!;
    const drawn = Array.from({ length: 80 }, (_, replicate) => {
      resampleCounts(3, replicate, drawnTasks);
      of.forEach((b, i) => {
        counts[i] = drawnTasks[b]!;
      });
      let value = counts.reduce((total, m, i) => total + m * corrected.unconditional[i]!, 0) / w.n;
      for (let t = 0; t < w.stages; t++) {
        let [a, b] = [0, 0];
        for (let i = 0; i < w.n; i++) {
          const here = t < length(i);
          const x = here ? w.weights[w.offsets[i]! + t]! : Math.exp(w.logWeight[i]!);
          b += counts[i]! * x;
          if (here) a += counts[i]! * x * corrected.rewards[w.offsets[i]! + t]!;
        }
        value += a / b;
      }
      return value;
    }).sort((x, y) => x - y);
    // Type 7 of 80 values: places 19.75 and 59.25 from 0.
    const at = (place: number) =>
      drawn[Math.floor(place)]! + (place % 1) * (drawn[Math.ceil(place)]! - drawn[Math.floor(place)]!);
    const wdr = g.at(-1)!;
    const [lo, hi] = [Math.min(wdr, at(19.75)), Math.max(wdr, at(59.25))];
    g.forEach((v, k) => {
      expect(bias[k]).toBeCloseTo(v > hi ? v - hi : v < lo ? v - lo : 0, 10);
      signs.add(Math.sign(bias[k]!));
    });
  }
  expect([...signs].sort()).toEqual([-1, 0, 1]);
});

test('a hopeless model gets no share, a true one most of it where the weights are wild', () => {
  const wrong = setting('soft', 50);
  const far = blend(wrong.corrected, wrong.stages);
  expect(far.x[0]).toBeLessThan(1e-3);
  const right = setting('patient');
  const { value } = magic().estimate(right.w, right.stages, { q: right.q });
  const { V } = exact.policies.patient;
  const wdr = wdrCarried.estimate(right.w, right.stages, { q: right.q }).value;
  expect(Math.abs(value - V)).toBeLessThan(Math.abs(wdr - V) + 1e-12);
});

test('the blend lies between its parts, the same seed gives the same bytes, and it makes no interval', () => {
  const { w, stages, q, corrected } = setting('soft', 0.2);
  const a = magic({ seed: 4 }).estimate(w, stages, { q });
  expect(magic({ seed: 4 }).estimate(w, stages, { q })).toEqual(a);
  const { g } = blend(corrected, stages, { seed: 4 });
  expect(a.value).toBeGreaterThanOrEqual(Math.min(...g) - 1e-12);
  expect(a.value).toBeLessThanOrEqual(Math.max(...g) + 1e-12);
  expect(sumOf(a.psi) / a.psi.length).toBeCloseTo(a.value, 10);
  expect(a.noInterval).toMatch(/chosen on the same data/);
  expect(magic({ seed: 4 }).convention).toMatch(/seed 4/);
});

test('long horizons blend so many returns, with both ends', () => {
  const { stages, corrected } = setting('soft');
  const { steps, g } = blend(corrected, stages, { returns: 3 });
  expect(steps).toEqual([-1, 2, 5]);
  const all = blend(corrected, stages).g;
  [0, 3, 6].forEach((k, at) => {
    expect(g[at]).toBeCloseTo(all[k]!, 12);
  });
});
