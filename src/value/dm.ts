/*
 * The direct method: the regression alone.
 *
 *   V̂ = (1/n) Σ_i V̂_1(s_i1),   V̂_1 = Σ_a π(a | s) Q̂_1(s, a),   ψ_i = V̂_1(s_i1)
 *
 * ψ takes Q̂ as known: its spread is that of first states only, and says nothing of the error of Q̂.
 */

import { mean } from '../math/statistics.ts';
import { failure } from '../schema/error.ts';
import type { Estimator } from './estimator.ts';
import { requireNuisances } from './nuisances.ts';

export const dm: Estimator = {
  name: 'DM',
  requires: ['q-values'],
  convention: 'mean of Σ_a π Q at the first turn',
  consistent: true,
  estimate(w, _stages, given = {}) {
    requireNuisances(dm, given);
    const { v, continues, label } = given.q!;
    if (continues === 'behaviour')
      throw failure({
        subject: 'DM',
        wrong: `the Q-values (${label}) are of the behaviour: their mean is the value of one first action of the target, then the behaviour`,
        fix: 'Fit them under the target.',
      });
    const psi = w.unconditional.map((x, i) =>
      w.offsets[i]! < w.offsets[i + 1]! ? x + v[w.offsets[i]!]! : x,
    );
    return {
      value: mean(psi),
      psi,
      noInterval:
        'its standard error takes Q as known and is blind to the error of Q, so it makes no interval',
    };
  },
};
