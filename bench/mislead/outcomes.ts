import { choice, integer, uniform } from '../../src/math/random.ts';
import { always, bit, coin, episode, logs, target, turn, type World } from './world.ts';

/** Outcomes that are rare, missing or chosen. */
export const outcomes: readonly World[] = [
  {
    name: 'rare failures',
    says: 'one turn, p = .5; A pays 1 but fails in .4 %, B pays 0; target A with .7',
    fine: false,
    value: 0.7 * 0.996,
    draw: (rng) =>
      logs(1000, always({ A: 0.7, B: 0.3 }), (i) => {
        const a = coin(rng, 0.5);
        return episode(i, 200, [turn(a ? 'A' : 'B', 0.5)], a ? bit(rng, 0.996) : 0);
      }),
  },
  {
    name: 'failures unscored',
    says: 'one turn, p = .5; 18 % of the failures of A have no reward (A succeeds in 60 %); target always A',
    fine: false,
    value: 0.6,
    draw: (rng) =>
      logs(2000, always({ A: 1 }), (i) => {
        const a = coin(rng, 0.5);
        const success = bit(rng, a ? 0.6 : 0.4);
        const unscored = a && success === 0 && coin(rng, 0.18);
        return episode(i, 100, [turn(a ? 'A' : 'B', 0.5)], unscored ? null : success);
      }),
  },
  {
    name: 'successes cut short',
    says: 'one turn, p = .5; 8 % of the successes of A were cut short, with a reward of 0 (A succeeds in 60 %); target always A',
    fine: false,
    value: 0.6,
    draw: (rng) =>
      logs(4000, always({ A: 1 }), (i) => {
        const a = coin(rng, 0.5);
        const success = bit(rng, a ? 0.6 : 0.4);
        const cut = a && success === 1 && coin(rng, 0.08);
        return episode(i, 200, [turn(a ? 'A' : 'B', 0.5)], cut ? 0 : success, {
          ending: cut ? 'truncated' : 'terminated',
        });
      }),
  },
  {
    name: 'rules chosen on these logs',
    says: 'two actions without any effect (success .5); for each of 60 tasks the policy file takes the action that did better in these logs, trained_on "none"',
    fine: false,
    value: 0.5,
    draw: (rng) => {
      const tasks = 60;
      const data = logs(tasks * 20, always({ A: 1 }), (i) =>
        episode(i, tasks, [turn(coin(rng, 0.5) ? 'A' : 'B', 0.5)], bit(rng, 0.5)),
      );
      const mean = (task: string, action: string): number => {
        const own = data.episodes.filter((e) => e.task_id === task && e.turns![0]!.action_class === action);
        return own.length === 0 ? 0 : own.reduce((s, e) => s + e.reward!, 0) / own.length;
      };
      const rules = Array.from({ length: tasks }, (_, k) => ({
        when: { task_id: `t${k}` },
        probabilities: { [mean(`t${k}`, 'A') >= mean(`t${k}`, 'B') ? 'A' : 'B']: 1 },
      }));
      return { ...data, policy: target(rules) };
    },
  },
  {
    name: 'twelve turns',
    says: 'twelve turns at p = .5, success in the share of A among them; target A with .7',
    fine: false,
    value: 0.7,
    draw: (rng) =>
      logs(1000, always({ A: 0.7, B: 0.3 }), (i) => {
        const taken = Array.from({ length: 12 }, () => coin(rng, 0.5));
        const share = taken.filter((a) => a).length / 12;
        return episode(
          i,
          100,
          taken.map((a) => turn(a ? 'A' : 'B', 0.5)),
          bit(rng, share),
        );
      }),
  },
];

/** Where the answer can be had. */
const SEGMENTS = 400;
const SKEWED = [0.03, 0.27, 0.7];
const SKEWED_TARGET = [0.3, 0.5, 0.2];
const SKEWED_PAYS = [0.7, 0.5, 0.3];

export const fine: readonly World[] = [
  {
    name: 'sparse cells',
    says: '400 segments × 4 actions drawn uniformly, 1,600 episodes over 100 tasks; target the best action of the segment with .7',
    fine: true,
    value: 0.3 + 0.4 * 0.7,
    draw: (rng) => {
      const names = ['a0', 'a1', 'a2', 'a3'];
      const rules = Array.from({ length: SEGMENTS }, (_, x) => ({
        when: { 'features.0': x },
        probabilities: Object.fromEntries(names.map((name, k) => [name, k === x % 4 ? 0.7 : 0.1])),
      }));
      return logs(4 * SEGMENTS, target(rules), (i) => {
        const x = integer(rng, SEGMENTS);
        const k = choice(rng, [0.25, 0.25, 0.25, 0.25]);
        return episode(i, 100, [turn(names[k]!, 0.25, [x])], bit(rng, k === x % 4 ? 0.7 : 0.3));
      });
    },
  },
  {
    name: 'skewed weights',
    says: 'one turn, three actions with p = .03, .27 and .7, right propensities, 600 episodes; target .3, .5, .2',
    fine: true,
    value: SKEWED_TARGET.reduce((s, p, k) => s + p * SKEWED_PAYS[k]!, 0),
    draw: (rng) =>
      logs(600, always({ A: 0.3, B: 0.5, C: 0.2 }), (i) => {
        const k = choice(rng, SKEWED);
        return episode(i, 60, [turn('ABC'[k]!, SKEWED[k]!)], bit(rng, SKEWED_PAYS[k]!));
      }),
  },
  {
    name: 'partly deterministic',
    says: 'three turns, the first always A, then p = .5, right propensities rounded to three digits; target A, then A with .65',
    fine: true,
    value: 0.2 + 0.6 * 0.65,
    draw: (rng) =>
      logs(
        1000,
        target([{ when: { turn: 0 }, probabilities: { A: 1 } }, { probabilities: { A: 0.65, B: 0.35 } }]),
        (i) => {
          const turns = Array.from({ length: 2 }, () => {
            const x = uniform(rng);
            return { x, a: coin(rng, 0.3 + 0.4 * x) };
          });
          const reward = bit(rng, 0.2 + 0.3 * turns.filter((k) => k.a).length);
          const later = turns.map(({ x, a }) => {
            const p = Number((0.3 + 0.4 * x).toFixed(3));
            return turn(a ? 'A' : 'B', a ? p : 1 - p, [Number(x.toFixed(2))]);
          });
          return episode(i, 100, [turn('A', 1, [0]), ...later], reward);
        },
      ),
  },
];
