import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import type { QColumns } from '../../src/schema/q-values.ts';
import { dm } from '../../src/value/dm.ts';
import { dr, drRecursion } from '../../src/value/dr.ts';
import { drVOnly } from '../../src/value/dr-v-only.ts';
import { episodeQ, episodeStateValues } from '../../src/value/nuisances.ts';
import { pdis } from '../../src/value/pdis.ts';
import { qValues } from '../../src/value/q-values.ts';
import { wdrCarried } from '../../src/value/wdr-carried.ts';
import { wpdisCarried } from '../../src/value/wpdis-carried.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import exact from '../fixtures/agent-turns-values.json' with { type: 'json' };
import {
  ACTIONS,
  allPaths,
  episodeOf,
  POLICIES,
  type PolicyName,
  policyFile,
  simulated,
  trajectoriesOf,
} from '../helpers/agent-turns.ts';
import { columnsBy, given } from '../helpers/q-columns.ts';

const paths = allPaths();
const p = Float64Array.from(paths, (x) => x.p);
const every = trajectoriesOf(paths.map(({ steps }, i) => episodeOf(steps, i)));
const E = (f: (i: number) => number): number => p.reduce((total, pi, i) => total + pi * f(i), 0);
const law = new Map(
  POLICIES.map((name) => {
    const ratios = logRatiosFromPolicyFile(every, policyFile(name));
    const w = episodeWeights(ratios);
    return [name, { ratios, w, stages: stageSums(w) }];
  }),
);

type Table = Record<string, Record<string, Record<string, number>>>;
const trueQ = (name: PolicyName, t = every): QColumns => {
  const Q: Table = exact.policies[name].Q_t;
  return columnsBy(t, ACTIONS, (turn, x, a) => Q[turn + 1]![x[0]!]![a]!);
};
/** Any function of turn, state and action. */
const anyQ = (seed: number, t = every): QColumns =>
  columnsBy(t, ACTIONS, (turn, x, a) => 10 * Math.sin(seed + 7 * turn + 3 * x[0]! + 11 * a.length));

test.each(POLICIES)('E[DR] = V by full enumeration, with the true Q and with any Q: %s', (name) => {
  const { ratios, w, stages } = law.get(name)!;
  const { V } = exact.policies[name];
  for (const columns of [trueQ(name), anyQ(1), anyQ(2)]) {
    const { psi } = dr.estimate(w, stages, given(ratios, w, columns));
    expect(Math.abs(E((i) => psi[i]!) - V)).toBeLessThanOrEqual(1e-12);
  }
});

test.each(POLICIES)('with the true Q the variance of DR is the efficiency bound: %s', (name) => {
  const { ratios, w, stages } = law.get(name)!;
  const { V, efficiency_bound_NMDP } = exact.policies[name];
  const { psi } = dr.estimate(w, stages, given(ratios, w, trueQ(name)));
  const variance = E((i) => (psi[i]! - V) ** 2);
  expect(Math.abs(variance / efficiency_bound_NMDP - 1)).toBeLessThanOrEqual(1e-10);
});

test.each(POLICIES)('E[V-only DR] = V with any V, that of the behaviour among them: %s', (name) => {
  const { w, stages } = law.get(name)!;
  const { V } = exact.policies[name];
  const Vb: Record<string, Record<string, number>> = exact.policies.behaviour.V_t;
  const { turns, features } = every;
  for (const f of [
    (t: number, x: number) => Vb[t + 1]![x]!,
    (t: number, x: number) => 5 * Math.cos(3 * t + x),
  ]) {
    const stateValue = Float64Array.from({ length: turns.turn.length }, (_, s) =>
      f(turns.turn[s]!, features!.values[s]!),
    );
    const stateValues = episodeStateValues(w, { stateValue, label: 'any' });
    const { psi } = drVOnly.estimate(w, stages, { stateValues });
    expect(Math.abs(E((i) => psi[i]!) - V)).toBeLessThanOrEqual(1e-12);
  }
});

test.each(POLICIES)('with the true Q, E[DM] = V: %s', (name) => {
  const { ratios, w, stages } = law.get(name)!;
  const q = given(ratios, w, trueQ(name));
  const { psi } = dm.estimate(w, stages, q);
  expect(Math.abs(E((i) => psi[i]!) - exact.policies[name].V)).toBeLessThanOrEqual(1e-12);
});

test('the trap: a V fitted to the behaviour’s returns beside a separate Q gives the behaviour’s value', () => {
  const { ratios, w, stages } = law.get('patient')!;
  const { V } = exact.policies.patient;
  const Vb: Record<string, Record<string, number>> = exact.policies.behaviour.V_t;
  // Q of the behaviour, and V of the behaviour from a regression of its own: both exact fits.
  const own = qValues(ratios, { ...trueQ('behaviour'), continues: 'behaviour' });
  const v = Float64Array.from(own.v, (_, s) => Vb[every.turns.turn[s]! + 1]![every.features!.values[s]!]!);
  const wrong = { logged: Float64Array.from(w.rewards), v: Float64Array.from(w.rewards) };
  for (let i = 0; i < w.n; i++)
    for (let s = w.offsets[i]!; s < w.offsets[i + 1]!; s++) {
      wrong.logged[s] = own.logged[s]!;
      wrong.v[s] = v[s]!;
    }
  const psi = dr.estimate(w, stages, { q: { ...wrong, continues: 'behaviour', label: 'wrong' } }).psi;
  const got = E((i) => psi[i]!);
  // The wrong version is wrong: it is the behaviour's 0.42, to the last digit, where V is 0.7125.
  expect(got).toBeCloseTo(exact.policies.behaviour.V, 10);
  expect(Math.abs(got - V)).toBeGreaterThan(0.29);
  // Ours refuses it, by turn; and from the same Q with its own V under the target it gives V.
  expect(() => episodeQ(ratios, w, { ...own, v })).toThrow(/V at episode 0 turn 0 is not the mean of Q̂/);
  const right = dr.estimate(w, stages, { q: episodeQ(ratios, w, own) }).psi;
  expect(Math.abs(E((i) => right[i]!) - V)).toBeLessThanOrEqual(1e-12);
});

test('Q-values of the behaviour are refused by DM, whose value would be that of one action only', () => {
  const { ratios, w, stages } = law.get('patient')!;
  const q = given(ratios, w, { ...trueQ('behaviour'), continues: 'behaviour' });
  expect(() => dm.estimate(w, stages, q)).toThrow(/are of the behaviour/);
});

test('what an estimator rests on is refused by name where it is missing, with how to get it', () => {
  const { ratios, w, stages } = law.get('soft')!;
  expect(() => dr.estimate(w, stages)).toThrow(/^DR: needs q-values.*qValues\(\)/);
  expect(() => wdrCarried.estimate(w, stages, {})).toThrow(/^WDR carried: needs q-values/);
  expect(() => drVOnly.estimate(w, stages, { q: given(ratios, w, anyQ(1)).q })).toThrow(
    /^DR V-only: needs state-values/,
  );
  expect(() => qValues({ ...ratios, table: null }, anyQ(1))).toThrow(
    /recorded scores of logged actions only/,
  );
  const lacking = columnsBy(every, ['cheap', 'think'], () => 0);
  expect(() => qValues(ratios, lacking)).toThrow(/lack action class "submit"/);
  const hole = columnsBy(every, ACTIONS, (_, __, a, s) => (s === 3 && a === 'think' ? Number.NaN : 0));
  expect(() => qValues(ratios, hole)).toThrow(/are no number at episode \d+ turn \d+/);
});

test('turns that share a row of Q have their own V, by what the target does there', () => {
  const { ratios } = law.get('soft')!;
  const table = ratios.table!;
  const one: QColumns = {
    classes: ['submit', 'cheap', 'think'],
    q: Float64Array.of(100, 10, 1),
    row: new Int32Array(ratios.values.length),
    unseen: null,
    continues: 'target',
    label: 'one row',
  };
  const { v, logged } = qValues(ratios, one);
  const worth: Record<string, number> = { submit: 100, cheap: 10, think: 1 };
  const { codes, values } = every.turns.actionClass;
  const A = table.classes.length;
  for (let s = 0; s < v.length; s += 97) {
    const want = table.classes.reduce(
      (sum, a, k) => sum + table.probabilities[table.cell[s]! * A + k]! * worth[a]!,
      0,
    );
    expect(v[s]).toBeCloseTo(want, 10);
    expect(logged[s]).toBe(worth[values[codes[s]!]!]);
  }
});

const seed = fc.integer({ min: 1, max: 1e6 });
const target = fc.constantFrom(...POLICIES);
const setting = (s: number, name: PolicyName, discount = 1) => {
  const t = trajectoriesOf(simulated(15, 3, s));
  const ratios = logRatiosFromPolicyFile(t, policyFile(name));
  const w = episodeWeights(ratios, discount);
  return { t, ratios, w, stages: stageSums(w) };
};

test.prop([seed, target, fc.double({ min: 0.2, max: 1, noNaN: true })], { numRuns: 30 })(
  'DR as recursion = DR as sum, whatever Q and γ',
  (s, name, gamma) => {
    const { t, ratios, w, stages } = setting(s, name, gamma);
    const q = given(ratios, w, anyQ(s, t));
    const recursion = drRecursion(w, q.q!);
    dr.estimate(w, stages, q).psi.forEach((x, i) => {
      expect(Math.abs(x - recursion[i]!)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(x)));
    });
  },
);

test.prop([seed, target], { numRuns: 20 })('Q = 0: DR = PDIS and WDR = WPDIS', (s, name) => {
  const { t, ratios, w, stages } = setting(s, name);
  const q = given(
    ratios,
    w,
    columnsBy(t, ACTIONS, () => 0),
  );
  for (const [a, b] of [
    [dr, pdis],
    [wdrCarried, wpdisCarried],
  ] as const) {
    expect(a.estimate(w, stages, q).psi).toEqual(b.estimate(w, stages).psi);
    expect(a.estimate(w, stages, q).value).toBe(b.estimate(w, stages).value);
  }
});

test.prop([seed, target], { numRuns: 20 })(
  'rewards a·r, + b at the last, and a·Q + b: DR moves by the same map, episode by episode',
  (s, name) => {
    const [a, b] = [2.5, -3];
    const episodes = simulated(15, 3, s);
    const moved = episodes.map((e) => ({
      ...e,
      turns: e.turns.map((x, k) => ({ ...x, reward: a * x.reward! + (k === e.turns.length - 1 ? b : 0) })),
    }));
    const values = [episodes, moved].map((log, k) => {
      const t = trajectoriesOf(log);
      const ratios = logRatiosFromPolicyFile(t, policyFile(name));
      const w = episodeWeights(ratios);
      const q = anyQ(s, t);
      const columns = k === 0 ? q : { ...q, q: q.q.map((x) => a * x + b) };
      return dr.estimate(w, stageSums(w), given(ratios, w, columns)).psi;
    });
    values[0]!.forEach((x, i) => {
      expect(values[1]![i]).toBeCloseTo(a * x + b, 8);
    });
  },
);

test.prop([seed, target], { numRuns: 10 })(
  'DR of two logs together is that of each, episode by episode',
  (s, name) => {
    const [a, b] = [
      simulated(6, 3, s),
      simulated(6, 3, s + 1).map((e) => ({ ...e, episode_id: `b${e.episode_id}` })),
    ];
    const psiOf = (log: typeof a) => {
      const t = trajectoriesOf(log);
      const ratios = logRatiosFromPolicyFile(t, policyFile(name));
      const w = episodeWeights(ratios);
      return [...dr.estimate(w, stageSums(w), given(ratios, w, anyQ(s, t))).psi];
    };
    const apart = [...psiOf(a), ...psiOf(b)];
    psiOf([...a, ...b]).forEach((x, i) => {
      expect(x).toBeCloseTo(apart[i]!, 9); // the classes are summed in another order
    });
  },
);
