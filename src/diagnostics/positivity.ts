/*
 * Positivity at each turn (Petersen et al. 2012): how much of what the target does there the
 * behaviour hardly ever does.
 *
 *   share(α) = mean over the alive of Σ_a π(a | h) 1{b(a | h) < α}
 *
 * and quantiles (type 7) over the alive of Σ_a π(a | h) b(a | h), which for a deterministic target is
 * b(d(h) | h). Where only the logged action's propensity is known, the same share is estimated as
 * mean ρ 1{b(A | h) < α}: unbiased but for actions with b = 0, which no log shows.
 */
import { quantileSorted } from '../math/statistics.ts';
import type { Positivity } from '../schema/diagnostics.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { type BothPolicies, behaviourAt, targetAt } from './both-policies.ts';

export const ALPHAS = [0.01, 0.05, 0.1] as const;
const QUANTILES = [0, 0.01, 0.05, 0.25, 0.5, 0.75, 1] as const;

/** One stage from all probabilities. O(rows × A). */
export function positivity(both: BothPolicies, rows: Int32Array): Positivity {
  const below = new Float64Array(ALPHAS.length);
  const expected = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++)
    for (let a = 0; a < both.classes.length; a++) {
      const pi = targetAt(both, rows[i]!, a);
      if (!(pi > 0)) continue;
      const b = behaviourAt(both, rows[i]!, a);
      expected[i] = expected[i]! + pi * b;
      for (let k = 0; k < ALPHAS.length; k++) if (b < ALPHAS[k]!) below[k] = below[k]! + pi;
    }
  expected.sort();
  return {
    from: 'all probabilities',
    below: ALPHAS.map((alpha, k) => ({ alpha, share: below[k]! / rows.length })),
    quantiles: QUANTILES.map((q) => ({ q, propensity: quantileSorted(expected, q) })),
  };
}

/** Every stage from the propensities of the logged actions. O(turns). */
export function positivityOfLogged(ratios: LogRatios, w: EpisodeWeights, rows: Int32Array): Positivity {
  const b = w.trajectories.turns.behaviourLogPropensity;
  const below = new Float64Array(ALPHAS.length);
  for (const s of rows)
    for (let k = 0; k < ALPHAS.length; k++)
      if (b[s]! < Math.log(ALPHAS[k]!)) below[k] = below[k]! + Math.exp(ratios.values[s]!);
  return {
    from: 'logged actions',
    below: ALPHAS.map((alpha, k) => ({ alpha, share: below[k]! / rows.length })),
    quantiles: [],
  };
}
