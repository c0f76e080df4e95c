import { type Bounded, empiricalBernstein, hoeffding } from '../../math/concentration-bounds.ts';
import { failure } from '../../schema/error.ts';
import type { Estimate } from '../../schema/estimate.ts';
import type { EvaluationConfig } from '../../schema/evaluation.ts';
import type { EpisodeWeights } from '../../weights/episode-weights.ts';
import { type Entry, without } from './intervals.ts';

/** The declared limits of the return. @throws a usage error where there are none */
export function requireRange({ interval, range }: EvaluationConfig): Bounded {
  if (range === null)
    throw failure({
      subject: `interval ${interval}`,
      wrong: 'needs declared limits of the return; the largest one seen is not a limit',
      fix: 'Pass --range LO,HI, for instance --range 0,1.',
      exitCode: 2,
    });
  return { lo: range[0], hi: range[1] };
}

/**
 * An interval from the range of what is averaged, over tasks: the mean of a task's influence values is one
 * bounded variable, shares in proportion to its episodes (the sizes are taken as given).
 */
export function boundedInterval(
  { estimate, influence, estimator }: Entry,
  w: EpisodeWeights,
  range: Bounded,
  { interval, level, maxWeight }: EvaluationConfig,
): Estimate {
  // Without any spread there is no interval by t, and one from the range all the same.
  const alike = estimate.warnings.some((w) => w.code === 'no-spread');
  if (estimate.interval === null && !alike) return estimate;
  if (estimator.bounded === undefined)
    return without(
      estimate,
      'no-range',
      `${estimator.name} has no ${interval} interval: it is no mean of terms that the declared range limits`,
    );
  if (estimator.bounded === 'weighted return' && maxWeight === null)
    return without(
      estimate,
      'no-range',
      `${estimator.name} has no ${interval} interval without a declared limit of the weight of an episode: pass --max-weight W`,
    );
  const limits = estimator.bounded === 'return' ? range : weighted(range, checkedWeight(w, maxWeight!));
  const { values, shares } = taskMeans(influence.psi, w);
  const bound = interval === 'hoeffding' ? hoeffding : empiricalBernstein;
  const found = bound(values, limits, level, shares);
  // A policy's value lies within the limits of the return, whatever the weights allow their mean.
  const lo = Math.max(range.lo, found.lo);
  const hi = Math.min(range.hi, found.hi);
  if (lo > hi)
    return without(
      estimate,
      'outside-range',
      `the ${interval} interval of ${estimator.name} lies outside the declared range [${range.lo}, ${range.hi}]: the weights are wrong, or chance`,
    );
  const name = interval === 'hoeffding' ? 'Hoeffding' : 'empirical Bernstein (Maurer & Pontil 2009)';
  const method = `${name} over ${values.length} tasks, ${estimator.bounded} declared within [${limits.lo}, ${limits.hi}]${estimator.bounded === 'return' ? '' : `, cut to [${range.lo}, ${range.hi}], where a value lies`}`;
  const warnings = estimate.warnings.filter((w) => w.code !== 'no-spread');
  return { ...estimate, interval: { lo, hi, level, method }, warnings };
}

/** The range of w · G. */
const weighted = ({ lo, hi }: Bounded, most: number): Bounded => ({
  lo: Math.min(0, most * lo),
  hi: Math.max(0, most * hi),
});

/** The declared limit of the weight, which every logged one must keep. */
function checkedWeight({ logWeight }: EpisodeWeights, most: number): number {
  const seen = Math.exp(logWeight.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY));
  if (seen > most * (1 + 1e-9))
    throw failure({
      subject: 'max-weight',
      wrong: 'an episode weighs more than the declared limit',
      got: seen,
      expected: `at most ${most}`,
      exitCode: 2,
    });
  return most;
}

/** Mean of ψ by task, and each task's share of the episodes. */
function taskMeans(
  psi: Float64Array,
  { n, clusters }: EpisodeWeights,
): { values: Float64Array; shares: Float64Array } {
  const values = new Float64Array(clusters.count);
  const sizes = new Float64Array(clusters.count);
  for (let i = 0; i < n; i++) {
    const c = clusters.of[i]!;
    values[c] = values[c]! + psi[i]!;
    sizes[c] = sizes[c]! + 1;
  }
  return { values: values.map((x, c) => x / sizes[c]!), shares: sizes.map((size) => size / n) };
}
