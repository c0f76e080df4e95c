import { withoutSpread } from '../math/no-spread.ts';
import { simultaneous } from '../math/simultaneous.ts';
import { failure } from '../schema/error.ts';
import type { Estimate, Interval } from '../schema/estimate.ts';
import { EvaluationConfig } from '../schema/evaluation.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { ComparedValue, PolicyBand } from '../schema/policy-comparison.ts';
import type { Warning } from '../schema/warning.ts';
import { stageSums } from '../weights/carried.ts';
import { onCommonEpisodes } from '../weights/common-episodes.ts';
import { effectiveSampleSize } from '../weights/effective-sample-size.ts';
import { episodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { DEFAULT_ESTIMATOR, difference, differenceOf, type Named } from './difference.ts';
import { estimateOf, meanReturn } from './estimate.ts';
import type { Estimator, Influence } from './estimator.ts';
import { estimators } from './estimators.ts';
import { taskBuckets } from './intervals/buckets.ts';
import { extent } from './return-range.ts';

/** A number of the family, with its influence values. */
interface Row {
  readonly policy: string;
  readonly against: string | null;
  readonly estimate: Estimate;
  readonly influence: Influence;
}

/**
 * Several targets on the same episodes by one estimator: values, differences from the logging policy and
 * pairwise differences, with intervals that hold all at once (max-t over tasks) and Bonferroni's beside
 * them. A target whose estimate cannot be computed takes no part.
 * O(targets × turns + replicates × buckets × numbers).
 */
export function policyBand(
  targets: readonly LogRatios[],
  config: Partial<EvaluationConfig> = {},
  estimator: Estimator = bandEstimator(DEFAULT_ESTIMATOR),
): PolicyBand {
  const settings = parseConfig(EvaluationConfig, config, 'evaluation settings');
  const { level, replicates, seed } = settings;
  const warnings: Warning[] = [];
  const weights = onCommonEpisodes(targets).map((ratios) => episodeWeights(ratios, settings.discount));
  const [w] = weights;
  if (w === undefined || w.n === 0)
    throw failure({
      subject: 'targets',
      wrong: 'no episode with a return is left that none of them was trained on',
      exitCode: 3,
    });
  const common = { clusters: w.clusters, level };
  const range = extent(w.returns);
  const logged: Named = { name: 'behaviour', influence: meanReturn(w.returns) };
  const policies: Named[] = [];
  const rows: Row[] = [];
  targets.forEach(({ target }, p) => {
    const own = weights[p]!;
    const ess = effectiveSampleSize(own.weight);
    const influence = estimator.estimate(own, stageSums(own));
    const estimate = estimateOf(estimator.name, estimator.convention, influence, {
      ...common,
      ess,
      kHat: null,
      estimand: `E[G] under "${target}" on new tasks like these`,
      range,
    });
    // Followed by nobody, sums of nothing would be a value of 0 without an error.
    if (estimate.value === null || ess === 0)
      warnings.push({ code: 'not-computed', message: `"${target}": ${estimator.name} is not computed` });
    else {
      policies.push({ name: target, influence });
      rows.push({ policy: target, against: null, estimate, influence });
    }
  });
  const pair = (a: Named, b: Named): Row => ({
    policy: a.name,
    against: b.name,
    estimate: differenceOf(a, b, estimator.name, common),
    influence: difference(a.influence, b.influence),
  });
  for (const a of policies) rows.push(pair(a, logged));
  policies.forEach((a, p) => {
    for (const b of policies.slice(p + 1)) rows.push(pair(a, b));
  });
  const buckets = taskBuckets(w);
  const found = simultaneous(
    rows.map((r) => r.influence.psi),
    buckets.of,
    buckets.count,
    { level, replicates, seed },
  );
  const over = `${rows.length} intervals, ${buckets.count - 1} degrees of freedom`;
  const method = `max-t, ${over}, multiplier bootstrap over tasks, ${replicates} replicates, seed ${seed}`;
  const around = ({ value, se }: Estimate, critical: number | undefined, how: string): Interval | null =>
    critical === undefined || se === null || withoutSpread(se, value!)
      ? null
      : { lo: value! - critical * se, hi: value! + critical * se, level, method: how };
  const values: ComparedValue[] = rows.map(({ policy, against, estimate }) => ({
    policy,
    against,
    estimate,
    simultaneous: around(estimate, found?.critical, method),
    bonferroni: around(estimate, found?.bonferroni, `Bonferroni, ${over}`),
  }));
  return {
    estimator: estimator.name,
    convention: estimator.convention,
    behaviour: estimateOf('mean return', 'mean of the logged returns', logged.influence, {
      ...common,
      ess: w.n,
      kHat: null,
      estimand: 'E[G] under the behaviour on new tasks like these',
      range,
    }),
    values,
    compared: rows.length,
    level,
    critical: found?.critical ?? null,
    bonferroni: found?.bonferroni ?? null,
    single: found?.single ?? null,
    method,
    episodes: w.n,
    clusters: w.clusters.count,
    warnings,
  };
}

/** An estimator by name that tends to the value of the target. @throws a usage error */
export function bandEstimator(name: string): Estimator {
  const usable = estimators.filter((e) => e.consistent);
  const found = usable.find((e) => e.name === name);
  if (found) return found;
  throw failure({
    subject: '--estimator',
    wrong: 'is none that tends to the value of a target',
    got: `"${name}"`,
    expected: `one of ${usable.map((e) => e.name).join(', ')}`,
    exitCode: 2,
  });
}
