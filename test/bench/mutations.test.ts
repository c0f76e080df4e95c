import { expect, test } from 'vitest';
import { mutations } from '../../bench/mutations.ts';

test('of records changed at random every one is stored or rejected with a reason, and the counts add up', async () => {
  const rows = await mutations(3000, 11);
  for (const r of rows) expect(r).toMatchObject({ faults: 0, records: r.stored + r.duplicates + r.rejected });
  expect(rows.length).toBeGreaterThan(4);
  // Some of each, or nothing is shown.
  for (const r of rows) expect(Math.min(r.stored, r.rejected), r.format).toBeGreaterThan(0);
});
