import { skewnessOf, zOfMean } from '../../diagnostics/mean-weight.ts';
import type { Stage } from '../../schema/audit.ts';
import type { StageSums } from '../../weights/carried.ts';
import { meansOf } from './mean-rows.ts';
import type { ShardState } from './shard-state.ts';
import { stagewiseEss, tailConcentrations } from './stage-tails.ts';

/** The table of diagnostics/stages.ts from a scan. O(stages · m log m). */
export function streamStages(
  { stages: state, tails, means }: ShardState,
  sums: StageSums,
  unsupported: Float64Array | null,
): Stage[] {
  const T = state.stages;
  const n = state.episodes;
  const { mean, se, followerTasks } = meansOf(means, n, T);
  const stagewise = stagewiseEss(tails, T);
  const concentrated = tailConcentrations(tails, state, sums);
  return Array.from({ length: T }, (_, t) => ({
    turn: t,
    alive: sums.alive[t]!,
    followers: sums.followers[t]!,
    followerTasks: followerTasks[t]!,
    targetShare: finite(sums.reached[t]! / n),
    essStagewise: stagewise[t]!,
    essCarried: ess(sums.carriedSum[t]!, sums.carriedSquares[t]!),
    essAlive: ess(sums.aliveSum[t]!, sums.aliveSquares[t]!),
    meanWeight: finite(mean[t]!),
    meanWeightSe: finite(se[t]!),
    z: finite(zOfMean(mean[t]!, se[t]!)),
    skewness: finite(skewnessOf(n, sums.carriedSum[t]!, sums.carriedSquares[t]!, sums.carriedCubes[t]!)),
    ...concentrated[t]!,
    unsupported: unsupported?.[t] ?? null,
  }));
}

const ess = (sum: number, squares: number): number => (squares > 0 ? (sum * sum) / squares : 0);
const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
