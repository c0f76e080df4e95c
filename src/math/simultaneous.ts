/*
 * How far from their estimates several means must be looked for so that all are within reach at once:
 * the max-t quantile by a multiplier bootstrap over clusters (Chernozhukov, Chetverikov & Kato 2013;
 * Montiel Olea & Plagborg-Møller 2019).
 *
 *   z_cj = Σ_{i∈c} (ψ_ij − ψ̄_j),   se_j = √(K/(K − 1) Σ_c z_cj²) / n
 *   T* = max_j |Σ_c ξ_c z_cj| / √(Σ_c z_cj²) / √(χ²_{K−1}/(K − 1)),   ξ_c ~ N(0, 1)
 *   critical = quantile of T* at `level`
 *
 * Given the data the numerators are exactly N(0, correlation of the influence values). The common χ² makes
 * it the multivariate t of Hothorn, Bretz & Westfall (2008): with one mean it is the t(K − 1) of a single
 * interval. The quantile is held between that of one t and Bonferroni's, between which it lies in truth.
 * O(replicates × K × means).
 */
import { studentQuantile } from './distributions.ts';
import { normal, random } from './random.ts';
import { clusterVariance, mean, quantile } from './statistics.ts';

export interface Simultaneous {
  /** Multiply each standard error by it. */
  readonly critical: number;
  /** t(K − 1) at level 1 − (1 − level)/m. */
  readonly bonferroni: number;
  /** t(K − 1), for one interval alone. */
  readonly single: number;
  readonly degrees: number;
  /** CR1, [m]; 0 for a mean without spread, which takes no part in the maximum. */
  readonly se: Float64Array;
}

/**
 * @param psi m influence arrays, [n] each, of the same rows
 * @param of [n] cluster of each row, dense codes below `count`
 * @returns null with fewer than two clusters or nothing to compare
 */
export function simultaneous(
  psi: readonly Float64Array[],
  of: Int32Array,
  count: number,
  { level, replicates, seed }: { level: number; replicates: number; seed: number },
): Simultaneous | null {
  const m = psi.length;
  if (count < 2 || m === 0) return null;
  const se = Float64Array.from(psi, (x) => clusterVariance(x, of, count).se);
  const moving = [...se.keys()].filter((j) => se[j]! > 0);
  const z = standardised(
    moving.map((j) => psi[j]!),
    of,
    count,
  );
  const degrees = count - 1;
  const single = studentQuantile((1 + level) / 2, degrees);
  const bonferroni = studentQuantile(1 - (1 - level) / (2 * m), degrees);
  const drawn = moving.length === 0 ? single : quantile(maxima(z, count, replicates, seed), level);
  return { critical: Math.min(bonferroni, Math.max(single, drawn)), bonferroni, single, degrees, se };
}

/** T*, [replicates]. */
function maxima(z: readonly Float64Array[], K: number, replicates: number, seed: number): Float64Array {
  const xi = new Float64Array(K);
  return Float64Array.from({ length: replicates }, (_, r) => {
    const rng = random(seed, `multiplier ${r}`);
    for (let c = 0; c < K; c++) xi[c] = normal(rng);
    let chi = 0;
    for (let c = 1; c < K; c++) chi += normal(rng) ** 2;
    let most = 0;
    for (const zj of z) {
      let total = 0;
      for (let c = 0; c < K; c++) total += xi[c]! * zj[c]!;
      most = Math.max(most, Math.abs(total));
    }
    return most / Math.sqrt(chi / (K - 1));
  });
}

/** z_cj / √(Σ_c z_cj²), m arrays of [K]. */
function standardised(psi: readonly Float64Array[], of: Int32Array, K: number): Float64Array[] {
  return psi.map((x) => {
    const centre = mean(x);
    const z = new Float64Array(K);
    for (let i = 0; i < x.length; i++) z[of[i]!] = z[of[i]!]! + (x[i]! - centre);
    const norm = Math.sqrt(z.reduce((sum, zc) => sum + zc * zc, 0));
    return z.map((zc) => zc / norm);
  });
}
