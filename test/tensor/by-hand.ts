import { expect } from 'vitest';
import { normal, random } from '../../src/math/random.ts';

/** Lists of normal draws, rounded to float32 as tensors hold them. */
export function draws(seed: number, lists: number, size: number, scale: number): Float32Array[] {
  const rng = random(seed, 'tensors by hand');
  return Array.from({ length: lists }, () => Float32Array.from({ length: size }, () => scale * normal(rng)));
}

/** Numbers of a float32 tensor against those computed in float64: apart by a share of the larger of 1 and the expected. */
export function expectClose(
  found: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
  what: string,
): void {
  expect(found.length, `${what}: how many`).toBe(expected.length);
  let [worst, at] = [0, 0];
  for (let k = 0; k < expected.length; k++) {
    const off = Math.abs(found[k]! - expected[k]!) / Math.max(1, Math.abs(expected[k]!));
    if (!(off <= worst)) [worst, at] = [off, k];
    if (Number.isNaN(worst)) break;
  }
  expect(worst, `${what}[${at}]: ${found[at]} in place of ${expected[at]}`).toBeLessThanOrEqual(tolerance);
}
