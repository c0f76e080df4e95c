import { type Coder, coded, coder } from './coder.ts';
import type { EpisodeColumns, TurnColumns } from './trajectories.ts';

/** Columns while they are being filled: every value null, text columns as coders. */
type Filling<T, C extends keyof T> = Omit<T, C> & { readonly [K in C]: Coder };
export type EpisodesFilling = Omit<Filling<EpisodeColumns, 'task' | 'policy' | CodedVersion>, 'id'> & {
  readonly id: string[];
};
export type TurnsFilling = Filling<TurnColumns, 'version' | 'logprobKind' | 'actionClass'>;
type CodedVersion = 'versionStart' | 'versionEnd';

/** Room for n episodes. */
export function episodesFilling(n: number): EpisodesFilling {
  return {
    episode: doubles(n),
    id: new Array<string>(n),
    source: integers(n),
    task: coder(n),
    trial: integers(n),
    policy: coder(n),
    versionStart: coder(n),
    versionEnd: coder(n),
    ending: new Uint8Array(n),
    reward: doubles(n),
    cost: doubles(n),
  };
}

/** Room for n turns, about 100 bytes each. */
export function turnsFilling(n: number): TurnsFilling {
  return {
    turn: integers(n),
    toolErrors: integers(n),
    reward: doubles(n),
    processReward: doubles(n),
    behaviourLogprob: doubles(n),
    behaviourLogPropensity: doubles(n),
    nActionTokens: integers(n),
    version: coder(n),
    temperature: doubles(n),
    topP: doubles(n),
    topK: integers(n),
    logprobKind: coder(n),
    actionClass: coder(n),
  };
}

export function episodesFilled(c: EpisodesFilling): EpisodeColumns {
  return {
    ...c,
    task: coded(c.task),
    policy: coded(c.policy),
    versionStart: coded(c.versionStart),
    versionEnd: coded(c.versionEnd),
  };
}

export function turnsFilled(c: TurnsFilling): TurnColumns {
  return {
    ...c,
    version: coded(c.version),
    logprobKind: coded(c.logprobKind),
    actionClass: coded(c.actionClass),
  };
}

/** The view of everything: 0 … n − 1. */
export function wholeIndex(n: number): Int32Array {
  const index = new Int32Array(n);
  for (let i = 0; i < n; i++) index[i] = i;
  return index;
}

const doubles = (n: number): Float64Array => new Float64Array(n).fill(Number.NaN);
const integers = (n: number): Int32Array => new Int32Array(n).fill(-1);
