/*
 * One-stage deviation values: the behaviour up to turn t, the target's action at t, the behaviour after.
 *
 *   V^(t) = E_b[G_{<t} + Σ_a π(a | s_t) Q^b_t(s_t, a)]
 *   ψ_i   = G_i + 1{alive at t} (Σ_a π Q̂_t + ρ_t (G_{≥t} − Q̂_t) − G_{≥t})
 *
 * One ratio instead of a product, so that late turns cost no more than early ones; unbiased for any Q̂
 * fitted on other tasks. V^(t) − V^b = E_b[Σ_a π A^b_t]: these gains do not add up to V^π − V^b, whose
 * later states are the target's. An episode that ended before t is as it was.
 */
import { mean } from '../math/statistics.ts';
import type { EpisodeWeights } from '../weights/episode-weights.ts';
import type { Influence } from './estimator.ts';
import type { EpisodeQ } from './nuisances.ts';

export interface Deviation {
  readonly turn: number; // from 0
  /** Episodes that have such a turn. */
  readonly alive: number;
  readonly value: Influence;
  /** value − the behaviour's, of the same episodes. */
  readonly gain: Influence;
}

/**
 * The deviation at a turn, for as many turns as are asked for: O(turns) once, O(n) each.
 * @param q best of Q of the behaviour, with V under the target; absent: ρ_t alone
 */
export function deviations(w: EpisodeWeights, q?: EpisodeQ): (turn: number) => Deviation {
  const { n, offsets, logRatios, rewards, returns } = w;
  const toGo = new Float64Array(rewards.length); // G_{≥t}, γ^t in it
  for (let i = 0; i < n; i++) {
    let G = 0;
    for (let s = offsets[i + 1]! - 1; s >= offsets[i]!; s--) {
      G += rewards[s]!;
      toGo[s] = G;
    }
  }
  return (turn) => {
    const gain = new Float64Array(n);
    let alive = 0;
    for (let i = 0; i < n; i++) {
      const s = offsets[i]! + turn;
      if (s >= offsets[i + 1]!) continue;
      alive++;
      const rho = Math.exp(logRatios[s]!);
      const error = rho === 0 ? 0 : rho * (toGo[s]! - (q?.logged[s] ?? 0));
      gain[i] = (q?.v[s] ?? 0) + error - toGo[s]!;
    }
    const psi = returns.map((G, i) => G + gain[i]!);
    return { turn, alive, value: { value: mean(psi), psi }, gain: { value: mean(gain), psi: gain } };
  };
}
