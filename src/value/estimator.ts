import type { Parts } from '../schema/estimate.ts';
import type { Warning } from '../schema/warning.ts';
import type { StageSums } from '../weights/carried.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { Resampled } from './intervals/resampled.ts';
import type { Nuisances } from './nuisances.ts';

/** What an estimator rests on; without it, it is refused by name. */
export type Requirement =
  | 'behaviour log-probabilities'
  | 'returns'
  | 'turn rewards'
  | 'q-values'
  | 'state-values'
  | 'finite states';

/** A value with one influence value per episode: mean(ψ) = value, and Var(mean ψ) is its variance. */
export interface Influence {
  readonly value: number;
  readonly psi: Float64Array; // [n]
  readonly warnings?: readonly Warning[];
  /** What a doubly robust value is made of. */
  readonly parts?: Parts;
  /** Why the standard error may not become an interval. */
  readonly noInterval?: string;
  /** [n] The returns where the value is their plain mean, which has an exact interval where all are 0 or all are 1. */
  readonly returns?: Float64Array;
}

/** One estimator of V(π) = E_π[G] from episodes of another policy. */
export interface Estimator {
  readonly name: string;
  readonly requires: readonly Requirement[];
  /** What tells it from its namesakes, printed with every number. */
  readonly convention: string;
  /** Whether it tends to V(π) when episodes differ in length. */
  readonly consistent: boolean;
  /** @throws where a requirement is not among what is given */
  readonly estimate: (w: EpisodeWeights, stages: StageSums, given?: Nuisances) => Influence;
  /** Its sums by bucket of tasks, from which a bootstrap computes it again; absent: it has none. */
  readonly resampled?: Resampled;
  /** Of what it is the mean over episodes, where declared limits of the return bound that. */
  readonly bounded?: 'return' | 'weighted return';
}
