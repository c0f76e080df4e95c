import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { overlap } from '../../src/diagnostics/overlap.ts';

const row = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 1 }));
test.prop([fc.array(row, { minLength: 2, maxLength: 30 })])('AUC is that of all pairs, ties half', (rows) => {
  const g = Float64Array.from(rows, ([x]) => x / 6);
  const taken = Uint8Array.from(rows, ([, y]) => y);
  const takers = g.filter((_, i) => taken[i] === 1);
  const others = g.filter((_, i) => taken[i] === 0);
  const got = overlap(g, taken);
  if (takers.length === 0 || others.length === 0) {
    expect(got).toBeNull();
    return;
  }
  let wins = 0;
  for (const x of takers) for (const y of others) wins += x > y ? 1 : x === y ? 0.5 : 0;
  expect(got!.auc).toBeCloseTo(wins / (takers.length * others.length), 12);
  expect(got).toMatchObject({ taken: takers.length, others: others.length });
});

test('groups that do not meet', () => {
  const got = overlap(Float64Array.of(0.1, 0.2, 0.8, 0.9), Uint8Array.of(0, 0, 1, 1));
  expect(got).toMatchObject({ auc: 1, overlapCoefficient: 0, commonSupport: null });
});
