import { expect, test } from 'vitest';
import { damage } from '../../bench/damage.ts';

/** A fifteenth of the tries of `npm run bench damage`, part by part. */
test.each(['kills', 'stores', 'wal', 'inputs'])('crash and damage: %s', async (part) => {
  const { rows } = await damage(0.07, [part]);
  expect(rows.length).toBeGreaterThan(1);
  for (const row of rows) {
    expect(row).toMatchObject({ wrong: 0, crashed: 0, hung: 0 });
    if (!row.note.startsWith('skipped')) expect(row.held + row.refused, row.what).toBe(row.tries);
  }
});

test('two and four first ingests at once: what exit 0 reported is stored', async () => {
  const { rows } = await damage(0.03, ['writers']);
  expect(rows.filter((r) => r.wrong + r.crashed + r.hung > 0)).toEqual([]);
  expect(rows.find((r) => r.what === '2 first ingests at once')!.held).toBeGreaterThan(1);
});
