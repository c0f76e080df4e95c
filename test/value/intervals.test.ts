import { expect, test } from 'vitest';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { valueBounds } from '../../src/value/bounds.ts';
import { estimateOf } from '../../src/value/estimate.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { returnRange } from '../../src/value/return-range.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';

const context = {
  clusters: { of: Int32Array.of(0, 0, 1, 2), count: 3 },
  level: 0.95,
  ess: 4,
  kHat: null,
  estimand: 'x',
  range: [0, 10],
} as const;

test('the interval by hand: CR1 of clusters {1, 2}, {3}, {6}, t with 2 degrees of freedom at .975', () => {
  const e = estimateOf('x', 'y', { value: 3, psi: Float64Array.of(1, 2, 3, 6) }, context);
  const se = Math.sqrt(27 / 16);
  const t = 0.95 * Math.sqrt(2 / (4 * 0.975 * 0.025)); // closed form at 2 degrees of freedom
  expect(e.se).toBeCloseTo(se, 14);
  expect(e.seNaive).toBeCloseTo(Math.sqrt(14 / 4 / 4), 14);
  expect(e.interval!.lo).toBeCloseTo(3 - t * se, 10);
  expect(e.interval!.hi).toBeCloseTo(3 + t * se, 10);
  expect(e.interval!.method).toBe('CR1-t, 2 degrees of freedom');
});

test('outside the logged range is a warning; one task has no error', () => {
  const far = estimateOf('x', 'y', { value: 11, psi: Float64Array.of(9, 13, 11, 12) }, context);
  expect(far.warnings.map((w) => w.code)).toEqual(['outside-range']);
  const rounded = estimateOf('x', 'y', { value: 10 + 2e-15, psi: Float64Array.of(9, 10, 11, 10) }, context);
  expect(rounded.warnings).toEqual([]);
  const one = estimateOf(
    'x',
    'y',
    { value: 3, psi: Float64Array.of(3, 3) },
    {
      ...context,
      clusters: { of: Int32Array.of(0, 0), count: 1 },
    },
  );
  expect(one.se).toBeNull();
  expect(one.interval).toBeNull();
  expect(one.warnings.map((w) => w.code)).toEqual(['one-cluster']);
});

test('the bounds are where the mixed capital of the bets reaches 1/α, tasks of unequal size', () => {
  // 300 tasks of one rollout, 300 of two; returns 0 or 1 in [0, 1], weights 0.5 or 3.
  const rows = Array.from({ length: 900 }, (_, i) => ({
    c: i < 300 ? i : 300 + ((i - 300) >> 1),
    w: i % 4 === 0 ? 3 : 0.5,
    G: i % 3 === 0 ? 1 : 0,
  }));
  const w = {
    n: 900,
    logWeight: Float64Array.from(rows, (r) => Math.log(r.w)),
    returns: Float64Array.from(rows, (r) => r.G),
    clusters: { of: Int32Array.from(rows, (r) => r.c), count: 600 },
  };
  const b = valueBounds(w, { lo: 0, hi: 1, source: 'declared' }, 0.9)!;
  const capital = (m: number, f: (G: number) => number) => {
    let total = 0;
    for (let j = 0; j < 25; j++) {
      const theta = 0.99 * 10 ** (-j / 8);
      let log = 0;
      for (let c = 0; c < 600; c++) {
        const mine = rows.filter((r) => r.c === c);
        const mean = mine.reduce((a, r) => a + r.w * f(r.G), 0) / mine.length;
        log += Math.log1p(theta * (mine.length / 2) * (mean / m - 1));
      }
      total += Math.exp(log) / 25;
    }
    return total;
  };
  for (const [limit, f] of [
    [b.lo, (G: number) => G],
    [1 - b.hi, (G: number) => 1 - G],
  ] as const) {
    expect(limit).toBeGreaterThan(0);
    expect(capital(limit * (1 - 1e-6), f)).toBeGreaterThan(1 / 0.05);
    expect(capital(limit * (1 + 1e-6), f)).toBeLessThan(1 / 0.05);
  }
});

test('bounds never leave the range, and need two tasks', () => {
  const w = {
    n: 4,
    logWeight: new Float64Array(4),
    returns: Float64Array.of(0, 1, 0, 1),
    clusters: { of: Int32Array.of(0, 1, 2, 3), count: 4 },
  };
  const range = { lo: -1, hi: 2, source: 'declared' } as const;
  for (const log of [0, -2000, 2000]) {
    const b = valueBounds({ ...w, logWeight: new Float64Array(4).fill(log) }, range, 0.95)!;
    expect(b.lo).toBeGreaterThanOrEqual(-1);
    expect(b.hi).toBeLessThanOrEqual(2);
  }
  expect(valueBounds({ ...w, clusters: { of: new Int32Array(4), count: 1 } }, range, 0.95)).toBeNull();
});

test('the range of the logs is labelled; a declared one must hold', () => {
  const G = Float64Array.of(0.25, 0.75);
  expect(returnRange(G, null)).toEqual({ lo: 0.25, hi: 0.75, source: 'logs' });
  expect(returnRange(G, [0, 1])).toEqual({ lo: 0, hi: 1, source: 'declared' });
  expect(() => returnRange(G, [0, 0.5])).toThrow(
    /a logged return lies outside the declared range, got 0\.75/,
  );
  expect(() => returnRange(G, [1, 0])).toThrow(/is empty/);
});

test('Hoeffding’s interval stands where all returns are alike, and one by t does not', () => {
  const episodes = Array.from({ length: 40 }, (_, i) => ({
    episode_id: `e${i}`,
    task_id: `t${i}`,
    reward: 0.5,
    turns: [{ action_class: i % 2 === 0 ? 'a' : 'b', behaviour_log_propensity: -Math.LN2 }],
  }));
  const ratios = logRatiosFromPolicyFile(
    trajectoriesOf(episodes),
    checkPolicyFile({
      policy: 'even',
      trained_on: 'none',
      rules: [{ probabilities: { a: 0.5, b: 0.5 } }],
    }),
  );
  const of = (interval: 'cr1-t' | 'hoeffding') =>
    evaluate(ratios, { interval, range: [0, 1], maxWeight: 1 }).behaviour;
  expect(of('cr1-t').interval).toBeNull();
  expect(of('cr1-t').warnings.map((w) => w.code)).toContain('no-spread');
  // ½ ± √(log(2/.05)/(2 · 40)).
  const { lo, hi } = of('hoeffding').interval!;
  expect([lo, hi]).toEqual([expect.closeTo(0.2853, 4), expect.closeTo(0.7147, 4)]);
  expect(of('hoeffding').warnings).toEqual([]);
});
