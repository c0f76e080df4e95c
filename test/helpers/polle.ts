/*
 * Two stages of nuisances from data, as the R package polle fits them: propensities by logistic regression, Q
 * by least squares backwards. What is paid before an action is left out of that action's regression and added
 * back.
 */
import { denseDesign } from '../../src/regress/dense-design.ts';
import { logistic } from '../../src/regress/logistic.ts';
import { ridge } from '../../src/regress/ridge.ts';
import type { Estimator } from '../../src/value/estimator.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { sparse } from '../critic/world.ts';
import { given, type LoggedTurn, targetOf } from './q-columns.ts';

const expit = (x: number) => 1 / (1 + Math.exp(-x));

/** Columns of a regression by name. */
export type Columns = Readonly<Record<string, readonly number[]>>;
export type Coefficients = Readonly<Record<string, number>>;
const column = (x: Columns, i: number) => Object.values(x).map((of) => of[i]!);

/** P(a = 1) of every row, and the coefficients. */
function propensity(x: Columns, a: readonly number[]) {
  const design = denseDesign(Object.values(x));
  const fit = logistic(design, Int32Array.from(a), 2);
  const beta: Coefficients = Object.fromEntries([
    ['(Intercept)', fit.intercept[1]!],
    ...Object.keys(x).map((name, j) => [name, fit.coefficients[1]![j]!]),
  ]);
  const p = a.map((_, i) =>
    expit(Object.entries(x).reduce((sum, [k, of]) => sum + beta[k]! * of[i]!, beta['(Intercept)']!)),
  );
  return { beta, p };
}

/** Least squares of y on A, the columns and their products with A: ~ A * (columns). */
function action(x: Columns, a: readonly number[], y: readonly number[]) {
  const names = ['A1', ...Object.keys(x), ...Object.keys(x).map((k) => `A1:${k}`)];
  const row = (i: number, ai: number) => [ai, ...column(x, i), ...column(x, i).map((v) => ai * v)];
  const fit = ridge(
    sparse(
      a.map((ai, i) => row(i, ai)),
      names,
    ),
    Float64Array.from(y),
    { lambda: 0, scale: 'none' },
  );
  const beta: Coefficients = Object.fromEntries([
    ['(Intercept)', fit.intercept],
    ...names.map((name, j) => [name, fit.coefficients[j]!]),
  ]);
  const Q = (i: number, ai: number) =>
    row(i, ai).reduce((sum, v, j) => sum + v * fit.coefficients[j]!, fit.intercept);
  return { beta, Q };
}

export interface Stage {
  readonly a: readonly number[];
  readonly g: Columns | ((i: number) => number); // columns of the propensity, or P(a = 1) where it is known
  readonly q: Columns;
  readonly paid: readonly number[]; // after the action, before the next
}
export interface Data {
  readonly before: readonly number[]; // paid before the first action
  readonly stages: readonly [Stage, Stage];
}
/** P(1 | row) at each stage, or whatever Q says. */
export type Policy = readonly [(i: number) => number, (i: number) => number] | 'greedy';

/** @param pooled one propensity for both stages */
export function run({ before, stages }: Data, policy: Policy, pooled = false) {
  const n = before.length;
  const rows = Array.from({ length: n }, (_, i) => i);
  const [first, second] = stages;
  const fitted = (s: Stage) => (typeof s.g === 'function' ? null : propensity(s.g, s.a));
  const joint = pooled
    ? propensity(
        Object.fromEntries(
          Object.entries(first.g).map(([k, x]) => [k, [...x, ...(second.g as Columns)[k]!]]),
        ),
        [...first.a, ...second.a],
      )
    : null;
  const g = joint === null ? stages.map(fitted) : [joint, { ...joint, p: joint.p.slice(n) }];
  const chance = stages.map((s, k) => (i: number) => (typeof s.g === 'function' ? s.g(i) : g[k]!.p[i]!));
  const takes = (k: 0 | 1, Q: (i: number, a: number) => number) =>
    policy === 'greedy' ? rows.map((i) => Number(Q(i, 1) > Q(i, 0))) : rows.map(policy[k]);
  const q2 = action(second.q, second.a, second.paid);
  const d2 = takes(1, q2.Q);
  const v2 = rows.map((i) => d2[i]! * q2.Q(i, 1) + (1 - d2[i]!) * q2.Q(i, 0));
  const q1 = action(
    first.q,
    first.a,
    rows.map((i) => first.paid[i]! + v2[i]!),
  );
  const d1 = takes(0, q1.Q);
  const turn = (
    s: Stage,
    k: 0 | 1,
    d: readonly number[],
    Q: (i: number, a: number) => number,
    i: number,
    paid: number,
  ) => ({
    a: `${s.a[i]}`,
    b: s.a[i] === 1 ? chance[k]!(i) : 1 - chance[k]!(i),
    r: paid + s.paid[i]!,
    pi: { 0: 1 - d[i]!, 1: d[i]! },
    q: { 0: paid + Q(i, 0), 1: paid + Q(i, 1) },
  });
  const { ratios, columns } = targetOf(
    rows.map((i): LoggedTurn[] => [turn(first, 0, d1, q1.Q, i, before[i]!), turn(second, 1, d2, q2.Q, i, 0)]),
  );
  const w = episodeWeights(ratios);
  const nuisances = given(ratios, w, columns);
  const of = (e: Estimator) => e.estimate(w, stageSums(w), nuisances);
  return { of, w, ratios, g: g.map((x) => x?.beta), q: [q1.beta, q2.beta], d: [d1, d2], chance };
}
