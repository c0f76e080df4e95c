/*
 * Marginalised importance sampling on a declared finite abstraction (Xie, Ma & Wang 2019).
 *
 *   d̂_1(s) = N_1(s)/n,   d̂_{t+1}(s′) = Σ_s d̂_t(s) mean_{i: s_t = s} ρ_t 1{s_{t+1} = s′}
 *   V̂ = Σ_t Σ_s d̂_t(s) mean_{i: s_t = s} ρ_t r_t
 *     = Σ_s d̂_1(s) V̂_1(s),   V̂_t(s) = mean_{i: s_t = s} ρ_t (r_t + V̂_{t+1}(s_{t+1}))      backwards
 *   ψ_i = V̂_1(s_1) + Σ_t d̂_t(s_t)/(N_t(s_t)/n) · (ρ_t (r_t + V̂_{t+1}(s_{t+1})) − V̂_t(s_t))
 *
 * One ratio of marginal chances instead of a product of ratios. Consistent where the abstraction is
 * Markov for rewards and transitions; where it is not, biased, and no weight shows it. ψ is the
 * derivative of V̂ with respect to the empirical law; its mean is V̂ exactly.
 *
 * Departures: ρ_t is the known ratio of the logged action, not one marginalised over actions.
 */
import { mean } from '../math/statistics.ts';
import type { Estimator } from './estimator.ts';
import { requireNuisances } from './nuisances.ts';

export const mis: Estimator = {
  name: 'MIS',
  requires: ['behaviour log-probabilities', 'turn rewards', 'finite states'],
  convention: 'state-marginalised on the declared cells by turn, taken as Markov',
  consistent: true,
  estimate(w, _stages, given = {}) {
    requireNuisances(mis, given);
    const { stages: T, logRatios, rewards, unconditional } = w;
    const { count: R, aliveOffsets, episode, turn, here, next } = given.states!;
    const turns = here.length;
    const rho = new Float64Array(turns); // by stage, as `here` and `next`
    const paid = new Float64Array(turns); // ρ_t r_t
    const N = new Float64Array(R);
    for (let k = 0; k < turns; k++) {
      rho[k] = Math.exp(logRatios[turn[k]!]!);
      // Selected, not multiplied: ∞ · 0 is not 0.
      if (rho[k] !== 0 && rewards[turn[k]!] !== 0) paid[k] = rho[k]! * rewards[turn[k]!]!;
      N[here[k]!] = N[here[k]!]! + 1;
    }
    const V = new Float64Array(R); // V̂, with γ^t in it
    const after = (k: number): number =>
      paid[k]! + (next[k]! >= 0 && rho[k] !== 0 ? rho[k]! * V[next[k]!]! : 0);
    for (let t = T - 1; t >= 0; t--)
      for (let k = aliveOffsets[t]!; k < aliveOffsets[t + 1]!; k++)
        V[here[k]!] = V[here[k]!]! + after(k) / N[here[k]!]!;

    const ratio = new Float64Array(R); // d̂_t(s) n / N_t(s)
    const psi = Float64Array.from(unconditional);
    for (let k = 0; k < turns; k++) {
      const x = here[k]!;
      if (k < aliveOffsets[1]!) {
        ratio[x] = 1;
        psi[episode[k]!] = psi[episode[k]!]! + V[x]!;
      }
      if (ratio[x] === 0) continue;
      if (next[k]! >= 0 && rho[k] !== 0)
        ratio[next[k]!] = ratio[next[k]!]! + (ratio[x]! * rho[k]!) / N[next[k]!]!;
      psi[episode[k]!] = psi[episode[k]!]! + ratio[x]! * (after(k) - V[x]!);
    }
    return {
      value: mean(psi),
      psi,
      noInterval: 'it takes the declared cells as Markov, which nothing here tests, so it makes no interval',
    };
  },
};
