import { type TailIndex, tailIndex } from '../math/pareto.ts';
import { sum } from '../math/sum.ts';
import type { Estimate } from '../schema/estimate.ts';
import type { Evaluation, EvaluationConfig } from '../schema/evaluation.ts';
import type { Warning } from '../schema/warning.ts';
import { effectiveSampleSize } from '../weights/effective-sample-size.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios, MissingWeight } from '../weights/ratios.ts';
import { missingWeight } from '../weights/unpaid.ts';
import { checkedBounds } from './bounds.ts';
import { type EstimateContext, estimateOf, meanReturn } from './estimate.ts';
import { type Entry, without } from './intervals/intervals.ts';
import { resampledMean } from './intervals/resampled.ts';
import { cutShortWords, missingWords, unknownOutcomes } from './outcomes.ts';
import { extent, returnRange } from './return-range.ts';

/** What an evaluation says whichever way its estimates were computed: from loaded logs or from a scan. */

export interface Frame {
  readonly tail: TailIndex;
  /** For estimates of the target's value. */
  readonly context: EstimateContext;
  /** The mean return of the logs. */
  readonly logged: Entry;
}

export function frame(ratios: LogRatios, w: EpisodeWeights, level: number): Frame {
  const tail = tailIndex(w.weight);
  const shared = { clusters: w.clusters, level, range: extent(w.returns) };
  const influence = meanReturn(w.returns);
  const estimate = estimateOf('mean return', 'mean of the logged returns', influence, {
    ...shared,
    ess: w.n,
    kHat: null,
    estimand: 'E[G] under the behaviour on new tasks like these',
  });
  return {
    tail,
    context: {
      ...shared,
      ess: effectiveSampleSize(w.weight),
      kHat: tail.k,
      estimand: `E[G] under "${ratios.target}" on new tasks like these`,
    },
    logged: {
      estimator: { name: estimate.estimator, resampled: resampledMean, bounded: 'return' },
      influence,
      estimate,
    },
  };
}

/** An interval around something else than the value would cover nothing. */
export function notConsistent(estimate: Estimate): Estimate {
  return without(
    estimate,
    'not-consistent',
    `${estimate.estimator} does not tend to the value of the target when episodes differ in length; shown to compare with tools that print it`,
  );
}

export interface Facts {
  /** The target minus the mean logged return; null where it has no value. */
  readonly difference: Estimate | null;
  readonly turns: number;
  /** Whether every log-ratio is 0. */
  readonly targetIsBehaviour: boolean;
  readonly warnings: readonly Warning[];
}

export function evaluationOf(
  ratios: LogRatios,
  w: EpisodeWeights,
  settings: EvaluationConfig,
  [behaviour, ...estimates]: readonly Estimate[],
  facts: Facts & Pick<Frame, 'tail'>,
): Evaluation {
  const unknown = unknownOutcomes(ratios.trajectories, w);
  const limits = checkedBounds(w, returnRange(w.returns, settings.range), settings.level, unknown);
  const episodes = {
    used: w.n,
    withoutReturn: w.total - w.n,
    aborted: unknown.aborted,
    cutShort: unknown.cutShort,
    missingWeight: shareMissing(unknown.missing, missingWeight(ratios), w),
    cutShortWeight: unknown.cutShortWeight,
    trainedOn: ratios.held.episodes,
    total: w.total + ratios.held.episodes,
  };
  return {
    target: ratios.target,
    measure: ratios.measure,
    trainedOn: ratios.trainedOn,
    episodes,
    clusters: w.clusters.count,
    turns: facts.turns,
    behaviour: behaviour!,
    difference: facts.difference,
    estimates,
    bounds: limits.bounds,
    warnings: [...ratios.warnings, ...facts.warnings, ...notes(ratios, episodes, facts), ...limits.warnings],
    config: settings,
  };
}

/** Of the target's weight; an episode whose weight is not known counts as much as one of those used does on average. */
function shareMissing(missing: number, { weight, unknown }: MissingWeight, w: EpisodeWeights): number | null {
  if (missing === 0) return 0;
  const used = sum(w.weight) * Math.exp(w.finalShift);
  const all = weight + (unknown * used) / w.n;
  return used > 0 && Number.isFinite(all) && Number.isFinite(used) ? all / (used + all) : null;
}

function notes(
  ratios: LogRatios,
  episodes: Evaluation['episodes'],
  facts: Facts & Pick<Frame, 'tail'>,
): Warning[] {
  const out: Warning[] = [];
  const { withoutReturn, cutShort } = episodes;
  if (withoutReturn > 0)
    out.push({ code: 'without-return', message: missingWords(episodes), count: withoutReturn });
  if (cutShort > 0) out.push({ code: 'cut-short', message: cutShortWords(episodes), count: cutShort });
  if (facts.tail.reason !== null)
    out.push({ code: 'no-tail-index', message: `Pareto k̂ is not computed: ${facts.tail.reason}` });
  if (facts.targetIsBehaviour)
    out.push({
      code: 'target-is-behaviour',
      message: `"${ratios.target}" gives every logged action the behaviour's own probability: weights of 1 test nothing`,
    });
  return out;
}
