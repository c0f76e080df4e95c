import { type Random, uniform } from '../../src/math/random.ts';
import type { PolicyFileInput } from '../../src/policy/policy-file.ts';
import type { EpisodeInput } from '../../src/schema/episode.ts';

type TurnInput = NonNullable<EpisodeInput['turns']>[number];

/** What one data set of a world holds. */
export interface DataSet {
  readonly episodes: readonly EpisodeInput[];
  /** The target: a policy file, or lines of a scores file of the policy `target`. */
  readonly policy?: PolicyFileInput;
  readonly scores?: readonly object[];
}

/** A process that makes logs and a target whose value is exactly known. */
export interface World {
  readonly name: string;
  /** What happens in it, in a sentence. */
  readonly says: string;
  /** Whether the logs can answer: then a verdict below supported is the mistake; null: the coverage alone counts. */
  readonly fine: boolean | null;
  /** The target's exact value. */
  readonly value: number;
  readonly discount?: number;
  readonly draw: (rng: Random) => DataSet;
}

/** One turn with a declared action. */
export function turn(
  action: string,
  p: number,
  features: readonly number[] | null = null,
  reward: number | null = null,
): TurnInput {
  return {
    action_class: action,
    behaviour_log_propensity: Math.log(p),
    ...(features === null ? {} : { features: [...features] }),
    ...(reward === null ? {} : { reward }),
  };
}

/** An episode that ended; `i` names it, `tasks` tasks take turns. */
export function episode(
  i: number,
  tasks: number,
  turns: readonly TurnInput[],
  reward: number | null,
  more: Partial<EpisodeInput> = {},
): EpisodeInput {
  return {
    episode_id: `e${i}`,
    task_id: `t${i % tasks}`,
    ending: 'terminated',
    turns: [...turns],
    ...(reward === null ? {} : { reward }),
    ...more,
  };
}

export const coin = (rng: Random, p: number): boolean => uniform(rng) < p;
export const bit = (rng: Random, p: number): number => (coin(rng, p) ? 1 : 0);

/** A target over declared classes, its probabilities by rule. */
export const target = (
  rules: PolicyFileInput['rules'],
  trained_on: PolicyFileInput['trained_on'] = 'none',
): PolicyFileInput => ({ policy: 'target', trained_on, rules });

export const always = (probabilities: Record<string, number>): PolicyFileInput => target([{ probabilities }]);

/** A data set of n episodes of one policy file. */
export const logs = (
  n: number,
  policy: PolicyFileInput,
  one: (i: number) => EpisodeInput | null,
): DataSet => ({
  policy,
  episodes: Array.from({ length: n }, (_, i) => one(i)).filter((e) => e !== null),
});
