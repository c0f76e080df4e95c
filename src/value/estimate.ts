import { studentQuantile } from '../math/distributions.ts';
import { NO_SPREAD, withoutSpread, withoutSpreadInterval } from '../math/no-spread.ts';
import { clusterVariance, mean, standardDeviation } from '../math/statistics.ts';
import type { Estimate, Interval, Parts } from '../schema/estimate.ts';
import type { Warning } from '../schema/warning.ts';
import type { Clusters } from '../trajectories/trajectories.ts';
import type { Influence } from './estimator.ts';
import { ownSupport } from './own-support.ts';

/** What an estimate reports besides its own numbers. */
export interface EstimateContext {
  readonly clusters: Clusters;
  readonly level: number;
  readonly ess: number | null;
  readonly kHat: number | null;
  readonly estimand: string;
  /** Smallest and largest logged return. */
  readonly range: readonly [number, number];
}

/** By how much, relative to the returns, a weighted mean of equal returns may miss them: logs round propensities. */
const ROUNDING = 1e-4;

/**
 * From influence values to an estimate: CR1 over tasks, interval with t(K − 1). The interval claims
 * its coverage only where an audit says supported.
 */
export function estimateOf(
  name: string,
  convention: string,
  { value, psi, warnings = [], parts, noInterval, returns }: Influence,
  context: EstimateContext,
): Estimate {
  const { clusters, level, ess, kHat, estimand, range } = context;
  const n = psi.length;
  const { se, clusters: K } = clusterVariance(psi, clusters.of, clusters.count);
  const found: Warning[] = [...warnings];
  const finite = Number.isFinite(value);
  const slack = ROUNDING * Math.max(Math.abs(range[0]), Math.abs(range[1]));
  if (!finite)
    found.push({
      code: 'not-computed',
      message: `${name} is not computed: the weights are not finite or all 0`,
    });
  else if (value < range[0] - slack || value > range[1] + slack)
    found.push({
      code: 'outside-range',
      message: `${name} lies outside the range of the logged returns, ${range[0]} to ${range[1]}`,
    });
  if (finite && noInterval !== undefined)
    found.push({ code: 'no-interval', message: `${name}: ${noInterval}` });
  const scale = psi.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
  const shown = finite && Number.isFinite(se) && noInterval === undefined;
  const exact = shown && returns !== undefined ? withoutSpreadInterval(returns, K, level) : null;
  const alike = exact !== null || (shown && withoutSpread(se, scale));
  if (alike && exact === null)
    found.push({ code: 'no-spread', message: `${name} has no interval: ${NO_SPREAD}` });
  if (finite && K < 2) found.push({ code: 'one-cluster', message: 'one task gives no standard error' });
  return {
    estimator: name,
    value: finite ? value : null,
    se: finite && Number.isFinite(se) ? se : null,
    seNaive: finite && n > 0 ? finiteOrNull(standardDeviation(psi, 0) / Math.sqrt(n)) : null,
    interval: shown && !alike ? interval(value, se, K, level) : exact,
    n,
    clusters: K,
    ess,
    kHat,
    ...(finite && Number.isFinite(se) && K >= 2
      ? ownSupport(psi, value, clusters)
      : { events: null, support: null }),
    estimand,
    convention,
    ...(finite && parts !== undefined ? { parts: finiteParts(parts) } : {}),
    warnings: found,
  };
}

/** The mean return of the logs: the behaviour's own value. */
export function meanReturn(returns: Float64Array): Influence {
  return { value: mean(returns), psi: returns, returns };
}

function interval(value: number, se: number, K: number, level: number): Interval {
  const half = studentQuantile((1 + level) / 2, K - 1) * se;
  return { lo: value - half, hi: value + half, level, method: `CR1-t, ${K - 1} degrees of freedom` };
}

function finiteParts({ ipw, regression, correction }: Parts): Parts {
  return {
    ipw: finiteOrNull(ipw),
    regression: finiteOrNull(regression),
    correction: finiteOrNull(correction),
  };
}

const finiteOrNull = (x: number | null): number | null => (Number.isFinite(x) ? x : null);
