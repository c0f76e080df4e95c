import type { Trajectories } from '../../trajectories/trajectories.ts';
import type { EpisodeWeights } from '../../weights/episode-weights.ts';
import { shiftOf } from './block.ts';
import type { ScanRows } from './scan-rows.ts';
import { type RatioTerms, ratioTerms } from './second-pass.ts';
import type { ShardState } from './shard-state.ts';
import { toStageSums } from './stage-state.ts';
import type { Scanned } from './stream-evaluation.ts';

/** What the second pass needs of a target's first; null where no episode counts. */
export function termsOf(state: ShardState): RatioTerms | null {
  return state.stages.episodes === 0 ? null : ratioTerms(state.stages, toStageSums(state.stages), 0);
}

/**
 * The rows of the episodes in use, put together after both passes; uses up the target's rows.
 * @param list all episodes, without turns
 */
export function scannedTarget(
  list: Trajectories,
  rows: ScanRows,
  target: number,
  state: ShardState,
  terms: RatioTerms,
  discount: number,
): Scanned {
  const own = rows.targets[target]!;
  const n = state.stages.episodes;
  const index = new Int32Array(n);
  let total = 0;
  for (let e = 0, i = 0; e < own.view.length; e++) {
    if (own.view[e] === 0) continue;
    total++;
    if (!Number.isNaN(rows.returns[e]!)) index[i++] = e;
  }
  // In place: a row moves to the front of where it was, and nothing else will read it.
  const taken = (x: Float64Array, out = x) => {
    for (let i = 0; i < n; i++) out[i] = x[index[i]!]!;
    return out.subarray(0, n);
  };
  const logWeight = taken(own.logWeight);
  const returns = n === rows.returns.length ? rows.returns : taken(rows.returns, new Float64Array(n));
  let turns = 0;
  let most = -Infinity;
  const unconditional = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const length = rows.turns[index[i]!]!;
    turns += length;
    if (length === 0) unconditional[i] = returns[i]!;
    if (logWeight[i]! > most) most = logWeight[i]!;
  }
  const finalShift = shiftOf(most);
  const none = new Float64Array(0);
  const weights: EpisodeWeights = {
    trajectories: { ...list, index },
    n,
    total,
    offsets: new Int32Array(n + 1),
    logRatios: none,
    weights: none,
    rewards: none,
    shift: state.stages.alive.shift.slice(0, state.stages.stages),
    stages: state.stages.stages,
    logWeight,
    weight: logWeight.map((log) => Math.exp(log - finalShift)),
    finalShift,
    unconditional,
    returns,
    clusters: dense(rows.cluster, index, rows.episodesOf.length),
    discount,
  };
  return {
    weights,
    turns,
    sums: { ...toStageSums(state.stages), reached: state.tails.reached.slice(0, state.stages.stages) },
    terms,
    weighted: taken(own.weighted[0]!),
    influence: {
      carried: taken(own.carried),
      alive: taken(own.alive),
      aliveMeanOverN: taken(own.aliveMeanOverN),
    },
    targetIsBehaviour: turns > 0 && allOnes(state),
  };
}

/** Codes of the episodes in use, dense in order of appearance. */
function dense(cluster: Int32Array, index: Int32Array, count: number) {
  const place = new Int32Array(count).fill(-1);
  const of = new Int32Array(index.length);
  let found = 0;
  for (let i = 0; i < index.length; i++) {
    const c = cluster[index[i]!]!;
    if (place[c]! < 0) place[c] = found++;
    of[i] = place[c]!;
  }
  return { of, count: found };
}

/** No ratio is above 1 and their sum is their number. */
function allOnes({ stages, tails }: ShardState): boolean {
  const { alive } = toStageSums(stages);
  return alive.every(
    (m, t) => tails.rhoTop[t]! <= 0 && Math.exp(tails.rhoTop[t]!) === 1 && tails.rhoSum[t] === m,
  );
}
