import {
  mergePropensities,
  type PropensityCells,
  type PropensityPlan,
  propensityCells,
} from '../../diagnostics/propensity-cells.ts';
import { type ColumnCheck, columnCheck, mergeChecks } from '../../weights/stream/column-check.ts';
import { type CellSums, mergeCells } from '../../weights/stream/file-ratios.ts';
import { type MeanRows, meanRows, mergeMeanRows } from './mean-rows.ts';
import { mergeStages, type StageState, stageState } from './stage-state.ts';
import { mergeTails, type StageTails, stageTails } from './stage-tails.ts';

/** What the first pass over a shard leaves of one target: plain records of typed arrays that merge. */
export interface ShardState {
  readonly stages: StageState;
  readonly tails: StageTails;
  readonly means: MeanRows;
  /** Of the logged and of the target's log-probabilities. */
  readonly behaviour: ColumnCheck;
  readonly target: ColumnCheck;
  readonly flags: Float64Array; // [256] turns by what is logged of them
  readonly withTask: { episodes: number; withTask: number };
  readonly cells: CellSums;
  readonly propensities: PropensityCells;
  /** Of episodes of the view that were not aborted and have no return. */
  readonly missing: { weight: number; unknown: number };
}

/** @param n episodes at most, in all shards together: heaps are sized for them */
export function shardState(n: number, plan: PropensityPlan): ShardState {
  return {
    stages: stageState(1),
    tails: stageTails(n),
    means: meanRows(),
    behaviour: columnCheck(),
    target: columnCheck(),
    flags: new Float64Array(256),
    withTask: { episodes: 0, withTask: 0 },
    cells: { cells: new Map() },
    propensities: propensityCells(plan),
    missing: { weight: 0, unknown: 0 },
  };
}

/**
 * Takes another shard's state into this one; `from` is used up. Sums differ from those of the whole in the
 * last bits at most, heaps not at all. O(stages · m + open tasks).
 * @param episodesOf [clusters] episodes in all shards
 */
export function mergeShards(into: ShardState, from: ShardState, episodesOf: Int32Array): void {
  mergeStages(into.stages, from.stages);
  mergeTails(into.tails, from.tails);
  mergeMeanRows(into.means, from.means, episodesOf);
  mergeChecks(into.behaviour, from.behaviour);
  mergeChecks(into.target, from.target);
  from.flags.forEach((x, k) => {
    into.flags[k] = into.flags[k]! + x;
  });
  into.withTask.episodes += from.withTask.episodes;
  into.withTask.withTask += from.withTask.withTask;
  mergeCells(into.cells, from.cells);
  into.missing.weight += from.missing.weight;
  into.missing.unknown += from.missing.unknown;
  mergePropensities(into.propensities, from.propensities);
}
