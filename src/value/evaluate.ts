import { failure } from '../schema/error.ts';
import { type Evaluation, EvaluationConfig } from '../schema/evaluation.ts';
import { parseConfig } from '../schema/parse-config.ts';
import { stageSums } from '../weights/carried.ts';
import { type EpisodeWeights, episodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { countedWords } from '../weights/words.ts';
import { fromLogging } from './difference.ts';
import { type EstimateContext, estimateOf } from './estimate.ts';
import type { Influence } from './estimator.ts';
import { estimators } from './estimators.ts';
import { evaluationOf, frame, notConsistent } from './evaluation-parts.ts';
import { withIntervals } from './intervals/intervals.ts';
import { type ModelInputs, type ModelledValues, modelledValues } from './modelled.ts';
import { wpdisCarried } from './wpdis-carried.ts';

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
  const settings = parseConfig(EvaluationConfig, config, 'evaluation settings');
  const w = weights ?? episodeWeights(ratios, settings.discount);
  if (w.n === 0) throw nothingLeft(ratios);
  const { tail, context, logged } = frame(ratios, w, settings.level);
  const stages = stageSums(w);
  const followed = w.weight.some((x) => x > 0);
  const ragged = stages.alive.some((alive) => alive !== w.n) || w.offsets[w.n] !== w.n * w.stages;
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
      estimate: estimator.consistent || !ragged ? estimate : notConsistent(estimate),
    };
  });
  const targetIsBehaviour = w.logRatios.length > 0 && w.logRatios.every((x) => x <= 0 && Math.exp(x) === 1);
  const paired = weighted.find(({ estimator }) => estimator === wpdisCarried)!.influence;
  return evaluationOf(ratios, w, settings, withIntervals([logged, ...entries], w, stages, settings), {
    turns: w.offsets[w.n]!,
    targetIsBehaviour,
    difference: fromLogging(ratios.target, paired, logged.influence, targetIsBehaviour, context),
    tail,
    warnings: modelled.warnings,
  });
}

const NO_MODEL: ModelledValues = { found: [], warnings: [] };
const withoutWeights = (c: EstimateContext): EstimateContext => ({ ...c, ess: null, kHat: null });
const nobodyFollows = (n: number): Influence => ({ value: Number.NaN, psi: new Float64Array(n) });

function nothingLeft(ratios: LogRatios) {
  return failure({
    subject: `target "${ratios.target}"`,
    wrong:
      ratios.held.episodes > 0
        ? `was trained on every task of these logs (${countedWords(ratios.held.tasks, 'task')}, ${countedWords(ratios.held.episodes, 'episode')}): nothing is left to evaluate it on`
        : 'the logs hold no episode with a return',
    fix: ratios.held.episodes > 0 ? 'Log episodes of tasks it has not seen.' : undefined,
    exitCode: 3,
  });
}
