import { tailIndex } from '../math/pareto.ts';
import { failure } from '../schema/error.ts';
import type { Estimate } from '../schema/estimate.ts';
import { type Evaluation, EvaluationConfig } from '../schema/evaluation.ts';
import type { Warning } from '../schema/warning.ts';
import { returnCounts } from '../trajectories/return.ts';
import { stageSums } from '../weights/carried.ts';
import { effectiveSampleSize } from '../weights/effective-sample-size.ts';
import { type EpisodeWeights, episodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { checkedBounds } from './bounds.ts';
import { type EstimateContext, estimateOf, meanReturn } from './estimate.ts';
import type { Influence } from './estimator.ts';
import { estimators } from './estimators.ts';
import { withIntervals } from './intervals/intervals.ts';
import { resampledMean } from './intervals/resampled.ts';
import { type ModelInputs, type ModelledValues, modelledValues } from './modelled.ts';
import { extent, returnRange } from './return-range.ts';

/**
 * Off-policy value of a target, all estimators side by side, with clustered standard errors. The
 * intervals claim their coverage only where `audit` says supported. O(turns).
 * @param inputs Q-values or state values of a critic; a policy file has a tabular Q without them
 * @throws exit code 3 where no held-out episode is left
 */
export function evaluate(
  ratios: LogRatios,
  config: Partial<EvaluationConfig> = {},
  weights?: EpisodeWeights,
  inputs: ModelInputs = {},
): Evaluation {
  const settings = EvaluationConfig.parse(config);
  const w = weights ?? episodeWeights(ratios, settings.discount);
  if (w.n === 0) throw nothingLeft(ratios);
  const ess = effectiveSampleSize(w.weight);
  const tail = tailIndex(w.weight);
  const context: EstimateContext = {
    clusters: w.clusters,
    level: settings.level,
    ess,
    kHat: tail.k,
    estimand: `E[G] under "${ratios.target}" on new tasks like these`,
    range: extent(w.returns),
  };
  const stages = stageSums(w);
  const followed = w.weight.some((x) => x > 0);
  const ragged = stages.alive.some((alive) => alive !== w.n) || w.offsets[w.n] !== w.n * w.stages;
  const range = returnRange(w.returns, settings.range);
  const logged = meanReturn(w.returns);
  const behaviour = estimateOf('mean return', 'mean of the logged returns', logged, {
    ...context,
    ess: w.n,
    kHat: null,
    estimand: 'E[G] under the behaviour on new tasks like these',
  });
  const weighted = estimators.map((estimator) => ({
    estimator,
    influence: followed ? estimator.estimate(w, stages) : nobodyFollows(w.n),
  }));
  const modelled = followed ? modelledValues(ratios, w, stages, settings.seed, inputs) : NO_MODEL;
  const entries = [...weighted, ...modelled.found].map(({ estimator, influence }) => {
    const own = estimator.requires.includes('behaviour log-probabilities')
      ? context
      : withoutWeights(context);
    const estimate = estimateOf(estimator.name, estimator.convention, influence, own);
    return {
      estimator,
      influence,
      estimate: estimator.consistent || !ragged ? estimate : withoutInterval(estimate),
    };
  });
  const meanOfLogs = { name: behaviour.estimator, resampled: resampledMean, bounded: 'return' } as const;
  const [ofLogs, ...ofTarget] = withIntervals(
    [{ estimator: meanOfLogs, influence: logged, estimate: behaviour }, ...entries],
    w,
    stages,
    settings,
  );
  const limits = checkedBounds(w, range, settings.level);
  return {
    target: ratios.target,
    measure: ratios.measure,
    trainedOn: ratios.trainedOn,
    episodes: {
      used: w.n,
      withoutReturn: w.total - w.n,
      trainedOn: ratios.held.episodes,
      total: w.total + ratios.held.episodes,
    },
    clusters: w.clusters.count,
    turns: w.offsets[w.n]!,
    behaviour: ofLogs!,
    estimates: ofTarget,
    bounds: limits.bounds,
    warnings: [
      ...ratios.warnings,
      ...modelled.warnings,
      ...notes(ratios, w, tail.reason),
      ...limits.warnings,
    ],
    config: settings,
  };
}

const NO_MODEL: ModelledValues = { found: [], warnings: [] };
const withoutWeights = (c: EstimateContext): EstimateContext => ({ ...c, ess: null, kHat: null });
const nobodyFollows = (n: number): Influence => ({ value: Number.NaN, psi: new Float64Array(n) });

/** An interval around something else than the value would cover nothing. */
function withoutInterval(estimate: Estimate): Estimate {
  const warning: Warning = {
    code: 'not-consistent',
    message: `${estimate.estimator} does not tend to the value of the target when episodes differ in length; shown to compare with tools that print it`,
  };
  return { ...estimate, interval: null, warnings: [...estimate.warnings, warning] };
}

function notes(ratios: LogRatios, w: EpisodeWeights, noTail: string | null): Warning[] {
  const out: Warning[] = [];
  if (w.total > w.n)
    out.push({
      code: 'without-return',
      message: `${w.total - w.n} of ${w.total} episodes have no return (aborted, or no reward at all) and are left out`,
      count: w.total - w.n,
    });
  const { truncated, unfinished } = returnCounts(w.trajectories).byEnding;
  const cut = truncated.defined + unfinished.defined;
  if (cut > 0)
    out.push({
      code: 'cut-short',
      message: `${cut} of ${w.n} episodes were cut short (truncated or unfinished): what they would still have earned is missing from the value`,
      count: cut,
    });
  if (noTail !== null) out.push({ code: 'no-tail-index', message: `Pareto k̂ is not computed: ${noTail}` });
  if (w.logRatios.length > 0 && w.logRatios.every((x) => x === 0))
    out.push({
      code: 'target-is-behaviour',
      message: `"${ratios.target}" gives every logged action the behaviour's own probability: weights of 1 test nothing`,
    });
  return out;
}

function nothingLeft(ratios: LogRatios) {
  return failure({
    subject: `target "${ratios.target}"`,
    wrong:
      ratios.held.episodes > 0
        ? `was trained on every task of these logs (${ratios.held.tasks} tasks, ${ratios.held.episodes} episodes): nothing is left to evaluate it on`
        : 'the logs hold no episode with a return',
    fix: ratios.held.episodes > 0 ? 'Log episodes of tasks it has not seen.' : undefined,
    exitCode: 3,
  });
}
