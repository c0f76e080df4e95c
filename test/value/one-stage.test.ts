import { expect, test } from 'vitest';
import { episodeQ } from '../../src/value/nuisances.ts';
import { deviations } from '../../src/value/one-stage.ts';
import { qValues } from '../../src/value/q-values.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import exact from '../fixtures/agent-turns-values.json' with { type: 'json' };
import {
  ACTIONS,
  allPaths,
  episodeOf,
  POLICIES,
  policyFile,
  trajectoriesOf,
} from '../helpers/agent-turns.ts';
import { columnsBy } from '../helpers/q-columns.ts';

type Table = Record<string, Record<string, Record<string, number>>>;
const Qb: Table = exact.policies.behaviour.Q_t;
const Vb: Record<string, Record<string, number>> = exact.policies.behaviour.V_t;
const paths = allPaths();
const every = trajectoriesOf(paths.map(({ steps }, i) => episodeOf(steps, i)));
const E = (f: (i: number) => number): number => paths.reduce((total, { p }, i) => total + p * f(i), 0);

test.each(POLICIES)('the target at one turn, then the behaviour: by full enumeration, any Q: %s', (name) => {
  const ratios = logRatiosFromPolicyFile(every, policyFile(name));
  const w = episodeWeights(ratios);
  const table = ratios.table!;
  const A = table.classes.length;
  for (const columns of [
    columnsBy(every, ACTIONS, (t, x, a) => Qb[t + 1]![x[0]!]![a]!),
    columnsBy(every, ACTIONS, (t, x, a) => 4 * Math.sin(t + 2 * x[0]! + a.length)),
    null,
  ]) {
    const at = deviations(
      w,
      columns === null
        ? undefined
        : episodeQ(ratios, w, qValues(ratios, { ...columns, continues: 'behaviour' })),
    );
    for (let t = 0; t < w.stages; t++) {
      // V^(t) − V^b = E_b[1{alive at t} Σ_a π(a|s) A^b_t(s, a)], from the law's own tables.
      const want = E((i) => {
        const step = paths[i]!.steps[t];
        if (step === undefined) return 0;
        const cell = table.cell[w.offsets[i]! + t]!;
        return table.classes.reduce((sum, a, k) => {
          const pi = table.probabilities[cell * A + k]!;
          return sum + pi * (Qb[t + 1]![step.q]![a]! - Vb[t + 1]![step.q]!);
        }, 0);
      });
      const { value, gain, alive } = at(t);
      expect(Math.abs(E((i) => gain.psi[i]!) - want)).toBeLessThanOrEqual(1e-12);
      const V = E((i) => value.psi[i]!);
      expect(Math.abs(V - exact.policies.behaviour.V - want)).toBeLessThanOrEqual(1e-12);
      expect(alive).toBe(paths.filter((x) => x.steps.length > t).length);
    }
  }
});

test('one ratio, not a product: the weights of the last turn have the variance of that turn', () => {
  const ratios = logRatiosFromPolicyFile(every, policyFile('patient'));
  const w = episodeWeights(ratios);
  const { gain } = deviations(w)(5);
  const second = E((i) => gain.psi[i]! ** 2);
  expect(second).toBeLessThan(3); // E[w_6²] of the product is 107
});
