import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { studentQuantile } from '../../src/math/distributions.ts';
import { NO_SPREAD } from '../../src/math/no-spread.ts';
import type { EpisodeArrays } from '../../src/value/arrays/columns.ts';
import { estimateArrays } from '../../src/value/arrays/estimate-arrays.ts';
import { closeTo } from '../helpers/close-to.ts';

interface Turn {
  readonly log: number; // log ρ
  readonly reward: number;
  readonly q: number;
  readonly v: number;
}
interface Rollout {
  readonly task: number;
  readonly turns: readonly Turn[];
}

const part = fc.double({ min: -1, max: 1, noNaN: true });
const turn = fc.record({
  log: fc.oneof({ weight: 9, arbitrary: part }, { weight: 1, arbitrary: fc.constant(-Infinity) }),
  reward: fc.constantFrom(0, 0, 1, -0.5),
  q: part,
  v: part,
});
const rollouts = fc.array(
  fc.record({ task: fc.integer({ min: 0, max: 4 }), turns: fc.array(turn, { minLength: 1, maxLength: 5 }) }),
  { minLength: 2, maxLength: 30 },
);

const doubles = (length: number, shared: boolean) =>
  shared ? new Float64Array(new SharedArrayBuffer(8 * length)) : new Float64Array(length);
const ints = (length: number, shared: boolean) =>
  shared ? new Int32Array(new SharedArrayBuffer(4 * length)) : new Int32Array(length);

/** Columns as a program has them; `plus` is added to the first log-ratio of every episode. */
function arraysOf(all: readonly Rollout[], { plus = 0, shared = false } = {}): EpisodeArrays {
  const turns = all.flatMap((e) => e.turns);
  const offsets = ints(all.length + 1, shared);
  for (const [i, e] of all.entries()) offsets[i + 1] = offsets[i]! + e.turns.length;
  const of = ints(all.length, shared);
  for (const [i, e] of all.entries()) of[i] = e.task;
  const firsts = new Set(offsets);
  const column = (f: (x: Turn, k: number) => number) => {
    const out = doubles(turns.length, shared);
    for (const [k, x] of turns.entries()) out[k] = f(x, k);
    return out;
  };
  return {
    offsets,
    behaviour: column((_, k) => -1.5 - (firsts.has(k) ? Math.max(plus, 0) : 0)),
    target: column((x, k) => x.log - 1.5 + (firsts.has(k) ? Math.min(plus, 0) : 0)),
    rewards: column((x) => x.reward),
    clusters: { of, count: 5 },
    q: { logged: column((x) => x.q), v: column((x) => x.v) },
  };
}

/** Every estimator by its definition, one episode and one turn at a time. */
function byDefinition(all: readonly Rollout[]) {
  const n = all.length;
  const weights = all.map((e) =>
    e.turns.map((_, t) => Math.exp(add(e.turns.slice(0, t + 1).map((x) => x.log)))),
  );
  const last = weights.map((w) => w.at(-1)!);
  const G = all.map((e) => add(e.turns.map((x) => x.reward)));
  const T = Math.max(...all.map((e) => e.turns.length));
  const stages = Array.from({ length: T }, (_, t) => t);
  const reward = (e: Rollout, t: number) => e.turns[t]?.reward ?? 0;
  const delta = (e: Rollout, t: number) =>
    t < e.turns.length ? e.turns[t]!.reward + (e.turns[t + 1]?.v ?? 0) - e.turns[t]!.q : 0;
  const alive = (i: number, t: number) => weights[i]![t] ?? 0;
  const carried = (i: number, t: number) => weights[i]![t] ?? last[i]!;
  type At = (i: number, t: number) => number;
  type Column = (e: Rollout, t: number) => number;
  // Σ_t c_t (Σ_i w x) / (Σ_i w), with the influence of each episode on it.
  const ratios = (weight: At, x: Column, share: (t: number) => number) => {
    const b = stages.map((t) => add(all.map((_, i) => weight(i, t))));
    const a = stages.map((t) => add(all.map((e, i) => (weight(i, t) === 0 ? 0 : weight(i, t) * x(e, t)))));
    const term = stages.map((t) => (a[t] === 0 ? 0 : a[t]! / b[t]!));
    const psi = all.map((e, i) =>
      add(
        stages.map((t) =>
          weight(i, t) === 0 || (term[t] === 0 && b[t] === 0)
            ? 0
            : (share(t) * n * weight(i, t) * (x(e, t) - term[t]!)) / b[t]!,
        ),
      ),
    );
    return { value: add(stages.map((t) => share(t) * term[t]!)), psi, term };
  };
  const one = () => 1;
  const share = (t: number) => all.filter((e) => t < e.turns.length).length / n;
  const sums = (x: Column) =>
    all.map((e, i) => add(e.turns.map((_, t) => (weights[i]![t] === 0 ? 0 : weights[i]![t]! * x(e, t)))));
  const plain = (psi: readonly number[]) => ({ value: add(psi) / n, psi });
  const first = all.map((e) => e.turns[0]!.v);
  const start = add(first) / n;
  const withStart = ({ value, psi }: { value: number; psi: readonly number[] }) => ({
    value: start + value,
    psi: psi.map((x, i) => x + first[i]!),
  });
  const total = add(last);
  const wis = add(last.map((w, i) => w * G[i]!)) / total;
  const overN = ratios(alive, reward, share);
  // The share of episodes that reach a turn is a mean of episodes too.
  const own = overN.psi.map((x, i) => x + add(overN.term.slice(0, all[i]!.turns.length)));
  return {
    IS: plain(last.map((w, i) => w * G[i]!)),
    WIS: { value: wis, psi: last.map((w, i) => (n * w * (G[i]! - wis)) / total) },
    PDIS: plain(sums(reward)),
    'WPDIS carried': ratios(carried, reward, one),
    'WPDIS alive': ratios(alive, reward, one),
    'WPDIS alive-mean-over-n': { value: overN.value, psi: own },
    DR: withStart(plain(sums(delta))),
    'WDR carried': withStart(ratios(carried, delta, one)),
    'WDR alive': withStart(ratios(alive, delta, one)),
  };
}

/** CR1 by hand: tasks that are there, deviations summed within each. */
function standardError(psi: readonly number[], all: readonly Rollout[]): number {
  const centre = add(psi) / psi.length;
  const tasks = [...new Set(all.map((e) => e.task))];
  const of = tasks.map((task) => add(psi.filter((_, i) => all[i]!.task === task).map((x) => x - centre)));
  const K = tasks.length;
  return Math.sqrt((K / (K - 1)) * add(of.map((x) => x * x))) / psi.length;
}

const add = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0);

/** At every stage somebody is still followed, and there are two tasks: else there is nothing to compare. */
const answerable = (all: readonly Rollout[]): boolean =>
  new Set(all.map((e) => e.task)).size > 1 && all.some((e) => e.turns.every((x) => x.log > -Infinity));

const absent = { lo: null, hi: null, noInterval: NO_SPREAD };

test.prop([rollouts], { numRuns: 300 })(
  'every estimator is its definition, with its CR1 interval',
  async (all) => {
    fc.pre(answerable(all));
    const found = await estimateArrays(arraysOf(all));
    const t = studentQuantile(0.975, 4);
    for (const [name, { value, psi }] of Object.entries(byDefinition(all))) {
      const own = found.estimates.find((e) => e.estimator === name)!;
      const se = standardError(psi, all);
      // No interval only where the error is 0 but for rounding.
      const limits = own.lo === null && se < 1e-9 ? absent : { lo: value - t * se, hi: value + t * se };
      closeTo(own, { estimator: name, value, se, ...limits }, 1e-9);
    }
  },
);

test.prop([rollouts, fc.constantFrom(-500, 400)], { numRuns: 100 })(
  'weights all multiplied by e^400 or e^−500 change no ratio',
  async (all, plus) => {
    fc.pre(answerable(all));
    const found = await estimateArrays(arraysOf(all, { plus }));
    const expected = byDefinition(all);
    // Squares of such weights fit no double: the effective sample size has to be taken on their own scale.
    const w = all.map((e) => Math.exp(add(e.turns.map((x) => x.log))));
    closeTo(found.ess, add(w) ** 2 / add(w.map((x) => x * x)), 1e-8);
    for (const name of [
      'WIS',
      'WPDIS carried',
      'WPDIS alive',
      'WPDIS alive-mean-over-n',
      'WDR alive',
    ] as const) {
      const own = found.estimates.find((e) => e.estimator === name)!;
      closeTo(own.value, expected[name].value, 1e-8);
      closeTo(own.se, standardError(expected[name].psi, all), 1e-8);
    }
  },
);

test('two threads, one, and columns that are not shared: the same digits', async () => {
  const turnOf = (k: number): Turn => ({
    log: Math.sin(k) / 10,
    reward: k % 7 === 0 ? 1 : 0,
    q: Math.cos(k),
    v: Math.cos(k + 1),
  });
  const all = Array.from(
    { length: 20_000 },
    (_, i): Rollout => ({
      task: i % 5,
      turns: Array.from({ length: 5 + (i % 13) }, (_, t) => turnOf(17 * i + t)),
    }),
  );
  const arrays = arraysOf(all, { shared: true });
  const two = await estimateArrays(arrays, { threads: 2 });
  expect(await estimateArrays(arrays, { threads: 1 })).toEqual(two);
  expect(await estimateArrays(arraysOf(all))).toEqual(two);
  expect(two.estimates.every((e) => e.lo !== null && Number.isFinite(e.lo))).toBe(true);
});

test.each([
  [
    'behaviour',
    { behaviour: Float64Array.of(-1, -Infinity, -1) },
    /column behaviour: episode 0, turn 1 .*got -Infinity/,
  ],
  [
    'behaviour above 1',
    { behaviour: Float64Array.of(-1, 0.4, -1) },
    /column behaviour: episode 0, turn 1 .*got 0.4/,
  ],
  ['target above 1', { target: Float64Array.of(0.2, -1, -1) }, /column target: episode 0, turn 0 .*got 0.2/],
  ['target', { target: Float64Array.of(-1, -1, Number.NaN) }, /column target: episode 1, turn 0 .*got NaN/],
  [
    'rewards',
    { rewards: Float64Array.of(0, Infinity, 1) },
    /column rewards: episode 0, turn 1 .*got Infinity/,
  ],
  [
    'rewards',
    { rewards: Float64Array.of(0, 1) },
    /column rewards: is not one number a turn, got 2, expected 3/,
  ],
  ['offsets', { offsets: Int32Array.of(0, 0, 3) }, /column offsets: episode 0 has no turn/],
  [
    'clusters',
    { clusters: { of: Int32Array.of(0, 2), count: 2 } },
    /column clusters.of: episode 1 is in no cluster/,
  ],
])('refused by name: %s', async (_, wrong, message) => {
  const right: EpisodeArrays = {
    offsets: Int32Array.of(0, 2, 3),
    behaviour: Float64Array.of(-1, -1, -1),
    target: Float64Array.of(-1, -1, -1),
    rewards: Float64Array.of(0, 1, 1),
    clusters: { of: Int32Array.of(0, 1), count: 2 },
  };
  await estimateArrays(right);
  await expect(estimateArrays({ ...right, ...wrong })).rejects.toThrow(message);
});

test('two episodes by hand: every estimator from arrays', async () => {
  // Ratios 2 and 1/2, then 2; rewards 1 and 1, then 3: w_T = 1 and 2, G = 2 and 3.
  const found = await estimateArrays({
    offsets: Int32Array.of(0, 2, 3),
    behaviour: Float64Array.of(-1, -1, -1),
    target: Float64Array.of(Math.log(2) - 1, Math.log(0.5) - 1, Math.log(2) - 1),
    rewards: Float64Array.of(1, 1, 3),
    clusters: { of: Int32Array.of(0, 1), count: 2 },
    q: { logged: Float64Array.of(0, 0, 0), v: Float64Array.of(0, 0, 0) },
  });
  const values = Object.fromEntries(found.estimates.map((e) => [e.estimator, e.value]));
  closeTo(
    values,
    {
      IS: (1 * 2 + 2 * 3) / 2,
      WIS: (1 * 2 + 2 * 3) / 3,
      PDIS: (2 * 1 + 1 * 1 + 2 * 3) / 2,
      'WPDIS carried': (2 * 1 + 2 * 3) / 4 + (1 * 1) / 3,
      'WPDIS alive': (2 * 1 + 2 * 3) / 4 + 1,
      'WPDIS alive-mean-over-n': (2 * 1 + 2 * 3) / 4 + 1 / 2,
      DR: (2 * 1 + 1 * 1 + 2 * 3) / 2,
      'WDR carried': (2 * 1 + 2 * 3) / 4 + (1 * 1) / 3,
      'WDR alive': (2 * 1 + 2 * 3) / 4 + 1,
    },
    1e-12,
  );
  expect(found.ess).toBeCloseTo(9 / 5, 12);
});

test('equal returns at equal propensities have no interval, and the reason; one that differs brings it back', async () => {
  const found = (last: number) =>
    estimateArrays({
      offsets: Int32Array.of(0, 1, 2, 3, 4, 5, 6),
      behaviour: new Float64Array(6).fill(-0.7),
      target: new Float64Array(6).fill(-0.7),
      rewards: Float64Array.of(0.3, 0.3, 0.3, 0.3, 0.3, last),
      clusters: { of: Int32Array.of(0, 1, 2, 3, 4, 5), count: 6 },
    });
  for (const e of (await found(0.3)).estimates) {
    expect(e.value).toBeCloseTo(0.3, 12);
    expect([e.lo, e.hi]).toEqual([null, null]);
    expect(e.noInterval).toMatch(/spread is 0/);
  }
  for (const e of (await found(0.9)).estimates) {
    // Mean .4, CR1 se .1 by hand, t(5) at 97.5 % is 2.5706.
    expect(e.se).toBeCloseTo(0.1, 9);
    expect(e.lo).toBeCloseTo(0.4 - 0.25706, 4);
    expect(e.hi).toBeCloseTo(0.4 + 0.25706, 4);
    expect(e.noInterval).toBeUndefined();
  }
});
