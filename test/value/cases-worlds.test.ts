/*
 * Small worlds with exact values, every rollout enumerated: ModelWin and ModelFail (Thomas & Brunskill 2016),
 * the two-row graph of COBS. Laws stated here once more, in the words of their notes.
 */
import { expect, test } from 'vitest';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import type { Estimator } from '../../src/value/estimator.ts';
import { evaluate } from '../../src/value/evaluate.ts';
import { is } from '../../src/value/is.ts';
import type { EpisodeQ } from '../../src/value/nuisances.ts';
import { pdis } from '../../src/value/pdis.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { tabularQ } from '../../src/value/tabular-q.ts';
import { type StageSums, stageSums } from '../../src/weights/carried.ts';
import { type EpisodeWeights, episodeWeights } from '../../src/weights/episode-weights.ts';
import worlds from '../fixtures/modelwin-modelfail.json' with { type: 'json' };
import known from '../fixtures/ope-known-answers.json' with { type: 'json' };
import { given, type LoggedTurn, targetOf } from '../helpers/q-columns.ts';
import { rational, toNumber } from '../helpers/rational.ts';

const near = (got: number, want: number, by = 1e-12) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );
const fraction = (text: string): number => toNumber(rational(text));
const bits = [0, 1];
const NONE = {} as StageSums; // what these three do not look at

const [B, E] = [0.73, 0.27]; // P(a₀ | 0) of the behaviour and of the target
const bern = (p: number, a: number) => (a === 0 ? p : 1 - p);
const logRatio = bits.map((a) => Math.log(bern(E, a) / bern(B, a)));
/** Value of the cycles that are left after a turn of state 0, counted from 0. */
const rest = (H: number, turn: number, p: number) => ((H - turn) / 2 - 1) * 0.2 * (1 - 2 * p);

/** Action and state entered of a cycle, in the bits of a rollout's number. */
const choice = (path: number, cycle: number) => [(path >> (2 * cycle)) & 1, (path >> (2 * cycle + 1)) & 1];
const lands = (a: number, up: number) => ((a === 0) === (up === 1) ? 0.4 : 0.6);

/** So many rollouts of so many turns, to be written into. */
function blank(rollouts: number, turns: number) {
  const turn: LoggedTurn = { a: '0', b: B, r: 0, pi: { 0: E, 1: 1 - E }, q: {}, cell: '0' };
  const other: LoggedTurn = { ...turn, a: '1', b: 1 - B };
  return targetOf(
    Array.from({ length: rollouts }, (_, i) =>
      Array.from({ length: turns }, (_, k) => (i === 0 && k === 0 ? other : turn)),
    ),
  ).ratios;
}

/**
 * Moments over all 4^(H/2) rollouts, at most 4^5 of them at a time. The turns back to state 0, of ratio 1 and
 * reward 0, are there up to horizon 10 and left out at 20.
 */
function modelWin(H: number, of: (w: EpisodeWeights, q: EpisodeQ) => Float64Array[]) {
  const cycles = H / 2;
  const each = H > 10 ? 1 : 2;
  const T = cycles * each;
  const inBlock = 4 ** Math.min(cycles, 5);
  const ratios = blank(inBlock, T);
  const t = ratios.trajectories;
  const reward = new Float64Array(inBlock * T);
  const values = new Float64Array(inBlock * T);
  const logged = new Float64Array(inBlock * T);
  const v = new Float64Array(inBlock * T);
  const p = new Float64Array(inBlock);
  const here = { ...ratios, values, trajectories: { ...t, turns: { ...t.turns, reward } } };
  const first: number[] = [];
  const second: number[] = [];
  for (let block = 0; block < 4 ** cycles / inBlock; block++) {
    p.fill(1);
    for (let i = 0; i < inBlock; i++)
      for (let c = 0; c < cycles; c++) {
        const [a, up] = choice(i + block * inBlock, c) as [number, number];
        const s = i * T + each * c;
        const after = rest(H, 2 * c, E);
        reward[s] = up === 1 ? 1 : -1;
        values[s] = logRatio[a]!;
        logged[s] = (a === 0 ? -0.2 : 0.2) + after;
        v[s] = 0.2 * (1 - 2 * E) + after;
        if (each === 2) logged[s + 1] = v[s + 1] = after;
        p[i] = p[i]! * bern(B, a) * lands(a, up);
      }
    // Block by block, so that a million small terms are not added to one large sum.
    of(episodeWeights(here), { logged, v, continues: 'target', label: 'true' }).forEach((x, k) => {
      let [m, s] = [0, 0];
      for (let i = 0; i < inBlock; i++) {
        m += p[i]! * x[i]!;
        s += p[i]! * x[i]! ** 2;
      }
      first[k] = (first[k] ?? 0) + m;
      second[k] = (second[k] ?? 0) + s;
    });
  }
  return first.map((mean, k) => ({ mean, second: second[k]!, variance: second[k]! - mean ** 2 }));
}

/** The same by dynamic programming: E and E² of D = V + ρ (r + D′ − Q), V = Q = 0 for PDIS. */
function byHand(H: number, withQ: boolean): { mean: number; variance: number } {
  let [mean, square] = [0, 0];
  for (let turn = H - 2; turn >= 0; turn -= 2) {
    const after = rest(H, turn, E);
    const V = withQ ? 0.2 * (1 - 2 * E) + after : 0;
    let [m, s] = [0, 0];
    for (const a of bits)
      for (const up of bits) {
        const p = bern(B, a) * lands(a, up);
        const rho = bern(E, a) / bern(B, a);
        const c = (up === 1 ? 1 : -1) - (withQ ? (a === 0 ? -0.2 : 0.2) + after : 0);
        m += p * (V + rho * (c + mean));
        s += p * (V * V + 2 * V * rho * (c + mean) + rho * rho * (c * c + 2 * c * mean + square));
      }
    [mean, square] = [m, s];
  }
  return { mean, variance: square - mean ** 2 };
}

const variances: Record<string, { IS?: number; PDIS?: number; DR_true_q?: number }> =
  known.modelwin['one_trajectory_variance_from_p0.73_to_p0.27'];
test.each(Object.entries(variances))(
  'ModelWin, horizon %s: values, and the variance of one rollout',
  (horizon, want) => {
    const H = Number(horizon);
    const found = modelWin(H, (w, q) => [
      ...[is, pdis, dr].map((e) => e.estimate(w, NONE, { q }).psi),
      w.returns,
      w.weight,
    ]);
    const [IS, PDIS, DR, returns, weight] = found;
    for (const x of [IS!, PDIS!, DR!]) near(x.mean, rest(H + 2, 0, E));
    near(returns!.mean, rest(H + 2, 0, B));
    near(weight!.mean, 1);
    // The note prints twelve decimals.
    for (const [got, printed] of [
      [IS!, want.IS],
      [PDIS!, want.PDIS],
      [DR!, want.DR_true_q],
    ] as const)
      if (printed !== undefined) near(got.variance, printed);
    near(PDIS!.variance, byHand(H, false).variance);
    near(DR!.variance, byHand(H, true).variance);
    const named = (worlds as unknown as Record<string, typeof worlds.ModelWin_T20>)[`ModelWin_T${H}`];
    if (named === undefined) return;
    near(DR!.mean, fraction(named.V_e));
    near(DR!.mean, named.V_e_float);
    near(returns!.mean, fraction(named.V_b));
    near(returns!.mean, named.V_b_float);
    near(weight!.second, named.E_w2_ratio_only_at_s1);
    for (const { p, H: of, V } of known.modelwin.values)
      if (of === H) near((p === E ? DR : returns)!.mean, V);
  },
);

test.each([2, 10, 20] as const)('ModelWin, horizon %i: E[w²] with the ratios of every turn kept', (T) => {
  // Actions matter not in states 1 and 2: 2^T sequences of them, 2¹⁰ at a time, are all there is to the weight.
  const want = worlds[`ModelWin_T${T}`].E_w2_full_ratio_all_steps;
  const inBlock = 2 ** Math.min(T, 10);
  const ratios = blank(inBlock, T);
  const values = new Float64Array(inBlock * T);
  const p = new Float64Array(inBlock);
  let [mean, second] = [0, 0];
  for (let block = 0; block < 2 ** T / inBlock; block++) {
    p.fill(1);
    for (let i = 0; i < inBlock; i++)
      for (let k = 0; k < T; k++) {
        const a = ((i + block * inBlock) >> k) & 1;
        values[i * T + k] = logRatio[a]!;
        p[i] = p[i]! * bern(B, a);
      }
    const { weight } = episodeWeights({ ...ratios, values });
    mean += weight.reduce((sum, w, i) => sum + p[i]! * w, 0);
    second += weight.reduce((sum, w, i) => sum + p[i]! * w * w, 0);
  }
  near(mean, 1);
  near(second, want);
});

test('ModelFail: values and variances, and a model on the aliased observation that says the same of every policy', () => {
  // Shares of 22/25 and 3/25 at both turns: 625 rollouts are the law. All of it hangs on the first action.
  const [b, e] = [fraction(worlds.ModelFail['b(a1)']), fraction(worlds.ModelFail['e(a1)'])];
  const rollouts = (both: boolean): LoggedTurn[][] =>
    bits.flatMap((first) =>
      bits.flatMap((second) =>
        Array.from({ length: Math.round(625 * bern(b, first) * bern(b, second)) }, () => {
          const turn = (a: number, r: number, weighed: boolean) => ({
            a: `${a}`,
            b: bern(b, a),
            r,
            pi: weighed ? { 0: e, 1: 1 - e } : { 0: b, 1: 1 - b },
            q: {},
            cell: weighed ? 'o' : 'o, second',
          });
          return [turn(first, 0, true), turn(second, first === 0 ? 1 : -1, both)];
        }),
      ),
    );
  const { V_b, V_e, E_rho1_sq, ...want } = worlds.ModelFail;
  for (const [both, variance] of [
    [true, want.var_IS_full_ratio_T2],
    [false, want.var_IS_stage1_ratio_only],
  ] as const) {
    const { ratios } = targetOf(rollouts(both));
    const w = episodeWeights(ratios);
    expect(w.n).toBe(625);
    const result = evaluate(ratios);
    const of = (name: string) => result.estimates.find((x) => x.estimator === name)!;
    near(result.behaviour.value!, fraction(V_b));
    for (const name of ['IS', 'PDIS']) {
      near(of(name).value!, fraction(V_e));
      near(of(name).seNaive! ** 2 * w.n, variance);
    }
    near(stageSums(w).aliveSquares[0]! / w.n, E_rho1_sq);
    if (!both) continue;
    near(of('IS').value!, known.modelfail.V_e);
    near(of('IS').seNaive! ** 2 * w.n, known.modelfail.Var_IS, 1e-11); // ten decimals
    near(stageSums(w).aliveSquares[0]! / w.n, known.modelfail.E_rho2_per_step, 1e-10);
    near(
      stageSums(w).aliveSquares[1]! / stageSums(w).aliveSquares[0]!,
      known.modelfail.E_rho2_per_step,
      1e-10,
    );
  }
  for (const p of [e, b, 0.5, 1]) {
    const { ratios } = targetOf(
      rollouts(true).map((turns) => turns.map((x) => ({ ...x, pi: { 0: p, 1: 1 - p } }))),
    );
    const w = episodeWeights(ratios);
    const { table } = ratios;
    const states = stageStates(w, table!.cell, table!.cells.length);
    const columns = tabularQ(w, table!, states)(Int32Array.from({ length: w.n }, (_, i) => i));
    const nuisances = given(ratios, w, columns);
    const of = (x: Estimator) => x.estimate(w, stageSums(w), nuisances).value;
    near(of(dm), fraction(want.aliased_model_value_for_every_policy));
    near(of(dr), 2 * p - 1); // the weights put the model right
  }
});

test.each(known.toy_graph.cases)('the two-row graph: T = $T, p₀ = $p0, discounted', ({ T, p0, V }) => {
  const { gamma, slip } = known.toy_graph;
  const b = 0.6;
  let paths: { p: number; steps: LoggedTurn[] }[] = [{ p: 1, steps: [] }];
  for (let k = 0; k < T; k++)
    paths = paths.flatMap(({ p, steps }) =>
      bits.flatMap((a) =>
        [1, -1].map((row) => {
          const aims = (a === 0) === (row === 1) ? 1 - slip : slip;
          const turn = { a: `${a}`, b: bern(b, a), r: row, pi: { 0: p0, 1: 1 - p0 }, q: {}, cell: '0' };
          return { p: p * bern(b, a) * aims, steps: [...steps, turn] };
        }),
      ),
    );
  const m = 2 * (p0 * (1 - slip) + (1 - p0) * slip) - 1;
  const expected = (rollouts: LoggedTurn[][], e: Estimator) => {
    const w = episodeWeights(targetOf(rollouts).ratios, gamma);
    const { psi } = e.estimate(w, stageSums(w));
    return paths.reduce((sum, { p }, i) => sum + p * psi[i]!, 0);
  };
  const dense = paths.map(({ steps }) => steps);
  const sparse = dense.map((steps) => steps.map((x, k) => (k === T - 1 ? x : { ...x, r: 0 })));
  for (const e of [is, pdis]) {
    near(expected(dense, e), V);
    near(expected(sparse, e), m * gamma ** (T - 1));
  }
});
