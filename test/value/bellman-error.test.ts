import { expect, test } from 'vitest';
import { ridge } from '../../src/regress/ridge.ts';
import { bellmanErrors } from '../../src/value/bellman-error.ts';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import { qValues } from '../../src/value/q-values.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { sparse } from '../critic/world.ts';
import wanted from '../fixtures/exact-two-stage-bounds.json' with { type: 'json' };
import values from '../fixtures/exact-two-stage-values.json' with { type: 'json' };
import {
  ACTIONS,
  POLICIES as AGENT_POLICIES,
  policyFile as agentFile,
  simulated,
  trajectoriesOf,
} from '../helpers/agent-turns.ts';
import { columnsBy, given } from '../helpers/q-columns.ts';
import {
  b1,
  b2,
  bern,
  bits,
  census,
  POLICIES,
  policyFile,
  type TwoStagePolicy,
  twoStageEpisodes,
} from '../helpers/two-stage.ts';

const near = (got: number, want: number, by = 1e-12) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    by * Math.max(1, Math.abs(want)),
  );

const rows = census();
const t = trajectoriesOf(twoStageEpisodes(rows));

/** Least squares of y on 1, x, a and x·a. */
function linear(x: readonly number[], a: readonly number[], y: readonly number[]) {
  const design = sparse(
    x.map((xi, i) => [xi, a[i]!, xi * a[i]!]),
    ['x', 'a', 'x:a'],
  );
  const { intercept, coefficients } = ridge(design, Float64Array.from(y), { lambda: 0, scale: 'none' });
  const w = [intercept, ...coefficients];
  const Q = (xi: number, ai: number) => w[0]! + w[1]! * xi + w[2]! * ai + w[3]! * xi * ai;
  return { w, Q };
}

/** Backward induction that sees only the state of the turn: it leaves out what a₁ and x₁ do to the second reward. */
function misspecified(target: TwoStagePolicy | 'greedy') {
  const two = linear(
    rows.map((r) => r.x2),
    rows.map((r) => r.a2),
    rows.map((r) => r.r2),
  );
  const d2 = (x1: number, a1: number, x2: number) =>
    target === 'greedy' ? Number(two.Q(x2, 1) > two.Q(x2, 0)) : target[1](x1, a1, x2);
  const v2 = (x1: number, a1: number, x2: number) =>
    bits.reduce<number>((sum, a) => sum + bern(d2(x1, a1, x2), a) * two.Q(x2, a), 0);
  const one = linear(
    rows.map((r) => r.x1),
    rows.map((r) => r.a1),
    rows.map((r) => r.r1 + v2(r.x1, r.a1, r.x2)),
  );
  const d1 = (x1: number) => (target === 'greedy' ? Number(one.Q(x1, 1) > one.Q(x1, 0)) : target[0](x1));
  const ratios = logRatiosFromPolicyFile(t, policyFile([d1, d2]));
  const w = episodeWeights(ratios);
  const columns = columnsBy(t, ['0', '1'], (turn, x, a) =>
    turn === 0 ? one.Q(x[0]!, Number(a)) : two.Q(x[2]!, Number(a)),
  );
  const q = qValues(ratios, columns);
  const { table } = ratios;
  const errors = bellmanErrors(w, q, stageStates(w, table!.cell, table!.cells.length));
  const nuisances = given(ratios, w, columns);
  const of = (e: typeof dm) => e.estimate(w, stageSums(w), nuisances).value;
  return { w1: one.w, w2: two.w, errors, direct: of(dm), robust: of(dr) };
}

test.each([
  ['greedy_misspecified', 'greedy'],
  ['always_1', POLICIES.always_1],
  ['soft', POLICIES.soft],
] as const)('pieces of the error of a Q that leaves terms out, on the whole law: %s', (name, target) => {
  const want = wanted[name];
  const { w1, w2, errors, direct, robust } = misspecified(target);
  want.w1.forEach((x, k) => {
    near(w1[k]!, x, 1e-10);
  });
  want.w2.forEach((x, k) => {
    near(w2[k]!, x, 1e-10);
  });
  errors.stages.forEach(({ tdMse, bellmanMse, amplification }, k) => {
    near(tdMse, want.td_mse[k]!);
    near(Math.sqrt(bellmanMse), want.bellman_rms[k]!);
    near(tdMse - bellmanMse, want.irreducible[k]!);
    near(amplification, want.sqrt_E_rho2[k]!);
  });
  near(direct, want.Vhat);
  // DR removes the error whatever Q is, on the whole law.
  near(robust, want.V_of_policy);
  near(errors.error, want.error);
  near(direct - robust, want.error);
  near(errors.bound, want.certificate_cauchy_schwarz);
  expect(Math.abs(errors.error)).toBeLessThanOrEqual(errors.bound);
});

test('the bound of greedy value from the same pieces is vacuous: 10.6 where nothing is lost', () => {
  const want = wanted.greedy_misspecified;
  const { errors, robust } = misspecified('greedy');
  near(values.policies.optimal.V, want.V_opt);
  near(want.V_opt - robust, want.suboptimality);
  const least = Math.min(
    ...bits.flatMap((x1) => [
      ...bits.map((a) => bern(b1(x1), a)),
      ...bits.flatMap((a1) => bits.flatMap((x2) => bits.map((a) => bern(b2(x1, a1, x2), a)))),
    ]),
  );
  near(1 / least, want.L);
  const bound = errors.stages.reduce(
    (sum, { bellmanMse }, k) => sum + 2 * (k + 1) * (1 / least) ** ((k + 1) / 2) * Math.sqrt(bellmanMse),
    0,
  );
  near(bound, want['murphy_style_bound_2sum_(t+1)L^((t+1)/2)||BE_t||']);
});

test.each(AGENT_POLICIES)(
  'in a sample of ragged episodes, discounted, the errors add up to DM − DR: %s',
  (name) => {
    const logs = trajectoriesOf(simulated(40, 5, 3));
    const ratios = logRatiosFromPolicyFile(logs, agentFile(name));
    const w = episodeWeights(ratios, 0.9);
    const columns = columnsBy(logs, ACTIONS, (turn, x, a) => Math.sin(1 + 2 * turn + x[0]! + a.length));
    // Every turn a cell of its own: there the mean of δ is δ.
    const own = Int32Array.from({ length: ratios.values.length }, (_, s) => s);
    const { error, stages } = bellmanErrors(w, qValues(ratios, columns), stageStates(w, own, own.length));
    const nuisances = given(ratios, w, columns);
    const of = (e: typeof dm) => e.estimate(w, stageSums(w), nuisances).value;
    near(error, of(dm) - of(dr), 1e-10);
    for (const { tdMse, bellmanMse } of stages) near(bellmanMse, tdMse);
  },
);

test('a Q without a number for a logged action is refused by turn', () => {
  const ratios = logRatiosFromPolicyFile(t, policyFile(POLICIES.always_1));
  const w = episodeWeights(ratios);
  const columns = columnsBy(t, ['0', '1'], (_, __, a) => (a === '0' ? Number.NaN : 1));
  const states = stageStates(w, ratios.table!.cell, ratios.table!.cells.length);
  expect(() => bellmanErrors(w, qValues(ratios, columns), states)).toThrow(
    /Q-values \(given\): are no number at episode e\d+ turn \d for the logged action "0"/,
  );
});
