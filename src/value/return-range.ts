import { failure } from '../schema/error.ts';
import type { ReturnRange } from '../schema/evaluation.ts';

/** Smallest and largest value; [NaN, NaN] of nothing. */
export function extent(values: Float64Array): [lo: number, hi: number] {
  let lo = Number.NaN;
  let hi = Number.NaN;
  for (const x of values) {
    if (!(x >= lo)) lo = x;
    if (!(x <= hi)) hi = x;
  }
  return [lo, hi];
}

/** The declared limits of the return, which every logged one must keep, or those of the logs. */
export function returnRange(returns: Float64Array, declared: readonly [number, number] | null): ReturnRange {
  const [lo, hi] = extent(returns);
  if (declared === null) return { lo, hi, source: 'logs' };
  if (!(declared[0] < declared[1]))
    throw failure({
      subject: 'range',
      wrong: 'is empty',
      got: declared.join(','),
      expected: 'LO,HI with LO below HI',
      exitCode: 2,
    });
  const outside = lo < declared[0] ? lo : hi > declared[1] ? hi : null;
  if (outside !== null)
    throw failure({
      subject: 'range',
      wrong: 'a logged return lies outside the declared range',
      got: outside,
      expected: `returns within ${declared[0]} and ${declared[1]}`,
      exitCode: 2,
    });
  return { lo: declared[0], hi: declared[1], source: 'declared' };
}
