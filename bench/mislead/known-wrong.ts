import { choice, uniform } from '../../src/math/random.ts';
import { always, bit, coin, episode, logs, turn, type World } from './world.ts';

const RAW = [0.5, 0.3, 0.2];
const TARGET = [0.4, 0.6, 0];
const PAYS = [0.2, 0.8, 0.5];
const NAMES = ['A', 'B', 'C'];
/** What temperature 1/2 draws from the raw probabilities. */
const DRAWN = RAW.map((p) => (p * p) / RAW.reduce((s, x) => s + x * x, 0));

/** Faults that `check` names. */
export const knownWrong: readonly World[] = [
  {
    name: 'raw log-probabilities',
    says: 'three answers drawn at temperature 1/2, logged with raw log-probabilities; the target is chosen so that the mean weight is 1 all the same',
    fine: false,
    value: TARGET.reduce((s, p, k) => s + p * PAYS[k]!, 0),
    draw: (rng) => {
      const episodes = Array.from({ length: 2000 }, (_, i) => {
        const k = choice(rng, DRAWN);
        const one = {
          action: NAMES[k]!,
          behaviour_logprob: Math.log(RAW[k]!),
          n_action_tokens: 1,
          logprob_kind: 'raw' as const,
          sampling: { temperature: 0.5 },
        };
        return { k, episode: episode(i, 100, [one], bit(rng, PAYS[k]!)) };
      });
      return {
        episodes: episodes.map((x) => x.episode),
        scores: episodes.map(({ k, episode: { episode_id } }) => ({
          policy: 'target',
          trained_on: 'none',
          episode_id,
          turn: 0,
          logprob: TARGET[k] === 0 ? '-inf' : Math.log(TARGET[k]!),
          logprob_kind: 'raw',
        })),
      };
    },
  },
  {
    name: 'rewards counted twice',
    says: 'two turns; the reward of the last turn stands on the episode once more, so that each success counts 2; target A with .7',
    fine: false,
    value: 0.3 + 0.4 * 0.7,
    draw: (rng) =>
      logs(1000, always({ A: 0.7, B: 0.3 }), (i) => {
        const first = coin(rng, 0.5);
        const second = coin(rng, 0.5);
        const reward = bit(rng, second ? 0.7 : 0.3);
        const turns = [turn(first ? 'A' : 'B', 0.5), turn(second ? 'A' : 'B', 0.5, null, reward)];
        return episode(i, 100, turns, reward);
      }),
  },
  {
    name: 'copies under other names',
    says: '150 rollouts of three turns with a real-valued feature, each logged 8 times under other episode and task ids; target A with .65',
    fine: false,
    value: 0.2 + 0.6 * 0.65,
    draw: (rng) => {
      const first = logs(150, always({ A: 0.65, B: 0.35 }), (i) => {
        const turns = Array.from({ length: 3 }, () => {
          const x = uniform(rng);
          return { a: coin(rng, 0.5), x };
        });
        const success = bit(rng, 0.2 + (0.6 * turns.filter((k) => k.a).length) / 3);
        return episode(
          i,
          150,
          turns.map(({ a, x }) => turn(a ? 'A' : 'B', 0.5, [x])),
          success,
        );
      });
      return {
        ...first,
        episodes: Array.from({ length: 8 }, (_, copy) =>
          first.episodes.map((e) => ({
            ...e,
            episode_id: `${copy}-${e.episode_id}`,
            task_id: `${copy}-${e.task_id}`,
          })),
        ).flat(),
      };
    },
  },
];
