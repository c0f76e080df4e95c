/*
 * Whether an estimate's own influence values bear its interval. The weights may be good and the interval not: where
 * A pays 1 but fails in .4 %, a doubly robust value is a constant but for a few rollouts, and its error is theirs.
 *
 *   u_c = Σ_{i ∈ c} (ψ_i − ψ̄) by task,   events = K/g₁²,   g₁ the skewness of the u_c
 *
 * about as many rare outcomes stand behind the value (Cochran 1977). Below `weakEvents` a 95 % interval by t misses in
 * more than 6 % of samples. An error of exactly 0 where returns differ says nothing of outcomes that were not seen. O(n).
 */
import { skewness } from '../math/statistics.ts';
import type { OwnSupport } from '../schema/estimate.ts';
import type { Clusters } from '../trajectories/trajectories.ts';
import { countWords, numberWords } from '../weights/words.ts';

/** As in the audit's settings; an estimate is judged by it whoever made it. */
export const WEAK_EVENTS = 25;
/** Relative spread below which influence values are alike but for the arithmetic. */
const ALIKE = 1e-9;
/** Skewness below which sums are symmetric but for the arithmetic. */
const NO_SKEW = 1e-3;

export function ownSupport(
  psi: Float64Array,
  value: number,
  { of, count }: Clusters,
): { readonly events: number | null; readonly support: OwnSupport } {
  const sums = new Float64Array(count);
  for (let i = 0; i < psi.length; i++) sums[of[i]!] = sums[of[i]!]! + (psi[i]! - value);
  const most = sums.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
  const scale = psi.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
  if (most <= ALIKE * scale)
    return {
      events: 0,
      support: weak('its error is exactly 0, which says nothing of outcomes that were not seen'),
    };
  const skew = skewness(sums);
  const events = count / (skew * skew);
  if (!(Math.abs(skew) > NO_SKEW)) return { events: null, support: SUPPORTED };
  if (events >= WEAK_EVENTS) return { events, support: SUPPORTED };
  return {
    events,
    support: weak(
      `it rests on the like of ${numberWords(events)} rare outcomes in ${countWords(count)} tasks, ${WEAK_EVENTS} are needed`,
    ),
  };
}

const SUPPORTED: OwnSupport = { verdict: 'supported', reasons: [] };
const weak = (reason: string): OwnSupport => ({ verdict: 'weak', reasons: [reason] });
