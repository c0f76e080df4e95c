/*
 * Propensities of the declared action classes, estimated: multinomial logistic regression on the
 * state before the turn, cross-fitted by task, so that a turn is predicted by a fit that has not
 * seen its task.
 *
 *   b̂(a | h_s) = p_a(φ(h_s)) of the fit on all folds but that of s
 *
 * A class that only the held-out fold shows has no fit: it is given its share of all turns there, the
 * others the rest in proportion, and a warning counts such turns. Estimated propensities are a model
 * of the logs: what they leave out of the state confounds, and the mean weight no longer tests them.
 */
import { sparseDesign } from '../regress/design.ts';
import { type LogisticFit, logistic, logProbabilities } from '../regress/logistic.ts';
import { BehaviourModelConfig } from '../schema/behaviour-model.ts';
import { failure } from '../schema/error.ts';
import { parseConfig } from '../schema/parse-config.ts';
import type { Warning } from '../schema/warning.ts';
import { clusters } from '../trajectories/clusters.ts';
import type { SparseRows } from '../trajectories/sparse.ts';
import { foldsByTask } from '../trajectories/split.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { BehaviourTable } from './behaviour-table.ts';

export interface BehaviourModel extends BehaviourTable {
  readonly source: 'estimated';
  /** [S] log b̂ of the logged class; NaN outside the view. */
  readonly logPropensity: Float64Array;
  readonly folds: number;
  readonly features: readonly string[];
  /** The fit on all folds, to be read; predictions are of the others. */
  readonly fit: LogisticFit;
  readonly config: BehaviourModelConfig;
  readonly warnings: readonly Warning[];
}

/**
 * @param states [S rows] what is known before each turn
 * @throws where a turn has no action class, or with fewer than two tasks
 */
export function behaviourModel(
  t: Trajectories,
  states: SparseRows,
  config: Partial<BehaviourModelConfig> = {},
): BehaviourModel {
  const settings = parseConfig(BehaviourModelConfig, config, 'behaviour model settings');
  const { codes, values: classes } = t.turns.actionClass;
  const S = codes.length;
  const C = classes.length;
  const tasks = clusters(t).count;
  if (tasks < 2)
    throw failure({
      subject: 'behaviour model',
      wrong: 'is cross-fitted by task, which takes at least two tasks',
      got: tasks,
      exitCode: 3,
    });
  const folds = Math.min(settings.folds, tasks);
  const foldOfTurn = turnFolds(t, foldsByTask(t, folds, settings.seed));
  const y = Int32Array.from(codes, (code, s) => (foldOfTurn[s]! < 0 ? -1 : code));
  const design = sparseDesign(states);
  const { lambda } = settings;
  const fit = logistic(design, y, C, { lambda, classNames: classes });
  const counts = new Float64Array(C);
  for (const code of y) if (code >= 0) counts[code] = counts[code]! + 1;
  const share = counts.map((n) => n / fit.n);

  const probabilities = new Float64Array(S * C).fill(Number.NaN);
  const logPropensity = new Float64Array(S).fill(Number.NaN);
  const indices = new Int32Array(design.maxEntries);
  const values = new Float64Array(design.maxEntries);
  const log = new Float64Array(C);
  const warnings: Warning[] = [...fit.warnings];
  let alone = 0;
  for (let m = 0; m < folds; m++) {
    const rows = where(foldOfTurn, (f) => f >= 0 && f !== m);
    const other = logistic(design, y, C, { lambda, rows, start: fit, classNames: classes });
    const missing = log.map((_, a) => (other.intercept[a] === -Infinity ? share[a]! : 0));
    const rest = Math.log1p(-missing.reduce((a, b) => a + b, 0));
    for (const s of where(foldOfTurn, (f) => f === m)) {
      logProbabilities(other, indices, values, design.gather(s, indices, values), log);
      for (let a = 0; a < C; a++) {
        log[a] = missing[a]! > 0 ? Math.log(missing[a]!) : log[a]! + rest;
        probabilities[s * C + a] = Math.exp(log[a]!);
      }
      logPropensity[s] = log[codes[s]!]!;
      if (missing[codes[s]!]! > 0) alone++;
    }
    if (other.separated && !fit.separated) warnings.push(...other.warnings);
  }
  if (alone > 0)
    warnings.push({
      code: 'class-in-one-fold',
      message: `${alone} turns are of an action class that no other fold shows; it is given its share of all turns`,
      count: alone,
      column: 'action_class',
    });
  return {
    source: 'estimated',
    classes,
    probabilities,
    logPropensity,
    folds,
    features: states.names,
    fit,
    config: settings,
    warnings,
  };
}

/** Fold of each turn, −1 outside the view. */
function turnFolds(t: Trajectories, folds: Int32Array): Int32Array {
  const of = new Int32Array(t.turns.turn.length).fill(-1);
  t.index.forEach((e, i) => {
    for (let s = t.episodeOffsets[e]!; s < t.episodeOffsets[e + 1]!; s++) {
      if (t.turns.actionClass.codes[s]! < 0)
        throw failure({
          subject: `episode ${t.episodes.id[e]} turn ${t.turns.turn[s]}, column action_class`,
          wrong: 'is missing, so its propensity cannot be estimated',
          fix: 'Declare the class of every action in the log.',
          exitCode: 3,
        });
      of[s] = folds[i]!;
    }
  });
  return of;
}

function where(of: Int32Array, keep: (fold: number) => boolean): Int32Array {
  let n = 0;
  for (const f of of) if (keep(f)) n++;
  const out = new Int32Array(n);
  for (let s = 0, k = 0; s < of.length; s++) if (keep(of[s]!)) out[k++] = s;
  return out;
}
