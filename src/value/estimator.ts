import type { Warning } from '../schema/warning.ts';
import type { StageSums } from '../weights/carried.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';

/** What an estimator rests on; without it, it is refused by name. */
export type Requirement = 'behaviour log-probabilities' | 'returns' | 'turn rewards';

/** A value with one influence value per episode: mean(ψ) = value, and Var(mean ψ) is its variance. */
export interface Influence {
  readonly value: number;
  readonly psi: Float64Array; // [n]
  readonly warnings?: readonly Warning[];
}

/** One estimator of V(π) = E_π[G] from episodes of another policy. */
export interface Estimator {
  readonly name: string;
  readonly requires: readonly Requirement[];
  /** What tells it from its namesakes, printed with every number. */
  readonly convention: string;
  /** Whether it tends to V(π) when episodes differ in length. */
  readonly consistent: boolean;
  readonly estimate: (w: EpisodeWeights, stages: StageSums) => Influence;
}
