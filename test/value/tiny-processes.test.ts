/*
 * The laws of the estimators on random tiny processes, every path of them: up to three turns, two states, two
 * actions, an end that may come early. Probabilities and rewards are drawn; the values come from dynamic programming.
 */
import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { dr, drRecursion } from '../../src/value/dr.ts';
import { is } from '../../src/value/is.ts';
import { pdis } from '../../src/value/pdis.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { trajectoriesOf } from '../helpers/agent-turns.ts';
import { columnsBy, given } from '../helpers/q-columns.ts';

const H = 3;
const ACTIONS = ['a', 'b'] as const;
/** By turn, state and action, [3 × 2 × 2] each. */
interface Process {
  readonly reward: readonly number[];
  readonly toOne: readonly number[]; // chance of state 1 next
  readonly ends: readonly number[]; // chance of an end here
}
/** Chance of a, by turn and state, [3 × 2]. */
type Policy = readonly number[];

const at = (t: number, s: number, a: number) => (2 * t + s) * 2 + a;
const twelve = (x: fc.Arbitrary<number>) => fc.array(x, { minLength: 12, maxLength: 12 });
const six = (x: fc.Arbitrary<number>) => fc.array(x, { minLength: 6, maxLength: 6 });
const reward = fc.double({ min: -2, max: 2, noNaN: true });
const share = fc.constantFrom(0, 0.2, 0.5, 0.7, 1);
const stochastic: fc.Arbitrary<Process> = fc.record({
  reward: twelve(reward),
  toOne: twelve(share),
  ends: twelve(share),
});
const deterministic: fc.Arbitrary<Process> = fc.record({
  reward: twelve(reward),
  toOne: twelve(fc.constantFrom(0, 1)),
  ends: twelve(fc.constantFrom(0, 0, 1)),
});
const behaviour: fc.Arbitrary<Policy> = six(fc.constantFrom(0.1, 0.25, 0.5, 0.8));
const target: fc.Arbitrary<Policy> = six(share);
const start = fc.constantFrom(0, 1);

const chance = (p: Policy, t: number, s: number, a: number) => (a === 0 ? p[2 * t + s]! : 1 - p[2 * t + s]!);

/** Q of a policy, [3 × 2 × 2], and V of each turn and state, by dynamic programming. */
function valuesOf({ reward: r, toOne, ends }: Process, p: Policy) {
  const q = new Array<number>(12).fill(0);
  const v = new Array<number>(8).fill(0); // [4 × 2], nothing after the last turn
  for (let t = H - 1; t >= 0; t--)
    for (const s of [0, 1]) {
      for (const a of [0, 1]) {
        const k = at(t, s, a);
        const next = (1 - toOne[k]!) * v[2 * (t + 1)]! + toOne[k]! * v[2 * (t + 1) + 1]!;
        q[k] = r[k]! + (1 - ends[k]!) * next;
      }
      v[2 * t + s] = [0, 1].reduce((sum, a) => sum + chance(p, t, s, a) * q[at(t, s, a)]!, 0);
    }
  return { q, v };
}

interface Path {
  readonly p: number; // under the behaviour
  readonly steps: readonly {
    readonly s: number;
    readonly a: number;
    readonly r: number;
    readonly b: number;
  }[];
}
/** Every path that the behaviour can take from a state. */
function pathsOf({ reward: r, toOne, ends }: Process, b: Policy, from: number): Path[] {
  const out: Path[] = [];
  const walk = (t: number, s: number, p: number, steps: Path['steps']): void => {
    for (const a of [0, 1]) {
      const k = at(t, s, a);
      const pa = chance(b, t, s, a);
      const here = [...steps, { s, a, r: r[k]!, b: pa }];
      const end = t === H - 1 ? 1 : ends[k]!;
      if (end > 0) out.push({ p: p * pa * end, steps: here });
      for (const [next, pn] of [
        [0, 1 - toOne[k]!],
        [1, toOne[k]!],
      ] as const)
        if (end < 1 && pn > 0) walk(t + 1, next, p * pa * (1 - end) * pn, here);
    }
  };
  walk(0, from, 1, []);
  return out;
}

/** The paths as logs, with the weights of the target; Q as a column. */
function logsOf(paths: readonly Path[], pi: Policy, q: readonly number[]) {
  const t = trajectoriesOf(
    paths.map(({ steps }, i) => ({
      episode_id: `e${i}`,
      ending: 'terminated',
      turns: steps.map(({ s, a, r, b }) => ({
        reward: r,
        action_class: ACTIONS[a]!,
        behaviour_log_propensity: Math.log(b),
        features: [s],
      })),
    })),
  );
  const rules = [0, 1, 2].flatMap((turn) =>
    [0, 1].map((s) => ({
      when: { turn, 'features.0': s },
      probabilities: { a: chance(pi, turn, s, 0), b: chance(pi, turn, s, 1) },
    })),
  );
  const ratios = logRatiosFromPolicyFile(t, checkPolicyFile({ policy: 'p', trained_on: 'none', rules }));
  const w = episodeWeights(ratios);
  const columns = columnsBy(t, ACTIONS, (turn, x, a) => q[at(turn, x[0]!, a === 'a' ? 0 : 1)]!);
  return { w, stages: stageSums(w), q: given(ratios, w, columns) };
}
const near = (got: number, want: number) =>
  expect(Math.abs(got - want), `${got} for ${want}`).toBeLessThanOrEqual(1e-11 * Math.max(1, Math.abs(want)));

test.prop([stochastic, behaviour, target, start, twelve(reward)], { numRuns: 100 })(
  'E[IS] = E[PDIS] = E[DR with any Q] = V, and E[w] = 1, over all paths',
  (process, b, pi, from, anyQ) => {
    const paths = pathsOf(process, b, from);
    const { w, stages, q } = logsOf(paths, pi, anyQ);
    const E = (psi: ArrayLike<number>) => paths.reduce((sum, { p }, i) => sum + p * psi[i]!, 0);
    const V = valuesOf(process, pi).v[from]!;
    near(E(w.weight.map(() => 1)), 1); // all of them
    near(E(w.logWeight.map(Math.exp)), 1);
    near(E(is.estimate(w, stages).psi), V);
    near(E(pdis.estimate(w, stages).psi), V);
    near(E(dr.estimate(w, stages, q).psi), V);
  },
);

test.prop([stochastic, behaviour, target, start, twelve(reward)], { numRuns: 100 })(
  'path by path: DR is its recursion, and PDIS where Q is 0',
  (process, b, pi, from, anyQ) => {
    const paths = pathsOf(process, b, from);
    const { w, stages, q } = logsOf(paths, pi, anyQ);
    const recursion = drRecursion(w, q.q!);
    dr.estimate(w, stages, q).psi.forEach((x, i) => {
      near(x, recursion[i]!);
    });
    const none = logsOf(paths, pi, new Array<number>(12).fill(0));
    expect(dr.estimate(none.w, none.stages, none.q).psi).toEqual(pdis.estimate(w, stages).psi);
  },
);

test.prop([deterministic, behaviour, target, start], { numRuns: 100 })(
  'nothing left to chance but the actions: with the true Q every path gives V itself',
  (process, b, pi, from) => {
    const { q: trueQ, v } = valuesOf(process, pi);
    const { w, stages, q } = logsOf(pathsOf(process, b, from), pi, trueQ);
    for (const x of dr.estimate(w, stages, q).psi) near(x, v[from]!);
  },
);
