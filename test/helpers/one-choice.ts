import { random, uniform } from '../../src/math/random.ts';
import type { PolicyFile } from '../../src/policy/policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';

/** One turn, two classes: the logs take `a` with probability `logged`, and a class pays 1 as often as it says. */
export interface World {
  readonly logged: number;
  readonly pays: { readonly a: number; readonly b: number };
}

const worth = ({ pays }: World, p: number): number => p * pays.a + (1 - p) * pays.b;

/** Exact: a target that takes `a` with probability p, minus the logging policy. */
export const differenceIn = (world: World, p: number): number => worth(world, p) - worth(world, world.logged);

export function logsOf({ logged, pays }: World, n: number, seed: number): EpisodeInput[] {
  const rng = random(seed, 'one choice');
  return Array.from({ length: n }, (_, i) => {
    const action_class = uniform(rng) < logged ? 'a' : 'b';
    return {
      episode_id: `run-${i}`,
      task_id: `task-${i}`,
      policy: 'logging',
      reward: uniform(rng) < pays[action_class] ? 1 : 0,
      turns: [
        { action_class, behaviour_log_propensity: Math.log(action_class === 'a' ? logged : 1 - logged) },
      ],
    };
  });
}

export const targetOf = (p: number): PolicyFile => ({
  policy: `a with ${p}`,
  trained_on: 'none',
  logprob_kind: 'propensity',
  rules: [{ when: {}, probabilities: { a: p, b: 1 - p } }],
});
