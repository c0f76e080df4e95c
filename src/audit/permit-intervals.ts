import type { Verdict } from '../schema/audit.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Evaluation } from '../schema/evaluation.ts';

/** Intervals as the verdict allows: as they are, labelled, or none, so that nothing looks like one. */
export function permitIntervals(evaluation: Evaluation, verdict: Verdict): Evaluation {
  if (verdict === 'supported') return evaluation;
  const permitted = (e: Estimate): Estimate =>
    e.interval === null
      ? e
      : {
          ...e,
          interval:
            verdict === 'refused'
              ? null
              : { ...e.interval, method: `${e.interval.method}; weak support, coverage not claimed` },
        };
  const { estimates, difference } = evaluation;
  return {
    ...evaluation,
    // A difference whose value nobody may rely on is not shown beside its error either.
    difference: verdict === 'refused' || difference === null ? null : permitted(difference),
    estimates: estimates.map(permitted),
  };
}
