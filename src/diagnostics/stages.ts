import type { Stage } from '../schema/audit.ts';
import { type StageSums, stageSums } from '../weights/carried.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import { stageConcentrations } from './concentration.ts';
import { meanWeights, skewnessOf, zOfMean } from './mean-weight.ts';

/** Chance of leaving the logs at each turn, [stages]; null where the target does not say. */
type UnsupportedByTurn = Float64Array | null;

/** Coverage turn by turn: who is alive, who follows, three effective sample sizes, the mean weight, the concentration. O(stages × n). */
export function stageTable(
  w: EpisodeWeights,
  unsupported: UnsupportedByTurn = null,
  sums: StageSums = stageSums(w),
): Stage[] {
  const { mean, se, followerTasks } = meanWeights(w);
  const stagewise = stagewiseEss(w);
  const concentrated = stageConcentrations(w);
  return Array.from({ length: w.stages }, (_, t) => ({
    turn: t,
    alive: sums.alive[t]!,
    followers: sums.followers[t]!,
    followerTasks: followerTasks[t]!,
    targetShare: finite(sums.reached[t]! / w.n),
    essStagewise: stagewise[t]!,
    essCarried: ess(sums.carriedSum[t]!, sums.carriedSquares[t]!),
    essAlive: ess(sums.aliveSum[t]!, sums.aliveSquares[t]!),
    meanWeight: finite(mean[t]!),
    meanWeightSe: finite(se[t]!),
    z: finite(zOfMean(mean[t]!, se[t]!)),
    skewness: finite(skewnessOf(w.n, sums.carriedSum[t]!, sums.carriedSquares[t]!, sums.carriedCubes[t]!)),
    ...concentrated[t]!,
    unsupported: unsupported?.[t] ?? null,
  }));
}

/** (Σρ_t)²/Σρ_t² among the alive, [stages]; ratios relative to the turn's largest. */
function stagewiseEss({ n, stages, offsets, logRatios }: EpisodeWeights): Float64Array {
  const top = new Float64Array(stages).fill(-Infinity);
  const sum = new Float64Array(stages);
  const squares = new Float64Array(stages);
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++)
      if (logRatios[s]! > top[t]!) top[t] = logRatios[s]!;
  for (let i = 0; i < n; i++)
    for (let s = offsets[i]!, t = 0; s < offsets[i + 1]!; s++, t++) {
      if (top[t] === -Infinity) continue;
      const rho = Math.exp(logRatios[s]! - top[t]!);
      sum[t] = sum[t]! + rho;
      squares[t] = squares[t]! + rho * rho;
    }
  return sum.map((x, t) => ess(x, squares[t]!));
}

const ess = (sum: number, squares: number): number => (squares > 0 ? (sum * sum) / squares : 0);
const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
