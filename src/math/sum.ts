/** Neumaier's compensated sum: the error does not grow with n. Cost: n; as `sumOf`, without a call a value. */
export function sum(values: ArrayLike<number>): number {
  let total = 0;
  let lost = 0;
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    const next = total + x;
    // The smaller of the two loses digits: keep them.
    lost += Math.abs(total) >= Math.abs(x) ? total - next + x : x - next + total;
    total = next;
  }
  // ∞ − ∞ in the correction is not a result of the sum.
  return Number.isFinite(total) ? total + lost : total;
}

/** Σ f(i) over 0 ≤ i < n, compensated. */
export function sumOf(n: number, f: (i: number) => number): number {
  let total = 0;
  let lost = 0;
  for (let i = 0; i < n; i++) {
    const x = f(i);
    const next = total + x;
    // The smaller of the two loses digits: keep them.
    lost += Math.abs(total) >= Math.abs(x) ? total - next + x : x - next + total;
    total = next;
  }
  // ∞ − ∞ in the correction is not a result of the sum.
  return Number.isFinite(total) ? total + lost : total;
}

/** log Σ exp(xᵢ), the maximum taken out first; −∞ for no values or all −∞. */
export function logSumExp(values: ArrayLike<number>): number {
  let top = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i]! > top) top = values[i]!;
  if (!Number.isFinite(top)) return top;
  return top + Math.log(sumOf(values.length, (i) => Math.exp(values[i]! - top)));
}
