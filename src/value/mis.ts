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
    const { n, stages: T, offsets, logRatios, rewards, unconditional } = w;
    const { count: R, state, alive, aliveOffsets } = given.states!;
    const rho = logRatios.map(Math.exp);
    const N = new Float64Array(R);
    for (const x of state) N[x] = N[x]! + 1;

    const V = new Float64Array(R); // V̂, with γ^t in it
    const at = (s: number, end: number): number => {
      if (rho[s] === 0) return 0;
      return rho[s]! * (rewards[s]! + (s + 1 < end ? V[state[s + 1]!]! : 0));
    };
    for (let t = T - 1; t >= 0; t--)
      for (let k = aliveOffsets[t]!; k < aliveOffsets[t + 1]!; k++) {
        const i = alive[k]!;
        const s = offsets[i]! + t;
        V[state[s]!] = V[state[s]!]! + at(s, offsets[i + 1]!) / N[state[s]!]!;
      }

    const ratio = new Float64Array(R); // d̂_t(s) n / N_t(s)
    for (let t = 0; t < T; t++)
      for (let k = aliveOffsets[t]!; k < aliveOffsets[t + 1]!; k++) {
        const s = offsets[alive[k]!]! + t;
        if (t === 0) ratio[state[s]!] = 1;
        if (s + 1 < offsets[alive[k]! + 1]! && rho[s] !== 0)
          ratio[state[s + 1]!] = ratio[state[s + 1]!]! + (ratio[state[s]!]! * rho[s]!) / N[state[s + 1]!]!;
      }

    const psi = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const end = offsets[i + 1]!;
      let x = unconditional[i]! + (offsets[i]! < end ? V[state[offsets[i]!]!]! : 0);
      for (let s = offsets[i]!; s < end; s++)
        if (ratio[state[s]!] !== 0) x += ratio[state[s]!]! * (at(s, end) - V[state[s]!]!);
      psi[i] = x;
    }
    return {
      value: mean(psi),
      psi,
      noInterval: 'it takes the declared cells as Markov, which nothing here tests, so it makes no interval',
    };
  },
};
