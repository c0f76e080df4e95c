/*
 * SWITCH (Wang, Agarwal & Dudík 2017) of one-turn logs whose behaviour is known for every action.
 *
 *   ψ_i = 1{w(a_i) ≤ τ} w(a_i) r_i + Σ_a 1{w(a) > τ} π(a | s_i) Q̂(s_i, a),   w(a) = π(a | s)/b(a | s)
 *
 * Weights where they are small, the regression where they are not: τ = ∞ is IS, τ < 0 is DM. An action that
 * the behaviour never takes has w = ∞ and is left to the regression.
 */
import { mean } from '../math/statistics.ts';
import { failure } from '../schema/error.ts';
import type { QValues } from '../schema/q-values.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { LogRatios } from '../weights/ratios.ts';
import type { Influence } from './estimator.ts';
import { requireOwnV } from './q-values.ts';
import { BIASED } from './truncated.ts';

/**
 * @param behaviour [S × classes of the target's table] b(a | s) of every action
 * @throws where an episode has more than one turn
 */
export function switchValue(
  ratios: LogRatios,
  w: EpisodeWeights,
  q: QValues,
  behaviour: Float64Array,
  tau: number,
): Influence {
  if (w.stages > 1)
    throw failure({
      subject: 'SWITCH',
      wrong: 'is an estimator of one-turn logs',
      got: `${w.stages} turns`,
      fix: 'SWITCH-DR is its form over turns.',
    });
  requireOwnV(ratios, q);
  const { cell, classes, probabilities } = ratios.table!;
  const { index, episodeOffsets } = w.trajectories;
  const A = classes.length;
  const place = classes.map((name) => q.classes.indexOf(name));
  const psi = Float64Array.from(w.unconditional);
  for (let i = 0; i < w.n; i++) {
    if (w.offsets[i] === w.offsets[i + 1]) continue;
    const s = episodeOffsets[index[i]!]!;
    const log = w.logRatios[w.offsets[i]!]!;
    let x = Math.exp(log) <= tau && log > -Infinity ? Math.exp(log) * w.rewards[w.offsets[i]!]! : 0;
    for (let a = 0; a < A; a++) {
      const pi = probabilities[cell[s]! * A + a]!;
      if (pi > 0 && !(pi / behaviour[s * A + a]! <= tau))
        x += pi * q.q[q.row[s]! * q.classes.length + place[a]!]!;
    }
    psi[i] = psi[i]! + x;
  }
  return { value: mean(psi), psi, ...(tau === Infinity ? {} : { noInterval: BIASED }) };
}
