import type { Reason } from '../schema/audit.ts';
import type { AuditConfig } from '../schema/audit-config.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Evidence } from './reasons.ts';

/** The estimates that are shown first. */
const SHOWN_FIRST = ['WPDIS carried', 'WIS'];

/**
 * The estimates shown first that have no value or no standard error, or one of 0 though the returns are not all
 * alike: numbers that do not fit a double, or tasks made alike. Without an error nothing says how sure they are.
 */
export function withoutError({ evaluation, weights }: Evidence, c: AuditConfig): Reason[] {
  // Without enough tasks or any follower there is none, which is refused for that.
  if (evaluation.clusters < c.minTasks || weights.followers === 0) return [];
  const first = evaluation.estimates.filter((e) => SHOWN_FIRST.includes(e.estimator));
  const none = names(first.filter((e) => e.se === null));
  const zero = weights.events === 0 ? '' : names(first.filter((e) => e.se === 0));
  const out: Reason[] = [];
  const say = (verdict: Reason['verdict'], message: string, value: number | null): void =>
    void out.push({ code: 'no-standard-error', verdict, message, value, threshold: null });
  if (none !== '')
    say('refused', `no standard error can be computed for ${none}: sums that do not fit a number`, null);
  if (zero !== '')
    say('weak', `the standard error of ${zero} is exactly 0, though the returns are not all alike`, 0);
  return out;
}

const names = (estimates: readonly Estimate[]): string => estimates.map((e) => e.estimator).join(' and ');
