import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { largest } from '../../src/math/largest.ts';

test.prop([fc.array(fc.double({ noNaN: true, min: -5, max: 5 }), { maxLength: 60 }), fc.nat(70)])(
  'the m largest are the end of the sorted values',
  (values, m) => {
    const sorted = [...values].sort((a, b) => a - b);
    expect([...largest(values, m)]).toEqual(m === 0 ? [] : sorted.slice(-m));
  },
);

test('ties are kept as often as they occur', () => {
  expect([...largest([2, 3, 1, 3, 3, 2], 4)]).toEqual([2, 3, 3, 3]);
});
