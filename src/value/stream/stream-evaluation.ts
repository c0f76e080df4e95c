import { mean } from '../../math/statistics.ts';
import { sum } from '../../math/sum.ts';
import type { Estimate } from '../../schema/estimate.ts';
import type { Evaluation, EvaluationConfig } from '../../schema/evaluation.ts';
import type { StageSums } from '../../weights/carried.ts';
import type { EpisodeWeights } from '../../weights/episode-weights.ts';
import type { LogRatios } from '../../weights/ratios.ts';
import { fromLogging } from '../difference.ts';
import { estimateOf } from '../estimate.ts';
import type { Estimator, Influence } from '../estimator.ts';
import { evaluationOf, frame, notConsistent } from '../evaluation-parts.ts';
import { type Entry, withIntervals, without } from '../intervals/intervals.ts';
import { is } from '../is.ts';
import { pdis } from '../pdis.ts';
import { wis } from '../wis.ts';
import { wpdisAlive } from '../wpdis-alive.ts';
import { wpdisAliveMeanOverN } from '../wpdis-alive-mean-over-n.ts';
import { wpdisCarried } from '../wpdis-carried.ts';
import type { RatioRows, RatioTerms } from './second-pass.ts';

/** What the two passes left of one target. */
export interface Scanned {
  /** Of the n episodes in use; its columns by turn are empty. */
  readonly weights: EpisodeWeights;
  readonly turns: number;
  readonly sums: StageSums;
  readonly terms: RatioTerms;
  readonly weighted: Float64Array; // [n] Σ_t w_t r_t
  readonly influence: RatioRows; // [n] each
  /** Whether every log-ratio is 0. */
  readonly targetIsBehaviour: boolean;
}

/**
 * The evaluation that `evaluate` makes of loaded logs, from a scan: the importance-sampling family. What needs
 * more than sums by stage and by episode (fitted Q-values, bootstraps) is left out, with a warning.
 */
export function streamEvaluation(
  ratios: LogRatios,
  scanned: Scanned,
  settings: EvaluationConfig,
): Evaluation {
  const { weights: w, turns, sums, targetIsBehaviour } = scanned;
  const { tail, context, logged } = frame(ratios, w, settings.level);
  const followed = w.weight.some((x) => x > 0);
  const ragged = sums.alive.some((alive) => alive !== w.n) || turns !== w.n * w.stages;
  // Values by episode are kept no longer than the interval needs them.
  const bounded = settings.interval === 'hoeffding' || settings.interval === 'empirical-bernstein';
  let difference: Estimate | null = null;
  const entries = influences(scanned).map(([estimator, influence]): Entry => {
    const own = followed ? influence() : { value: Number.NaN, psi: new Float64Array(w.n) };
    const estimate = estimateOf(estimator.name, estimator.convention, own, context);
    if (estimator === wpdisCarried)
      difference = fromLogging(ratios.target, own, logged.influence, targetIsBehaviour, context);
    return {
      estimator,
      influence: bounded && estimator.bounded !== undefined ? own : { value: own.value, psi: NONE },
      estimate: estimator.consistent || !ragged ? estimate : notConsistent(estimate),
    };
  });
  return evaluationOf(ratios, w, settings, intervals([logged, ...entries], w, sums, settings), {
    turns,
    targetIsBehaviour,
    difference,
    tail,
    warnings: [],
  });
}

/** Estimators and their influence values, in the order they are printed; each writes over its rows. */
function influences({ weights: w, sums, terms, weighted, influence }: Scanned) {
  const u = w.unconditional;
  const start = mean(u);
  const shared = (value: number, psi: Float64Array): Influence => {
    for (let i = 0; i < psi.length; i++) psi[i] = value + (u[i]! - start) + psi[i]!;
    return { value, psi };
  };
  const withUnconditional = (psi: Float64Array): Float64Array => {
    for (let i = 0; i < psi.length; i++) psi[i] = u[i]! + psi[i]!;
    return psi;
  };
  const pairs: [Estimator, () => Influence][] = [
    [is, () => is.estimate(w, sums)],
    [wis, () => wis.estimate(w, sums)],
    [
      pdis,
      () => {
        const psi = withUnconditional(weighted);
        return { value: mean(psi), psi };
      },
    ],
    [wpdisCarried, () => shared(start + sum(terms.carried), influence.carried)],
    [wpdisAlive, () => shared(start + sum(terms.alive), influence.alive)],
    [
      wpdisAliveMeanOverN,
      () => ({
        value: start + sum(terms.alive.map((x, t) => x * terms.share[t]!)),
        psi: withUnconditional(influence.aliveMeanOverN!),
      }),
    ],
  ];
  return pairs;
}

function intervals(
  entries: readonly Entry[],
  w: EpisodeWeights,
  sums: StageSums,
  settings: EvaluationConfig,
): Estimate[] {
  if (!settings.interval.startsWith('bootstrap')) return withIntervals(entries, w, sums, settings);
  return entries.map(({ estimate }) =>
    estimate.interval === null
      ? estimate
      : without(
          estimate,
          'no-bootstrap',
          'a store that is scanned has no bootstrap: ask for cr1-t, or load fewer episodes',
        ),
  );
}

const NONE = new Float64Array(0);
