/* NaN in the columns of an imported table is a value that was not logged, whichever way the store is read. */
import { expect, test } from 'vitest';
import { auditTarget } from '../../src/audit/audit-target.ts';
import { openStore } from '../../src/store/store.ts';
import { closeTo } from '../helpers/close-to.ts';
import { made, scores } from '../helpers/two-coins.ts';

/** Verdict, reasons and advice, loaded and scanned, or the refusals. */
async function both(planted: string, more: object = {}) {
  const { store, target } = await made({ planted, ...more });
  const open = await openStore(store, { mode: 'read' });
  try {
    const [loaded, scanned] = await Promise.all(
      [1e9, 0].map((scanAbove) =>
        auditTarget(open, target, { scanAbove }).then(
          ({ verdict, reasons, next, behaviour }) => ({ verdict, reasons, next, behaviour }),
          (e) => ({ message: (e as Error).message, exitCode: (e as { exitCode: number }).exitCode }),
        ),
      ),
    );
    closeTo(scanned, loaded, 1e-9);
    return loaded!;
  } finally {
    open.close();
  }
}

test('behaviour NaN on one turn: no behaviour, refused as a gap is', async () => {
  const column = 'behaviour_log_propensity';
  const nan = await both(`UPDATE turns SET ${column} = 'nan'::DOUBLE WHERE episode = 7 AND turn = 1`);
  expect(nan).toMatchObject({ verdict: 'refused', reasons: [{ code: 'no-behaviour' }] });
  expect(await both(`UPDATE turns SET ${column} = NULL WHERE episode = 7 AND turn = 1`)).toEqual(nan);
});

test('a reward of NaN is none; a score of NaN is missing', async () => {
  const set = (value: string) => `UPDATE episodes SET reward = ${value} WHERE episode < 100`;
  const nan = await both(set("'nan'::DOUBLE"));
  expect(nan).toMatchObject({ behaviour: { episodes: 220 } });
  expect(await both(set('NULL'))).toEqual(nan);
  const scored = (value: string) => `UPDATE scores SET logprob = ${value} WHERE episode = 7 AND turn = 1`;
  const missing = await both(scored("'nan'::DOUBLE"), { scores });
  expect(missing).toMatchObject({ message: expect.stringMatching(/covers only some turns/), exitCode: 1 });
  expect(await both(scored('NULL'), { scores })).toEqual(missing);
});
