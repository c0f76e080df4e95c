import { expect, test } from 'vitest';
import { unsupportedMass } from '../../src/diagnostics/unsupported-mass.ts';
import { checkPolicyFile } from '../../src/policy/read-policy-file.ts';
import { episodeWeights } from '../../src/weights/episode-weights.ts';
import { logRatiosFromPolicyFile } from '../../src/weights/from-policy-file.ts';
import { policyFile, simulated, trajectoriesOf } from '../helpers/agent-turns.ts';

const massOf = (t: ReturnType<typeof trajectoriesOf>, rules: object[]) => {
  const ratios = logRatiosFromPolicyFile(t, checkPolicyFile({ policy: 'p', trained_on: 'none', rules }));
  return unsupportedMass(ratios, episodeWeights(ratios)).summary;
};

// From x the behaviour goes a or b evenly; after a, at turn 1, it only ever does c.
const log = (p: number) => Math.log(p);
const t = trajectoriesOf(
  ['a', 'b', 'a', 'b'].map((first, i) => ({
    episode_id: `e${i}`,
    reward: 1,
    turns: [
      { action_class: first, behaviour_log_propensity: log(0.5) },
      { action_class: first === 'a' ? 'c' : 'd', behaviour_log_propensity: 0 },
    ],
  })),
);

test('mass by hand: reached with .75 after a, where d is never logged', () => {
  const { mass, cells, reason } = massOf(t, [
    { when: { turn: 0 }, probabilities: { a: 0.75, b: 0.25 } },
    { when: { last_action_class: 'a' }, probabilities: { c: 0.6, d: 0.4 } },
    { probabilities: { d: 1 } },
  ]);
  expect(reason).toBeNull();
  expect(mass).toBeCloseTo(0.75 * 0.4, 14);
  expect(cells).toHaveLength(1);
  expect(cells[0]).toMatchObject({ cell: 'rule 1 at turn = other, last_action_class = a', actions: ['d'] });
});

test('a class that the logs never name at all', () => {
  const { mass, cells } = massOf(t, [
    { when: { turn: 0 }, probabilities: { a: 0.5, jump: 0.5 } },
    { probabilities: { c: 1 } },
  ]);
  // Never logged at turn 0: ½. At turn 1 all is c somewhere, in one cell.
  expect(mass).toBeCloseTo(0.5, 14);
  expect(cells[0]!.actions).toEqual(['jump']);
});

test('within support the mass is 0; recorded scores have none, with the reason', () => {
  const logs = trajectoriesOf(simulated(50, 10, 3));
  for (const name of ['behaviour', 'soft', 'patient', 'eager'] as const) {
    const ratios = logRatiosFromPolicyFile(logs, policyFile(name));
    expect(unsupportedMass(ratios, episodeWeights(ratios)).summary.mass).toBe(0);
  }
  const ratios = { ...logRatiosFromPolicyFile(logs, policyFile('soft')), table: null };
  expect(unsupportedMass(ratios, episodeWeights(ratios)).summary).toMatchObject({
    mass: null,
    reason: expect.stringMatching(/recorded scores/),
  });
});
