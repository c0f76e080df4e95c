import { random } from '../../src/math/random.ts';
import { always, bit, coin, episode, logs, target, turn, type World } from './world.ts';

/** Reward of the actions where a feature tells states apart: [x][A, B]. */
const PAYS = [
  [0.3, 0.5],
  [0.8, 0.5],
] as const;

const LATER = target([
  { when: { turn: 2 }, probabilities: { A: 0.6, B: 0.4 } },
  { probabilities: { A: 0.5, B: 0.5 } },
]);

/** Propensities that are not those the logs were drawn with. */
export const wrongPropensities: readonly World[] = [
  {
    name: 'propensities by state',
    says: 'one turn, p = .5 is logged; A is taken in 90 % where feature 0 is 1 and in 10 % where it is 0; target always A',
    fine: false,
    value: (PAYS[0][0] + PAYS[1][0]) / 2,
    draw: (rng) =>
      logs(2000, always({ A: 1 }), (i) => {
        const x = bit(rng, 0.5);
        const a = coin(rng, x === 1 ? 0.9 : 0.1);
        return episode(i, 100, [turn(a ? 'A' : 'B', 0.5, [x])], bit(rng, PAYS[x]![a ? 0 : 1]));
      }),
  },
  {
    name: 'propensities everywhere',
    says: 'one turn, p = .5 is logged; A is taken in 89 %; target A or B with .5',
    fine: false,
    value: 0.5,
    draw: (rng) =>
      logs(2000, always({ A: 0.5, B: 0.5 }), (i) => {
        const a = coin(rng, 0.89);
        return episode(i, 100, [turn(a ? 'A' : 'B', 0.5)], bit(rng, a ? 0.3 : 0.7));
      }),
  },
  {
    name: 'propensities of one turn',
    says: 'four turns, p = .5 is logged; at turn 2 the last action is repeated in 85 %; success .1, and .7 where turns 1 and 2 both took A; target A with .6 at turn 2, else with .5',
    fine: false,
    value: 0.1 + 0.6 * 0.5 * 0.6,
    draw: (rng) =>
      logs(2000, LATER, (i) => {
        const taken: boolean[] = [];
        for (let t = 0; t < 4; t++) taken.push(t === 2 ? coin(rng, 0.85) === taken[1]! : coin(rng, 0.5));
        const turns = taken.map((a) => turn(a ? 'A' : 'B', 0.5));
        return episode(i, 100, turns, bit(rng, 0.1 + (taken[1] && taken[2] ? 0.6 : 0)));
      }),
  },
  {
    name: 'propensities by task',
    says: 'one turn, p = .5 is logged; A is taken in 80 % of the rollouts of easy tasks (success .8) and in 20 % of those of hard ones (.2), without a feature; target always A',
    fine: false,
    value: 0.5,
    draw: (rng) =>
      logs(2000, always({ A: 1 }), (i) => {
        const easy = coin(random(i % 100, 'kind'), 0.5);
        const a = coin(rng, easy ? 0.8 : 0.2);
        return episode(i, 100, [turn(a ? 'A' : 'B', 0.5)], bit(rng, easy ? 0.8 : 0.2));
      }),
  },
  {
    name: 'half of the failures of A dropped',
    says: 'one turn, p = .5; half of the failures of A never reach the logs (A succeeds in 60 %, B in 40 %); target A or B with .5',
    fine: false,
    value: 0.5,
    draw: (rng) =>
      logs(3000, always({ A: 0.5, B: 0.5 }), (i) => {
        const a = coin(rng, 0.5);
        const success = coin(rng, a ? 0.6 : 0.4);
        if (a && !success && coin(rng, 0.5)) return null;
        return episode(i, 100, [turn(a ? 'A' : 'B', 0.5)], success ? 1 : 0);
      }),
  },
];
