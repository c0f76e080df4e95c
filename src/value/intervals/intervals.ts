import { type BucketSums, bootstrap, leaveOneOut, type Replicates } from '../../math/bootstrap.ts';
import {
  bcaLimits,
  type Limits,
  percentileLimits,
  studentisedLimits,
} from '../../math/bootstrap-interval.ts';
import type { Estimate, Interval } from '../../schema/estimate.ts';
import type { EvaluationConfig } from '../../schema/evaluation.ts';
import type { StageSums } from '../../weights/carried.ts';
import type { EpisodeWeights } from '../../weights/episode-weights.ts';
import type { Estimator, Influence } from '../estimator.ts';
import { boundedInterval, requireRange } from './bounded-interval.ts';
import { type Buckets, taskBuckets } from './buckets.ts';

/** An estimate that carries the CR1-t interval, and what another interval needs to know of it. */
export interface Entry {
  readonly estimate: Estimate;
  readonly influence: Influence;
  readonly estimator: Pick<Estimator, 'name' | 'resampled' | 'bounded'>;
}

/**
 * The estimates with the interval that is asked for in place of CR1-t; null, with a warning that says why,
 * where an estimator does not have it. All bootstraps use the same resamples of tasks.
 * @throws a usage error where the interval needs a declared range and there is none
 */
export function withIntervals(
  entries: readonly Entry[],
  w: EpisodeWeights,
  stages: StageSums,
  config: EvaluationConfig,
): Estimate[] {
  if (config.interval === 'cr1-t') return entries.map((e) => e.estimate);
  if (config.interval === 'hoeffding' || config.interval === 'empirical-bernstein') {
    const range = requireRange(config);
    return entries.map((e) => boundedInterval(e, w, range, config));
  }
  return bootstrapped(entries, w, stages, config);
}

function bootstrapped(
  entries: readonly Entry[],
  w: EpisodeWeights,
  stages: StageSums,
  config: EvaluationConfig,
): Estimate[] {
  const buckets = taskBuckets(w);
  const tables = entries.map(({ estimate, influence, estimator }) =>
    !resampled(estimate) || estimator.resampled === undefined
      ? null
      : estimator.resampled(w, stages, influence, buckets),
  );
  const asked = tables.filter((t) => t !== null);
  const what = config.interval === 'bootstrap-t' ? 'studentised' : 'values';
  const drawn = bootstrap(asked, config.replicates, config.seed, what);
  const method = label(buckets, w.clusters.count, config);
  return entries.map(({ estimate, estimator }, i) => {
    const table = tables[i]!;
    if (!resampled(estimate)) return estimate;
    if (table === null)
      return without(
        estimate,
        'no-bootstrap',
        `${estimator.name} is not a function of sums over tasks: it has no bootstrap here`,
      );
    const replicates = drawn[asked.indexOf(table)]!;
    const missing = replicates.values.reduce((count, x) => (Number.isFinite(x) ? count : count + 1), 0);
    if (missing > 0)
      return without(
        estimate,
        'undefined-resamples',
        `${estimator.name} is not defined in ${missing} of ${config.replicates} resamples of tasks, which hold no episode that the target could have produced: too few tasks carry the weight for a bootstrap`,
      );
    // Resamples of equal numbers are all equal: an exact interval stays, and none is made.
    if (estimate.events === 0) return estimate;
    const limits = limitsOf(config.interval, table, replicates, estimate, config.level);
    if (limits === null)
      return without(
        estimate,
        'no-bootstrap',
        `the ${config.interval} interval of ${estimator.name} is not finite: too few or too unequal tasks`,
      );
    const interval: Interval = { ...limits, level: config.level, method };
    return { ...estimate, interval };
  });
}

const resampled = ({ interval, warnings }: Estimate): boolean =>
  interval !== null || warnings.some((w) => w.code === 'no-spread');

function limitsOf(
  kind: EvaluationConfig['interval'],
  table: BucketSums,
  { values, t, value }: Replicates,
  estimate: Estimate,
  level: number,
): Limits | null {
  switch (kind) {
    case 'bootstrap-bca':
      return bcaLimits(values, value, leaveOneOut(table), level);
    case 'bootstrap-t':
      return studentisedLimits(t, estimate.value!, estimate.se!, level);
    default:
      return percentileLimits(values, level);
  }
}

const NAMES = {
  'bootstrap-percentile': 'percentile bootstrap',
  'bootstrap-bca': 'BCa bootstrap',
  'bootstrap-t': 'studentised bootstrap',
} as Readonly<Record<string, string>>;

function label({ count }: Buckets, K: number, { interval, replicates, seed }: EvaluationConfig): string {
  const over = count === K ? `${K} tasks` : `${K} tasks in ${count} buckets`;
  return `${NAMES[interval]} over ${over}, ${replicates} replicates, seed ${seed}`;
}

/** The estimate without an interval, and why. */
export function without(estimate: Estimate, code: string, message: string): Estimate {
  return { ...estimate, interval: null, warnings: [...estimate.warnings, { code, message }] };
}
