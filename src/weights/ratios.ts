import type { BehaviourTable } from '../policy/behaviour-table.ts';
import type { TrainedOn } from '../schema/trained-on.ts';
import type { Warning } from '../schema/warning.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { HeldOut } from './held-out.ts';

/** Which measure of the action both policies' log-probabilities are of. */
export type Measure = 'logprob' | 'log_propensity';

/**
 * Per-turn log-ratios log π(a_k | s_k) − log b(a_k | s_k) of one target on one view.
 * −∞ where π = 0. NaN outside the view and in episodes without a return.
 */
export interface LogRatios {
  readonly target: string;
  readonly measure: Measure;
  readonly trainedOn: TrainedOn;
  readonly trajectories: Trajectories;
  readonly values: Float64Array; // [S], aligned with the turns of `trajectories`
  /** What of the logs the target was trained on; already out of `trajectories`. */
  readonly held: Pick<HeldOut, 'episodes' | 'tasks' | 'known'>;
  /** What was noticed while the two policies' columns were put side by side. */
  readonly warnings: readonly Warning[];
  /** All action probabilities of a declared tabular target; null for recorded scores, which know only the logged action's. */
  readonly table: TargetTable | null;
  /** log w of the episodes without a return that were not aborted, NaN where it is not known; absent: none looked at. */
  readonly unpaid?: UnpaidWeights;
  /** Their sum, where a scan has formed it. */
  readonly missing?: MissingWeight;
  /** Whether the behaviour's part was logged (as it is where this is absent) or estimated by a model. */
  readonly propensities?: 'logged' | 'estimated';
  /** The behaviour's probabilities of all classes, where they are known or estimated. */
  readonly behaviour?: BehaviourTable;
}

export interface UnpaidWeights {
  readonly episodes: Int32Array; // rows of the episode columns, ascending
  readonly logWeight: Float64Array;
}

/** The target's weight on episodes that were not aborted and have no return. */
export interface MissingWeight {
  /** Σ w of those whose ratios are known at every turn. */
  readonly weight: number;
  /** How many others there are. */
  readonly unknown: number;
}

/** π(· | cell) of a declared tabular target on the logged turns. */
export interface TargetTable {
  readonly cell: Int32Array; // [S], −1 outside the view
  /** [S] the rule of the policy file that applies, −1 outside the view; absent: not from a file. */
  readonly rule?: Int32Array;
  readonly cells: readonly string[];
  /** [cells] 1: the rule names tasks; absent: none does. */
  readonly cellOfTask?: Uint8Array;
  readonly classes: readonly string[]; // those of the logs, then those only the target names
  readonly probabilities: Float64Array; // [cells × classes]
}
