/**
 * Leverage of a row against a training part:
 *   h(φ) = 1/n + (φ − x̄)ᵀ (Xc′Xc + λI)⁻¹ (φ − x̄)
 * (features scaled as in the fit). A row outside the training part is given the leverage it would have
 * as one of its rows, h/(1 + h) (Sherman & Morrison 1950), so that both are on one scale; a row that
 * moves a column which is constant in the training part has leverage ∞, 1 on that scale.
 */
import type { RidgeSystem } from './ridge.ts';
import { ridgeInverse } from './ridge.ts';

/** h(φ) of a row given by its entries. Cost: nnz². */
export type Leverage = (indices: Int32Array, values: Float64Array, entries: number) => number;

/** Cost of the set-up: p³. */
export function leverage(system: RidgeSystem, lambda: number): Leverage {
  const { gram, active, mean, scale } = system;
  const p = gram.columns;
  const q = active.length;
  const inverse = ridgeInverse(system, lambda);
  // M = D⁻¹(·)⁻¹D⁻¹ on the features as given; u = M x̄; c = x̄ᵀ M x̄.
  const at = new Int32Array(p).fill(-1);
  for (let a = 0; a < q; a++) at[active[a]!] = a;
  const M = new Float64Array(q * q);
  const u = new Float64Array(q);
  let c = 0;
  for (let a = 0; a < q; a++) {
    for (let b = 0; b < q; b++) {
      M[a * q + b] = inverse.get(a, b) / (scale[a]! * scale[b]!);
      u[a] = u[a]! + M[a * q + b]! * mean[active[b]!]!;
    }
    c += u[a]! * mean[active[a]!]!;
  }
  const constants = constantColumns(at, mean);
  const places = new Int32Array(p);
  const varying = new Float64Array(p);
  return (indices, values, entries) => {
    let met = 0;
    let n = 0;
    for (let k = 0; k < entries; k++) {
      const j = indices[k]!;
      const value = values[k]!;
      if (at[j]! >= 0) {
        places[n] = at[j]!;
        varying[n++] = value;
        continue;
      }
      if (Math.abs(value - mean[j]!) > 1e-6 * Math.abs(mean[j]!)) return Infinity;
      if (mean[j] !== 0) met++;
    }
    let sum = 1 / gram.n + c;
    for (let k = 0; k < n; k++) {
      const a = places[k]!;
      const line = a * q;
      // Σ_{l<k} M_al φ_l, in four sums that do not wait for one another.
      let inner = 0;
      let s1 = 0;
      let s2 = 0;
      let s3 = 0;
      let l = 0;
      for (; l + 3 < k; l += 4) {
        inner += M[line + places[l]!]! * varying[l]!;
        s1 += M[line + places[l + 1]!]! * varying[l + 1]!;
        s2 += M[line + places[l + 2]!]! * varying[l + 2]!;
        s3 += M[line + places[l + 3]!]! * varying[l + 3]!;
      }
      for (; l < k; l++) inner += M[line + places[l]!]! * varying[l]!;
      inner += s1 + s2 + s3;
      sum += varying[k]! * (2 * (inner - u[a]!) + M[line + a]! * varying[k]!);
    }
    return met < constants ? Infinity : Math.max(sum, 0);
  };
}

/** h/(1 + h), 1 at ∞. */
export const asMember = (h: number): number => (h === Infinity ? 1 : h / (1 + h));

/** How many columns hold one value other than 0 throughout the training part. */
function constantColumns(at: Int32Array, mean: Float64Array): number {
  let n = 0;
  for (let j = 0; j < at.length; j++) if (at[j]! < 0 && mean[j] !== 0) n++;
  return n;
}
