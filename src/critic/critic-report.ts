import type { CriticReport } from '../schema/credit.ts';
import type { CriticConfig } from '../schema/critic-config.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { unusableReturns } from '../trajectories/unusable-returns.ts';
import { meanByAction, meanByStage } from './advantages.ts';
import type { CriticFit } from './critic.ts';
import { criticWarnings } from './critic-warnings.ts';
import {
  calibration,
  constantPredictor,
  gainOver,
  heldOutError,
  meanReturnPredictor,
  type PlaceboErrors,
  placeboError,
} from './held-out.ts';
import { CONVENTION, creditLabel, estimandOf } from './label.ts';
import { unseenActions } from './next-state.ts';
import type { StageGroup } from './stages.ts';
import type { StageFit } from './values.ts';

export interface ReportParts {
  readonly t: Trajectories;
  readonly states: SparseRows;
  readonly actions: SparseRows;
  readonly config: CriticConfig;
  readonly groups: readonly StageGroup[];
  readonly fitsV: readonly StageFit[];
  readonly fitsQ: readonly StageFit[];
  readonly placebo: Float64Array; // [N, B]
  readonly errors: PlaceboErrors;
  readonly interactions: string;
  readonly values: Omit<CriticFit, 'report'>;
}

/** Everything the critic says of itself: held-out errors, checks, labels, warnings. */
export function criticReport(parts: ReportParts): CriticReport {
  const { t, states, actions, config, groups, fitsV, fitsQ, values } = parts;
  const { rows: r, v, advantage, delta, supported } = values;
  const constant = constantPredictor(r, 'all');
  const held = heldOutError(r, (row) => v[row]!);
  const flat = heldOutError(r, constant);
  const placebo = placeboError(r, parts.placebo, parts.errors, held.all.r2);
  const { gain, se } = gainOver(r, v, constant);
  const byTurn = gainOver(r, v, constantPredictor(r, 'stage'));
  const { policies, ...label } = creditLabel(t, r, states.columns);
  const report: Omit<CriticReport, 'warnings'> = {
    critic: {
      name: config.name,
      method: 'ridge backward induction, cross-fitted by task',
      ...held.all,
      stateFeatures: states.columns,
      actionFeatures: actions.columns,
      interactions: parts.interactions,
      folds: r.folds,
      models: groups.map((g, i) => ({
        from: g.from,
        to: g.to,
        pooled: g.pooled,
        turns: g.rows.length,
        lambdaV: [...fitsV[i]!.lambda],
        lambdaQ: [...fitsQ[i]!.lambda],
      })),
    },
    heldOut: {
      ...held.all,
      turn0: held.turn0,
      gain,
      gainSe: Number.isNaN(se) ? null : se,
      gainByTurn: byTurn.gain,
      gainByTurnSe: Number.isNaN(byTurn.se) ? null : byTurn.se,
    },
    constant: {
      ...flat.all,
      turn0: heldOutError(r, meanReturnPredictor(r)).turn0,
      byTurn: heldOutError(r, constantPredictor(r, 'stage')).all,
    },
    placebo: { ...placebo.all, turn0: placebo.turn0, runs: config.placebos, asGood: placebo.asGood },
    label,
    estimand: estimandOf(policies, r.episodes.length, r.clusters),
    convention: CONVENTION,
    stages: meanByStage(r, groups, advantage),
    actions: meanByAction(r, actions, v, advantage, delta),
    calibration: calibration(r, v),
    supportedShare: r.rows.reduce((n, row) => n + supported[row]!, 0) / r.rows.length,
    n: r.episodes.length,
    turns: r.rows.length,
    tasks: r.clusters,
    excluded: r.excluded,
    seed: config.seed,
    config,
  };
  const singular = [...fitsV, ...fitsQ].reduce((n, f) => n + f.singular, 0);
  return {
    ...report,
    warnings: [
      ...criticWarnings(report, policies, singular, unseenActions(r, actions, v, report.actions)),
      ...unusableReturns(t),
    ],
  };
}
