import type { Verdict } from '../schema/audit.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Evaluation } from '../schema/evaluation.ts';

/** Intervals as the verdict and their own influence values allow: as they are, labelled, or none, so that nothing looks like one. */
export function permitIntervals(evaluation: Evaluation, verdict: Verdict): Evaluation {
  const permitted = (e: Estimate): Estimate => {
    if (e.interval === null) return e;
    if (verdict === 'refused') return { ...e, interval: null };
    const own = e.support?.verdict === 'weak';
    if (verdict === 'supported' && !own) return e;
    const why = verdict === 'weak' ? 'weak support' : 'weak support of its own';
    return {
      ...e,
      interval: { ...e.interval, method: `${e.interval.method}; ${why}, coverage not claimed` },
    };
  };
  const { estimates, difference } = evaluation;
  return {
    ...evaluation,
    // A difference whose value nobody may rely on is not shown beside its error either.
    difference: verdict === 'refused' || difference === null ? null : permitted(difference),
    estimates: estimates.map(permitted),
  };
}
