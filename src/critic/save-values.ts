import { appendBatch } from '../store/append.ts';
import type { Store } from '../store/store.ts';
import { transaction } from '../store/transaction.ts';
import { type FittedSource, fittedSources } from '../trajectories/fitted-on.ts';
import type { CreditRun } from './credit.ts';
import { type Mark, turnMarkNote, turnMarks } from './marks.ts';

const BATCH = 65_536;

/**
 * Keeps the values of all fitted turns under a label, the critic's name by default, and in table `critics` what they
 * are of; in place of what was there, all or nothing. O(turns).
 * @returns rows
 */
export async function saveTurnValues(
  store: Store,
  run: CreditRun,
  label: string = run.fit.report.critic.name,
): Promise<number> {
  const { t, fit } = run;
  // In the order of the columns, which is that of the store.
  const rows = fit.rows.rows.slice().sort();
  const sources = await fittedSources(store, run.on.policies);
  await transaction(store, async () => {
    await store.connection.run('DELETE FROM turn_values WHERE critic = $1', [label]);
    await store.connection.run('DELETE FROM critics WHERE critic = $1', [label]);
    await saveCritic(store, run, label, sources);
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
          q: numbers(fit.q, part),
          v: numbers(fit.v, part),
          advantage: numbers(fit.advantage, part),
          delta: numbers(fit.delta, part),
          supported: { kind: 'bool', values: Uint8Array.from(part, (s) => fit.supported[s]!) },
          advantage_se: numbers(fit.advantageSe, part),
          mark: { kind: 'text', values: marksOf(run, part) },
        },
      });
    }
  });
  return rows.length;
}

/** Values of some turns; NaN is null. */
function numbers(x: Float64Array, part: Int32Array) {
  const values = Float64Array.from(part, (s) => x[s]!);
  return { kind: 'f64', values, valid: Uint8Array.from(values, (y) => (Number.isNaN(y) ? 0 : 1)) } as const;
}

function marksOf({ fit }: CreditRun, part: Int32Array): Mark[] {
  const turns = Array.from(part, (s) => ({
    advantage: fit.advantage[s]!,
    advantageSe: Number.isNaN(fit.advantageSe[s]!) ? null : fit.advantageSe[s]!,
    supported: fit.supported[s] === 1,
  }));
  return turnMarks(fit.report, turns);
}

/** What was fitted, how and on what. */
async function saveCritic(
  store: Store,
  { fit, on, ngrams }: CreditRun,
  label: string,
  sources: readonly FittedSource[],
): Promise<void> {
  const { report } = fit;
  const { heldOut, constant, placebo } = report;
  const quality = {
    rmse: heldOut.rmse,
    r2: heldOut.r2,
    constantRmse: constant.rmse,
    placeboR2: placebo.r2,
    gain: heldOut.gain,
    gainSe: heldOut.gainSe,
    gainByTurn: heldOut.gainByTurn,
    gainByTurnSe: heldOut.gainByTurnSe,
    tasks: report.tasks,
    supportedShare: report.supportedShare,
    warnings: report.warnings.map((w) => w.code),
  };
  const one = (text: string | null) => ({ kind: 'text', values: [text] }) as const;
  await appendBatch(store, {
    table: 'critics',
    rows: 1,
    columns: {
      critic: one(label),
      method: one(report.critic.method),
      config: one(JSON.stringify({ ...report.config, name: label, ngrams: ngrams ?? 'default' })),
      policies: one(on.policies === null ? null : JSON.stringify(on.policies)),
      sources: one(JSON.stringify(sources)),
      episodes: { kind: 'i64', values: Float64Array.of(on.episodes) },
      turns: { kind: 'i64', values: Float64Array.of(on.turns) },
      names: one(on.names),
      contents: one(on.contents),
      fitted_at: { kind: 'i64', values: Float64Array.of(Date.now() * 1000) },
      quality: one(JSON.stringify(quality)),
      mark_rule: one(turnMarkNote(report)),
    },
  });
}
