import { expect, test } from 'vitest';
import { bootstrap, resampleCounts } from '../../src/math/bootstrap.ts';
import { percentileLimits } from '../../src/math/bootstrap-interval.ts';
import { studentQuantile } from '../../src/math/distributions.ts';
import { normal, random } from '../../src/math/random.ts';
import { mean } from '../../src/math/statistics.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';
import type { IntervalKind } from '../../src/schema/evaluation.ts';
import { estimateOf } from '../../src/value/estimate.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { sumOfRatios } from '../../src/value/intervals/sum-of-ratios.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

test('a frozen denominator covers always and is ten times as wide; the ratio resampled whole is neither', () => {
  const [sets, K, B] = [300, 100, 199];
  let [frozenHeld, held, frozenWidth, width] = [0, 0, 0, 0];
  const counts = new Int32Array(K);
  for (let s = 0; s < sets; s++) {
    const rng = random(s, 'frozen');
    // Returns near 1 whatever the weight: the truth is 1.
    const w = Array.from({ length: K }, () => Math.exp(normal(rng) - 0.5));
    const wG = w.map((x) => x * (1 + 0.1 * normal(rng)));
    const value = mean(wG) / mean(w);
    const sums = Float64Array.from(w.flatMap((x, i) => [wG[i]! - value * x, x]));
    const table = { buckets: K, columns: 2, sums, f: sumOfRatios(Float64Array.of(value), 'undefined') };
    const ours = percentileLimits(bootstrap([table], B, s)[0]!.values, 0.95);
    const wrong = percentileLimits(
      Float64Array.from({ length: B }, (_, r) => {
        resampleCounts(s, r, counts);
        return wG.reduce((total, x, i) => total + counts[i]! * x, 0) / (mean(w) * K);
      }),
      0.95,
    );
    if (ours.lo <= 1 && 1 <= ours.hi) held++;
    if (wrong.lo <= 1 && 1 <= wrong.hi) frozenHeld++;
    width += (ours.hi - ours.lo) / sets;
    frozenWidth += (wrong.hi - wrong.lo) / sets;
  }
  expect(frozenHeld).toBe(sets);
  expect(frozenWidth / width).toBeGreaterThan(7);
  expect(frozenWidth / width).toBeLessThan(14);
  expect(held / sets).toBeGreaterThan(0.88); // the percentile interval of a skewed mean falls a little short
  expect(held / sets).toBeLessThan(0.98);
});

test('a two-sided 95 % interval takes the .975 quantile: 2.2621571627 at 9 degrees of freedom, not 1.8331129327', () => {
  // Roots of the closed form at 9 degrees of freedom, θ = atan(t/3): ½ + (θ + sin θ (cos θ + ⅔ cos³ θ + 8⁄15 cos⁵ θ + 16⁄35 cos⁷ θ))/π.
  expect(studentQuantile(0.975, 9)).toBeCloseTo(2.262157162798205, 10);
  expect(studentQuantile(0.95, 9)).toBeCloseTo(1.8331129326536335, 10);
  const psi = Float64Array.from({ length: 10 }, (_, i) => i);
  const e = estimateOf(
    'x',
    'y',
    { value: 4.5, psi },
    {
      clusters: { of: Int32Array.from(psi), count: 10 },
      level: 0.95,
      ess: 10,
      kHat: null,
      estimand: 'x',
      range: [0, 9],
    },
  );
  const se = Math.sqrt(82.5 / 9 / 10);
  expect((e.interval!.hi - e.interval!.lo) / 2).toBeCloseTo(2.262157162798205 * se, 10);
});

/** One turn, one task each, all of return G. */
const constant = (n: number, G: number): EpisodeInput[] =>
  Array.from({ length: n }, (_, i) => ({
    episode_id: `e${i}`,
    task_id: `t${i}`,
    ending: 'terminated',
    turns: [{ reward: G, action_class: 'submit', behaviour_log_propensity: Math.log(0.6), features: [2] }],
  }));
const evaluated = (
  episodes: readonly EpisodeInput[],
  more: Parameters<typeof evaluate>[1],
  name: 'soft' | 'behaviour' = 'soft',
) =>
  evaluate(logRatiosFromPolicyFile(trajectoriesOf(episodes), policyFile(name)), { replicates: 200, ...more });

test('100 copies of 0.751: no interval, never a negative variance', () => {
  for (const interval of [
    'cr1-t',
    'bootstrap-percentile',
    'bootstrap-bca',
    'bootstrap-t',
  ] as IntervalKind[]) {
    const e = evaluated(constant(100, 0.751), { interval });
    for (const x of [e.behaviour, ...e.estimates]) {
      expect(x.se, `${interval} ${x.estimator}`).toBe(0);
      expect(x.seNaive).toBe(0);
      if (x.warnings.some((w) => w.code === 'no-interval')) continue;
      expect(x.interval, `${interval} ${x.estimator}`).toBeNull();
      expect(x.warnings.map((w) => w.code)).toContain('no-spread');
    }
  }
});

test('Hoeffding and empirical Bernstein: refused without a declared range, and for weighted returns without a limit of the weight', () => {
  const episodes = simulated(50, 4, 3);
  for (const interval of ['hoeffding', 'empirical-bernstein'] as IntervalKind[]) {
    expect(() => evaluated(episodes, { interval })).toThrow(
      /needs declared limits of the return; the largest one seen is not a limit/,
    );
    const range = [-0.3, 1] as [number, number];
    const e = evaluated(episodes, { interval, range });
    const of = (name: string) => e.estimates.find((x) => x.estimator === name)!;
    expect(e.behaviour.interval!.method).toMatch(/over 50 tasks, return declared within \[-0.3, 1\]/);
    for (const x of e.estimates) expect(x.interval, x.estimator).toBeNull();
    expect(of('IS').warnings.at(-1)!.message).toMatch(/--max-weight/);
    const limited = evaluated(episodes, { interval, range, maxWeight: 5 ** 6 });
    expect(limited.estimates[0]!.interval!.method).toMatch(/weighted return declared within/);
    expect(of('WIS').warnings.at(-1)!.code).toBe('no-range');
    expect(() => evaluated(episodes, { interval, range, maxWeight: 0.1 })).toThrow(
      /an episode weighs more than the declared limit/,
    );
  }
});

test('weighted returns: a value lies in the declared range on both sides, however wide their own is', () => {
  for (const interval of ['hoeffding', 'empirical-bernstein'] as IntervalKind[]) {
    const near = (range: [number, number]) =>
      evaluated(simulated(50, 4, 3), { interval, range, maxWeight: 5 ** 6 }).estimates[0]!.interval!;
    const { lo, hi, method } = near([-0.3, 1]);
    expect([lo, hi]).toEqual([-0.3, 1]); // the weights alone would leave [−4,687.5, 15,625]
    expect(method).toMatch(/within \[-4687.5, 15625\], cut to \[-0.3, 1\]/);
  }
});

test('an interval that lies wholly outside the declared range is none', () => {
  // Every weight is (1/.6)² too large, so that the mean of w G is 2 where no return is above 1.
  const episodes = constant(4000, 1).map((e) => ({
    ...e,
    turns: e.turns.map((t) => ({ ...t, behaviour_log_propensity: Math.log(0.3) })),
  }));
  const { estimates } = evaluated(
    episodes,
    { interval: 'hoeffding', range: [0, 1], maxWeight: 2 },
    'behaviour',
  );
  const is = estimates.find((e) => e.estimator === 'IS')!;
  expect(is.value!).toBeGreaterThan(1.5);
  expect(is.interval).toBeNull();
  expect(is.warnings.at(-1)).toMatchObject({ code: 'outside-range' });
});

test('their widths over tasks shrink as √K, and a task’s episodes count as one', () => {
  const width = (tasks: number, each: number, interval: IntervalKind) => {
    const { interval: made } = evaluated(simulated(tasks, each, 5), { interval, range: [-50, 50] }).behaviour;
    return made!.hi - made!.lo;
  };
  expect(width(100, 1, 'hoeffding') / width(400, 1, 'hoeffding')).toBeCloseTo(2, 9);
  expect(width(100, 1, 'hoeffding') / width(100, 4, 'hoeffding')).toBeCloseTo(1, 9);
  expect(width(100, 1, 'hoeffding')).toBeCloseTo(2 * 100 * Math.sqrt(Math.log(40) / 200), 9);
  expect(width(100, 1, 'empirical-bernstein')).toBeGreaterThan(width(400, 1, 'empirical-bernstein'));
});
