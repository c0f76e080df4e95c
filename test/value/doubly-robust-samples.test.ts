import { expect, test } from 'vitest';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { dm } from '../../src/value/dm.ts';
import { dr } from '../../src/value/dr.ts';
import { estimateOf } from '../../src/value/estimate.ts';
import type { Estimator, Influence } from '../../src/value/estimator.ts';
import { is } from '../../src/value/is.ts';
import { mis } from '../../src/value/mis.ts';
import { stageStates } from '../../src/value/stage-states.ts';
import { tabularQ } from '../../src/value/tabular-q.ts';
import { wdrCarried } from '../../src/value/wdr-carried.ts';
import { wis } from '../../src/value/wis.ts';
import { stageSums } from '../../src/weights/carried.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import agent from '../fixtures/agent-turns-values.json' with { type: 'json' };
import twoStage from '../fixtures/exact-two-stage-values.json' with { type: 'json' };
import polle from '../fixtures/polle-two-stage.json' with { type: 'json' };
import smart from '../fixtures/smart-known.json' with { type: 'json' };
import { ACTIONS, fixture, POLICIES, policyFile, sample, trajectoriesOf } from '../helpers/agent-turns.ts';
import { columnsBy, given, type LoggedTurn, targetOf } from '../helpers/q-columns.ts';

const near = (got: number, want: number, relative = 1e-10) =>
  expect(Math.abs(got - want), `${got} against ${want}`).toBeLessThanOrEqual(
    relative * Math.max(1, Math.abs(want)),
  );
/** Standard error with denominator n. */
const seOf = ({ psi, value }: Influence) =>
  Math.sqrt(psi.reduce((a, x) => a + (x - value) ** 2, 0)) / psi.length;

const turns = trajectoriesOf(sample());
const everyPlace = (n: number) => Int32Array.from({ length: n }, (_, i) => i);

test.each(POLICIES)('500 rollouts of agent-turns-exact, in-sample tabular Q: %s', (name) => {
  const want = agent.sample[name];
  // The declared cells are those of the behaviour's rules: turn and state.
  const file = policyFile(name);
  const states = policyFile('behaviour').rules.flatMap((r) => r.when['features.0'] as number);
  const split = checkPolicyFile({
    ...file,
    rules: file.rules.flatMap((r) => states.map((x) => ({ ...r, when: { 'features.0': x, ...r.when } }))),
  });
  const ratios = logRatiosFromPolicyFile(turns, split);
  const w = episodeWeights(ratios);
  const stages = stageSums(w);
  const { table } = ratios;
  const abstraction = stageStates(w, table!.cell, table!.cells.length);
  const columns = tabularQ(w, table!, abstraction)(everyPlace(w.n));
  const q = { ...given(ratios, w, columns), states: abstraction };
  near(dm.estimate(w, stages, q).value, want.FQE_tabular);
  near(dr.estimate(w, stages, q).value, want.DR_tabularQ);
  near(seOf(dr.estimate(w, stages, q)), want.DR_se);
  near(mis.estimate(w, stages, q).value, want.MIS_state_marginal);
  expect(columns.unseen!.some((x) => x === 1)).toBe(false); // what is unseen here is a state never reached
});
