import { largest } from '../math/largest.ts';
import { type TailIndex, tailIndex, tailIndexOf } from '../math/pareto.ts';
import { sum } from '../math/sum.ts';

/** How much of the total rests on how few. Scale does not matter. */
export interface Concentration {
  /** Of the total, on the largest. */
  readonly largestShare: number;
  /** Of the total, on the ⌈n/100⌉ largest. */
  readonly topPercentShare: number;
  readonly kHat: number | null;
  readonly kHatReason: string | null;
}

/** Concentration of non-negative weights, [n]. O(n) as a rule. */
export function concentration(weights: Float64Array): Concentration {
  const total = sum(weights);
  const top = largest(weights, Math.ceil(weights.length / 100));
  return concentrated(total, top, tailIndex(weights));
}

/**
 * The same from the largest of n weights alone, as a scan keeps them.
 * @param largestOf ascending: the ⌈n/100⌉ largest and one more than the tail's at least
 * @param isConstant whether all n are equal
 */
export function concentrationOf(
  n: number,
  largestOf: Float64Array,
  total: number,
  isConstant: boolean,
): Concentration {
  const top = largestOf.subarray(Math.max(0, largestOf.length - Math.ceil(n / 100)));
  return concentrated(total, top, tailIndexOf(n, largestOf, isConstant));
}

function concentrated(total: number, top: Float64Array, tail: TailIndex): Concentration {
  const share = (part: number): number => (total > 0 ? part / total : 0);
  return {
    largestShare: share(top.at(-1) ?? 0),
    topPercentShare: share(sum(top)),
    kHat: tail.k,
    kHatReason: tail.reason,
  };
}

/**
 * The same at every stage, of the cumulative weights of all episodes, ended ones keeping theirs.
 * O(stages × n): the weights of a stage are those of the stage before but for the alive.
 */
export function stageConcentrations(w: {
  readonly n: number;
  readonly stages: number;
  readonly offsets: Int32Array;
  readonly weights: Float64Array;
  readonly logWeight: Float64Array;
  readonly shift: Float64Array;
}): Concentration[] {
  const { n, stages, offsets, weights, logWeight, shift } = w;
  const carried = new Float64Array(n).fill(1); // an episode without turns has weight 1
  return Array.from({ length: stages }, (_, t) => {
    const shifted = shift[t] !== 0 || (t > 0 && shift[t - 1] !== 0);
    for (let i = 0; i < n; i++) {
      const s = offsets[i]! + t;
      if (s < offsets[i + 1]!) carried[i] = weights[s]!;
      else if (shifted) carried[i] = Math.exp(logWeight[i]! - shift[t]!);
    }
    return concentration(carried);
  });
}
