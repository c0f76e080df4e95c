import { quantileSorted } from '../math/statistics.ts';
import type { FoldFit } from '../regress/cross-fit.ts';
import type { Design } from '../regress/design.ts';
import { asMember, leverage } from '../regress/leverage.ts';
import type { CriticRows } from './critic-rows.ts';

/** What the support of a turn is judged by. */
export interface SupportRule {
  readonly classCodes: Int32Array; // [S] −1: no declared class
  readonly classes: number;
  readonly quantile: number;
  readonly sample: number;
}

/**
 * Whether the training part of a turn's fold holds turns like it, [S]:
 * 1. its leverage φ(s, a)ᵀ Λ⁻¹ φ(s, a), as if it were a training row, is at or below the stated quantile
 *    of the training rows' own; and
 * 2. its action class, where one is declared, was taken in the same stage (or pool) in that part.
 * A share of 1 − quantile fails by construction. Support is about features: turns that look alike to
 * them may differ in what they leave out.
 * @param leverages [S] receives h(φ) of the held-out turns
 */
export function flagSupported(
  design: Design,
  rows: Int32Array,
  r: CriticRows,
  fits: readonly FoldFit[],
  rule: SupportRule,
  supported: Uint8Array,
  leverages: Float64Array,
): void {
  const K = r.folds;
  const taken = new Int32Array(rule.classes * K);
  const total = new Int32Array(rule.classes);
  for (const row of rows) {
    const c = rule.classCodes[row]!;
    if (c < 0) continue;
    taken[c * K + r.fold[row]!]!++;
    total[c]!++;
  }
  const indices = new Int32Array(design.maxEntries);
  const values = new Float64Array(design.maxEntries);
  for (let m = 0; m < K; m++) {
    const training = rows.filter((row) => r.fold[row] !== m);
    if (training.length === 0) continue;
    const h = leverage(fits[m]!.system, fits[m]!.lambda[0]!);
    const at = (row: number): number => h(indices, values, design.gather(row, indices, values));
    const size = Math.min(rule.sample, training.length);
    const own = Float64Array.from({ length: size }, (_, i) =>
      at(training[Math.floor((i * training.length) / size)]!),
    ).sort();
    // A training row repeated exactly must pass although sums differ in their last digits.
    const most = quantileSorted(own, rule.quantile) * (1 + 1e-9);
    for (const row of rows) {
      if (r.fold[row] !== m) continue;
      const c = rule.classCodes[row]!;
      const seen = c < 0 || total[c]! > taken[c * K + m]!;
      leverages[row] = at(row);
      supported[row] = seen && asMember(leverages[row]!) <= most ? 1 : 0;
    }
  }
}
