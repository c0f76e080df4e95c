import { appendBatch } from '../store/append.ts';
import type { Store } from '../store/store.ts';
import { transaction } from '../store/transaction.ts';
import type { CreditRun } from './credit.ts';

const BATCH = 65_536;

/** Keeps the values of all fitted turns under a label, the critic's name by default, in place of what was there. @returns rows */
export async function saveTurnValues(
  store: Store,
  { t, fit }: CreditRun,
  label: string = fit.report.critic.name,
): Promise<number> {
  // In the order of the columns, which is that of the store.
  const rows = fit.rows.rows.slice().sort();
  const take = (x: Float64Array, part: Int32Array) =>
    ({ kind: 'f64', values: Float64Array.from(part, (s) => x[s]!) }) as const;
  await transaction(store, async () => {
    await store.connection.run('DELETE FROM turn_values WHERE critic = $1', [label]);
    for (let from = 0; from < rows.length; from += BATCH) {
      const part = rows.subarray(from, from + BATCH);
      const episode = Float64Array.from(
        part,
        (s) => t.episodes.episode[fit.rows.episodes[fit.rows.place[s]!]!]!,
      );
      await appendBatch(store, {
        table: 'turn_values',
        rows: part.length,
        columns: {
          critic: { kind: 'text', values: new Array<string>(part.length).fill(label) },
          episode: { kind: 'i64', values: episode },
          turn: { kind: 'i32', values: part.map((s) => t.turns.turn[s]!) },
          q: take(fit.q, part),
          v: take(fit.v, part),
          advantage: take(fit.advantage, part),
          delta: take(fit.delta, part),
          supported: { kind: 'bool', values: Uint8Array.from(part, (s) => fit.supported[s]!) },
        },
      });
    }
  });
  return rows.length;
}
