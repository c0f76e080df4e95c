import type { DiagnosticStage, Diagnostics } from '../schema/diagnostics.ts';
import type { TokenRatios } from '../schema/token-ratios.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import { stageSums } from '../weights/carried.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { bothPolicies, NO_BEHAVIOUR } from './both-policies.ts';
import { calibration } from './calibration.ts';
import { featureCoverage } from './feature-coverage.ts';
import { findingsOf } from './findings.ts';
import { positivity, positivityOfLogged } from './positivity.ts';
import { balanceRows, overlaps } from './propensity-groups.ts';
import { realisticSets } from './realistic-set.ts';
import { stageRows } from './stage-rows.ts';
import { truncationCurve } from './truncation-curve.ts';
import { unsupportedBounds } from './unsupported-bounds.ts';
import { unsupportedRules } from './unsupported-rules.ts';

export interface DiagnoseOptions {
  /** [S rows] what a linear critic or a behaviour model looks at: for feature coverage, balance, rules. */
  readonly states?: SparseRows | undefined;
  /** Limits of the return, for the bounds; absent: those of the logs. */
  readonly range?: readonly [number, number] | null | undefined;
  readonly tokens?: TokenRatios | undefined;
}

/**
 * Coverage of a target in detail; what cannot be formed is null with a reason. The verdict does not
 * rest on any of it. O(turns × classes + n log n), with state features also turns × entries².
 */
export function diagnose(ratios: LogRatios, w: EpisodeWeights, options: DiagnoseOptions = {}): Diagnostics {
  const { states, range, tokens } = options;
  const both = bothPolicies(ratios);
  const { behaviour } = ratios;
  const sums = stageSums(w);
  const scale = Math.exp(w.finalShift);
  const stages = stageRows(w).map((rows, t): DiagnosticStage => {
    const ess = sums.carriedSquares[t]! > 0 ? sums.carriedSum[t]! ** 2 / sums.carriedSquares[t]! : 0;
    const followers = sums.followers[t]!;
    return {
      turn: t,
      alive: rows.length,
      followers,
      kishDeff: ess > 0 ? w.n / ess : null,
      essPerFollower: followers > 0 ? ess / followers : null,
      positivity:
        typeof both !== 'string'
          ? positivity(both, rows)
          : ratios.measure === 'log_propensity'
            ? positivityOfLogged(ratios, w, rows)
            : null,
      overlap: behaviour === undefined ? [] : overlaps(w.trajectories, behaviour, rows),
      balance: behaviour === undefined ? [] : balanceRows(w.trajectories, behaviour, rows, states),
    };
  });
  const result: Omit<Diagnostics, 'findings'> = {
    propensities: ratios.propensities ?? 'logged',
    behaviour: {
      probabilities: behaviour?.source ?? null,
      reason: behaviour === undefined ? NO_BEHAVIOUR : typeof both === 'string' ? both : null,
    },
    stages,
    truncation: truncationCurve(w.finalShift === 0 ? w.weight : w.weight.map((x) => x * scale), w.returns),
    realistic: typeof both === 'string' ? null : realisticSets(ratios, both, w),
    unsupportedBounds:
      typeof both === 'string' ? null : unsupportedBounds(both, w, range ?? extent(w.returns), 'return'),
    calibration: behaviour === undefined ? null : calibration(w.trajectories, behaviour),
    features: states === undefined || states.columns > 1024 ? null : featureCoverage(states, w),
    tokens: tokens ?? null,
    rules: unsupportedRules(ratios, w, { states }),
  };
  return { ...result, findings: findingsOf(result) };
}

function extent(x: Float64Array): [number, number] {
  return [x.reduce((a, b) => Math.min(a, b), Infinity), x.reduce((a, b) => Math.max(a, b), -Infinity)];
}
