/** (Σw)²/Σw² (Kish); 0 where all weights are 0. The scale of the weights does not matter. */
export function effectiveSampleSize(weights: ArrayLike<number>): number {
  let total = 0;
  let squares = 0;
  for (let i = 0; i < weights.length; i++) {
    total += weights[i]!;
    squares += weights[i]! * weights[i]!;
  }
  return squares === 0 ? 0 : (total * total) / squares;
}
