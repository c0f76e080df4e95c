import { tailIndex, tailThreshold } from '../math/pareto.ts';
import { skewness } from '../math/statistics.ts';
import { sum, sumOf } from '../math/sum.ts';
import type { WeightSummary } from '../schema/audit.ts';
import { effectiveSampleSize } from '../weights/effective-sample-size.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import { concentration } from './concentration.ts';

/** The final weights of the episodes, overall: size, concentration, tail. O(n) as a rule. */
export function weightSummary(w: EpisodeWeights): WeightSummary {
  const { n, weight, finalShift, returns, clusters } = w;
  const total = sum(weight);
  const { largestShare, topPercentShare, kHat, kHatReason } = concentration(weight);
  const ess = effectiveSampleSize(weight);
  const tailOfReturn = tailIndex(weight.map((x, i) => (x === 0 ? 0 : Math.abs(x * returns[i]!))));
  const byTask = new Float64Array(clusters.count);
  for (let i = 0; i < n; i++) byTask[clusters.of[i]!] = byTask[clusters.of[i]!]! + weight[i]!;
  const scale = Math.exp(finalShift);
  return {
    ess,
    essShare: n === 0 ? 0 : ess / n,
    essByTask: effectiveSampleSize(byTask),
    followers: weight.reduce((count, x) => (x > 0 ? count + 1 : count), 0),
    meanWeight: finite((scale * total) / n),
    largestWeight: finite(scale * weight.reduce((most, x) => Math.max(most, x), n === 0 ? Number.NaN : 0)),
    largestShare,
    topPercentShare,
    kHat,
    kHatReason,
    kHatReturn: tailOfReturn.k,
    kHatReturnReason: tailOfReturn.reason,
    kHatThreshold: n > 1 ? tailThreshold(n) : null,
    events: events(w, total),
  };
}

/**
 * K/g₁² of the tasks' Σ w_i (G_i − V̂), V̂ = WIS, of which its error is the sum; 0 where all returns are alike.
 * g₁ = m₃/m₂^{3/2} with the moments of the population (divided by K), not Fisher's G₁ of a sample.
 */
function events({ n, weight, returns, clusters }: EpisodeWeights, total: number): number | null {
  const used = returns.filter((_, i) => weight[i]! > 0);
  if (used.every((G) => G === used[0])) return 0;
  const V = sumOf(n, (i) => weight[i]! * returns[i]!) / total;
  const out = new Float64Array(clusters.count);
  for (let i = 0; i < n; i++) {
    const c = clusters.of[i]!;
    out[c] = out[c]! + weight[i]! * (returns[i]! - V);
  }
  return finite(clusters.count / skewness(out) ** 2);
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
