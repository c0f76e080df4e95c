import { expect, test } from 'vitest';
import { greatest, least } from '../../src/math/extremes.ts';

test('the greatest and the least of a million values, of none, and beside NaN', () => {
  const many = Float64Array.from({ length: 1_000_000 }, (_, i) => ((i * 7919) % 1_000_003) - 500_000);
  expect(greatest(many)).toBe(many.slice().sort().at(-1));
  expect(least(many)).toBe(many.slice().sort()[0]);
  expect([greatest([]), least([])]).toEqual([-Infinity, Infinity]);
  expect([greatest([1, NaN, 2]), least([1, NaN, 2])]).toEqual([NaN, NaN]);
});
