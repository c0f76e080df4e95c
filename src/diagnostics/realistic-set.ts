/*
 * Realistic actions (van der Laan & Petersen 2007): those the behaviour takes with propensity ≥ α.
 *
 *   A_α(h) = {a : b(a | h) ≥ α},   π_α(a | h) ∝ π(a | h) 1{a ∈ A_α(h)}
 *
 * Where nothing of π is left π_α is the behaviour within A_α, and the behaviour itself where A_α is
 * empty. The value of π_α against α shows what the estimate owes to actions that are hardly logged;
 * it is the value of another policy, named so.
 */
import { clusterVariance } from '../math/statistics.ts';
import type { RealisticSet } from '../schema/diagnostics.ts';
import { effectiveSampleSize } from '../weights/effective-sample-size.ts';
import { type EpisodeWeights, episodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { type BothPolicies, behaviourAt, targetAt } from './both-policies.ts';

export const REALISTIC = [0, 0.01, 0.05, 0.1, 0.2] as const;

/** For each α: size of the set, what it excludes of the target, value of the target within it. O(αs × turns × A). */
export function realisticSets(
  ratios: LogRatios,
  both: BothPolicies,
  w: EpisodeWeights,
  alphas: readonly number[] = REALISTIC,
): RealisticSet[] {
  return alphas.map((alpha) => realisticSet(ratios, both, w, alpha));
}

function realisticSet(ratios: LogRatios, both: BothPolicies, w: EpisodeWeights, alpha: number): RealisticSet {
  const A = both.classes.length;
  const { index, episodeOffsets, turns } = w.trajectories;
  const values = new Float64Array(ratios.values.length).fill(Number.NaN);
  const restricted = new Float64Array(A);
  let rows = 0;
  let size = 0;
  let excluded = 0;
  let wantedExcluded = 0;
  for (const e of index)
    for (let s = episodeOffsets[e]!; s < episodeOffsets[e + 1]!; s++) {
      let wanted = 0;
      let within = 0;
      rows++;
      for (let a = 0; a < A; a++) {
        const pi = targetAt(both, s, a);
        const realistic = isRealistic(behaviourAt(both, s, a), alpha);
        if (pi > targetAt(both, s, wanted)) wanted = a;
        if (realistic) size++;
        else excluded += pi;
        restricted[a] = realistic ? pi : 0;
        within += restricted[a]!;
      }
      if (!isRealistic(behaviourAt(both, s, wanted), alpha)) wantedExcluded++;
      const own = turns.actionClass.codes[s]!;
      const b = behaviourAt(both, s, own);
      values[s] = within > 0 ? Math.log(restricted[own]! / within / b) : behaviourWithin(both, s, own, alpha);
    }
  const at = episodeWeights({ ...ratios, values }, w.discount);
  const total = at.weight.reduce((a, b) => a + b, 0);
  const value = at.weight.reduce((sum, x, i) => sum + x * at.returns[i]!, 0) / total;
  const psi = at.weight.map((x, i) => (at.n * x * (at.returns[i]! - value)) / total);
  const { se } = clusterVariance(psi, at.clusters.of, at.clusters.count);
  return {
    alpha,
    meanSize: size / rows,
    excluded: excluded / rows,
    wantedExcluded: wantedExcluded / rows,
    value: finite(value),
    se: finite(se),
    ess: effectiveSampleSize(at.weight),
  };
}

/** With α = 0 the actions that the behaviour takes at all. */
export const isRealistic = (b: number, alpha: number): boolean => b > 0 && b >= alpha;

/** log of what the ratio is where the behaviour within its realistic actions stands in for the target. */
function behaviourWithin(both: BothPolicies, s: number, own: number, alpha: number): number {
  let total = 0;
  for (let a = 0; a < both.classes.length; a++) {
    const b = behaviourAt(both, s, a);
    if (isRealistic(b, alpha)) total += b;
  }
  if (total === 0) return 0;
  return isRealistic(behaviourAt(both, s, own), alpha) ? -Math.log(total) : -Infinity;
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
