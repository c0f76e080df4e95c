import type { QColumns, QValues, StateValues } from '../schema/q-values.ts';
import type { Warning } from '../schema/warning.ts';
import type { StageSums } from '../weights/carried.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios, TargetTable } from '../weights/ratios.ts';
import { crossFitQ } from './cross-fit-q.ts';
import { dm } from './dm.ts';
import { dr } from './dr.ts';
import { drVOnly } from './dr-v-only.ts';
import type { Estimator, Influence } from './estimator.ts';
import { resampledAlive, resampledCarried } from './intervals/resampled.ts';
import { mis } from './mis.ts';
import { episodeQ, episodeStateValues, type Nuisances } from './nuisances.ts';
import { qValues } from './q-values.ts';
import { withResiduals } from './residuals.ts';
import { stageStates } from './stage-states.ts';
import { tabularQ } from './tabular-q.ts';
import { wdrAlive } from './wdr-alive.ts';
import { wdrCarried } from './wdr-carried.ts';

/** What a caller brings for the estimators that need a model. */
export interface ModelInputs {
  /** Q-values of a critic, fitted on other tasks; absent: tabular, where the target is a policy file. */
  readonly q?: QValues | undefined;
  readonly stateValues?: StateValues | undefined;
}

/** An estimator with what it found. */
export interface Modelled {
  readonly estimator: Estimator;
  readonly influence: Influence;
}

export interface ModelledValues {
  readonly found: readonly Modelled[];
  readonly warnings: readonly Warning[];
}

/** As many as there are tasks, at most. */
const FOLDS = 5;

/**
 * The estimators that need a model, as far as there is one: DM, DR and WDR on the Q-values that are given,
 * or on a tabular Q in the cells of the policy file, cross-fitted by task; MIS on the same cells; the V-only
 * form on given state values. O(folds · turns + turns · classes).
 */
export function modelledValues(
  ratios: LogRatios,
  w: EpisodeWeights,
  stages: StageSums,
  seed: number,
  inputs: ModelInputs = {},
): ModelledValues {
  const { table } = ratios;
  const states = table === null ? undefined : stageStates(w, table.cell, table.cells.length);
  const folds = Math.min(FOLDS, w.clusters.count);
  const warnings: Warning[] = [];
  let q = inputs.q;
  if (q === undefined && table !== null && states !== undefined && folds >= 2) {
    const fit = tabularQ(w, table, states, { unseen: 'stage mean' });
    q = qValues(ratios, crossFitQ(w, fit, { folds, seed }));
    warnings.push(...unseenNote(w, table, q));
  }
  const given: Nuisances = {
    q: q && episodeQ(ratios, w, q),
    states,
    stateValues: inputs.stateValues && episodeStateValues(w, inputs.stateValues),
  };
  const found: Modelled[] = [];
  const add = (estimator: Estimator, label?: string): void => {
    const influence = estimator.estimate(w, stages, given);
    const convention = label === undefined ? estimator.convention : `${label}; ${estimator.convention}`;
    found.push({ estimator: { ...estimator, convention }, influence });
  };
  if (given.q) {
    const { logged, v, label, continues } = given.q;
    const residuals = withResiduals(w, logged, v);
    if (continues === 'target') add(dm, label);
    add(dr, label);
    add({ ...wdrCarried, resampled: (_w, s, i, b) => resampledCarried(residuals, s, i, b) }, label);
    add({ ...wdrAlive, resampled: (_w, s, i, b) => resampledAlive(residuals, s, i, b) }, label);
  }
  if (given.states) add(mis);
  if (given.stateValues) add(drVOnly, given.stateValues.label);
  return { found, warnings };
}

/** On how many turns the target may take an action that the fit has not seen there. */
function unseenNote(w: EpisodeWeights, table: TargetTable, q: QColumns): Warning[] {
  if (q.unseen === null || !q.unseen.includes(1)) return [];
  const A = table.classes.length;
  const { index, episodeOffsets } = w.trajectories;
  // A row of a tabular Q lies in one cell.
  const lacks = new Int8Array(q.unseen.length / A).fill(-1);
  let count = 0;
  for (const e of index)
    for (let s = episodeOffsets[e]!; s < episodeOffsets[e + 1]!; s++) {
      const x = q.row[s]!;
      if (lacks[x]! < 0) {
        lacks[x] = 0;
        for (let a = 0; a < A; a++)
          if (table.probabilities[table.cell[s]! * A + a]! > 0 && q.unseen[x * A + a] === 1) lacks[x] = 1;
      }
      count += lacks[x]!;
    }
  if (count === 0) return [];
  return [
    {
      code: 'unseen-cells',
      message: `at ${count} of ${w.offsets[w.n]} turns the tabular Q has not seen every action the target takes: the mean of the turn stands in, which DM rests on and DR corrects`,
      count,
    },
  ];
}
