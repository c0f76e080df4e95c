import { failure } from '../schema/error.ts';
import type { QValues, StateValues } from '../schema/q-values.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import type { Estimator, Requirement } from './estimator.ts';
import { requireOwnV } from './q-values.ts';
import type { StageStates } from './stage-states.ts';

/** Q̂ along the episodes of the weights, discounted from the start: γ^t Q̂. */
export interface EpisodeQ {
  readonly logged: Float64Array; // [turns]
  readonly v: Float64Array; // [turns] Σ_a π Q̂
  readonly continues: 'target' | 'behaviour';
  readonly label: string;
}

/** State values along the episodes, discounted from the start: γ^t V. */
export interface EpisodeStateValues {
  readonly stateValue: Float64Array; // [turns]
  readonly label: string;
}

/** What an estimator may need beside weights and rewards. */
export interface Nuisances {
  readonly q?: EpisodeQ | undefined;
  readonly stateValues?: EpisodeStateValues | undefined;
  readonly states?: StageStates | undefined;
}

/** Q-values on the episodes of `w`; refuses a V that is not their own. O(S · A). */
export function episodeQ(ratios: LogRatios, w: EpisodeWeights, q: QValues): EpisodeQ {
  requireOwnV(ratios, q);
  const { logged, v, continues, label } = q;
  return { logged: along(w, logged), v: along(w, v), continues, label };
}

/** State values on the episodes of `w`. O(turns). */
export function episodeStateValues(
  w: EpisodeWeights,
  { stateValue, label }: StateValues,
): EpisodeStateValues {
  const values = along(w, stateValue);
  const bad = values.findIndex((x) => !Number.isFinite(x));
  if (bad >= 0)
    throw failure({ subject: `state values (${label})`, wrong: `turn ${bad} of the view has no number` });
  return { stateValue: values, label };
}

/** Refuses an estimator by name where something it rests on is missing, and says how to get it. */
export function requireNuisances(
  { name, requires }: Pick<Estimator, 'name' | 'requires'>,
  given: Nuisances,
): void {
  const have: Partial<Record<Requirement, unknown>> = {
    'q-values': given.q,
    'state-values': given.stateValues,
    'finite states': given.states,
  };
  for (const [what, how] of HOW)
    if (requires.includes(what) && have[what] === undefined)
      throw failure({ subject: name, wrong: `needs ${what}, which were not given`, fix: how });
}

const HOW: readonly (readonly [Requirement, string])[] = [
  [
    'q-values',
    'Fit them, for instance with crossFitQ() and tabularQ(), and form V under the target with qValues(); the target must be a policy file.',
  ],
  ['state-values', 'Give a column of state values, for instance those a critic saved.'],
  ['finite states', 'Declare a finite abstraction: stageStates() takes the cells of a policy file.'],
];

/** γ^t x at the turns of the episodes, [turns]. */
function along({ n, offsets, trajectories, discount }: EpisodeWeights, x: Float64Array): Float64Array {
  const { index, episodeOffsets } = trajectories;
  const out = new Float64Array(offsets[n]!);
  for (let i = 0; i < n; i++) {
    const row = episodeOffsets[index[i]!]! - offsets[i]!;
    let factor = 1;
    for (let s = offsets[i]!; s < offsets[i + 1]!; s++) {
      out[s] = factor * x[row + s]!;
      factor *= discount;
    }
  }
  return out;
}
