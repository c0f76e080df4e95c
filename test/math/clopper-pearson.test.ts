import { expect, test } from 'vitest';
import { clopperPearsonAllAlike } from '../../src/math/clopper-pearson.ts';
import { binomialCdf } from '../../src/math/distributions.ts';
import { withoutSpreadInterval } from '../../src/math/no-spread.ts';

test('8 of 8, 5 of 5 and 1 of 1 at 95 %, and their mirror', () => {
  for (const [n, lo] of [
    [8, 0.630583352],
    [5, 0.47817625],
    [1, 0.025],
  ] as const) {
    const all = clopperPearsonAllAlike(1, n, 0.95);
    expect(all.lo).toBeCloseTo(lo, 8);
    expect(all.hi).toBe(1);
    const none = clopperPearsonAllAlike(0, n, 0.95);
    expect([none.lo, none.hi]).toEqual([0, expect.closeTo(1 - lo, 8)]);
  }
});

test('at its end, n of n has probability α/2', () => {
  const { lo } = clopperPearsonAllAlike(1, 12, 0.9);
  expect(1 - binomialCdf(11, 12, lo)).toBeCloseTo(0.05, 10);
});

test('only returns that are all 0 or all 1 are exact; a task counts once', () => {
  expect(withoutSpreadInterval(new Float64Array(24).fill(1), 8, 0.95)!.lo).toBeCloseTo(0.025 ** (1 / 8), 12);
  expect(withoutSpreadInterval(new Float64Array(24).fill(0.1), 8, 0.95)).toBeNull();
  expect(withoutSpreadInterval(Float64Array.of(0, 1), 2, 0.95)).toBeNull();
});
