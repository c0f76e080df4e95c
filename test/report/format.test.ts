import { expect, test } from 'vitest';
import {
  decimalsFor,
  formatCount,
  formatInterval,
  formatNumber,
  formatShare,
} from '../../src/report/format.ts';

test.each([
  [0.42, 3, '0.420'],
  [-0.5, 2, '−0.50'],
  [1e-9, 3, '1.00e−9'],
  [0, 3, '0.000'],
  [12345678, 1, '1.23e+7'],
  [1e9 + 0.48, 3, '1,000,000,000.480'],
  [1e12, 3, '1.00e+12'],
  [Number.NaN, 3, '–'],
  [Number.POSITIVE_INFINITY, 3, '∞'],
  [Number.NEGATIVE_INFINITY, 3, '−∞'],
  [null, 3, '–'],
] as const)('formatNumber(%s, %s) is %s', (value, digits, want) => {
  expect(formatNumber(value, digits)).toBe(want);
});

test('counts, shares and intervals', () => {
  expect(formatCount(1234567)).toBe('1,234,567');
  expect(formatShare(0.0525)).toBe('5.3 %');
  expect(formatInterval({ lo: -0.3, hi: 1 })).toBe('[−0.300, 1.000]');
  expect(formatInterval(null)).toBe('–');
});

test.each([
  [1e9 + 0.431, 1e9 + 0.529, '[1,000,000,000.431, 1,000,000,000.529]'],
  [5.00012, 5.00013, '[5.00012, 5.00013]'],
  [4.7812e-171, 4.7834e-171, '[4.781e−171, 4.783e−171]'],
  [1e15 + 1, 1e15 + 2, '[1.000000000000001e+15, 1.000000000000002e+15]'],
  [-1.00042, -1.00041, '[−1.00042, −1.00041]'],
  [2, 2, '[2.000, 2.000]'],
])('the ends of %s to %s differ in print', (lo, hi, want) => {
  expect(formatInterval({ lo, hi })).toBe(want);
});

test.each([
  [0.0014, 4], // 0.0057 ± 0.0014
  [0.00068, 5],
  [0.0123, 3],
  [0.2, 3],
  [1e-12, 9],
  [0, 3],
  [null, 3],
])('a standard error of %s is shown with %s decimals: two digits of it, three at least', (se, want) => {
  expect(decimalsFor(se)).toBe(want);
});
