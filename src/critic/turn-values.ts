import { savedCritics, staleWarnings } from '../inspect/saved-critics.ts';
import { failure } from '../schema/error.ts';
import type { SavedCritic } from '../schema/saved-critic.ts';
import type { Warning } from '../schema/warning.ts';
import type { ColumnData } from '../store/batch.ts';
import { scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** Kept values of S turns, in the order of (episode, turn), which is that of the columns of `loadTrajectories`. */
export interface TurnValues {
  readonly critic: SavedCritic;
  readonly episode: Float64Array; // [S] number in the store
  readonly turn: Int32Array; // [S]
  readonly q: Float64Array; // [S] NaN: none, here as below
  readonly v: Float64Array; // [S]
  readonly advantage: Float64Array; // [S]
  readonly advantageSe: Float64Array; // [S]
  readonly delta: Float64Array; // [S]
  readonly supported: Uint8Array; // [S]
  readonly mark: readonly ('helpful' | 'harmful' | null)[]; // [S]
  /** Why the values may not be of the episodes that the store holds. */
  readonly warnings: readonly Warning[];
}

export interface TurnValuesOptions {
  /** What becomes of values fitted on other episodes than those the store holds, or nobody knows on which. Default 'refuse'. */
  readonly stale?: 'refuse' | 'warn' | undefined;
}

/**
 * The turn values that `credit --save-as NAME` or `saveTurnValues` kept. O(turn values), and one pass over the episodes
 * that tells whether they are still those the critic was fitted on.
 * @throws failures: no values of that name; with `stale` 'refuse', values that are stale or of unknown origin
 */
export async function turnValues(
  store: Store,
  name: string,
  { stale = 'refuse' }: TurnValuesOptions = {},
): Promise<TurnValues> {
  const critics = await savedCritics(store);
  const critic = critics.find((c) => c.critic === name);
  if (!critic)
    throw failure({
      subject: `critic "${name}"`,
      wrong: 'is not in the store',
      expected: critics.length > 0 ? critics.map((c) => `"${c.critic}"`).join(', ') : undefined,
      fix: 'Keep one with "turnwise credit --save-as NAME".',
      exitCode: 2,
    });
  if (critic.state !== 'current' && stale === 'refuse')
    throw failure({ subject: `critic "${name}"`, wrong: `${critic.reason}; ${critic.fix}` });
  const n = critic.values;
  const out = {
    episode: new Float64Array(n),
    turn: new Int32Array(n),
    q: new Float64Array(n),
    v: new Float64Array(n),
    advantage: new Float64Array(n),
    advantageSe: new Float64Array(n),
    delta: new Float64Array(n),
    supported: new Uint8Array(n),
  };
  const mark: TurnValues['mark'][number][] = [];
  let at = 0;
  for await (const { rows, columns } of scan(store, SQL, [name])) {
    for (const [column, target] of Object.entries(out)) copy(target, at, columns[column]!);
    for (const text of textOf(columns.mark!)) mark.push(text as TurnValues['mark'][number]);
    at += rows;
  }
  return { critic, ...out, mark, warnings: staleWarnings([critic]) };
}

const SQL = `
  SELECT episode, turn, q, v, advantage, advantage_se AS "advantageSe", delta, coalesce(supported, false) AS supported, mark
  FROM turn_values WHERE critic = $1 ORDER BY episode, turn`;

/** A null number reads NaN in a chunk. */
function copy(target: Float64Array | Int32Array | Uint8Array, at: number, column: ColumnData): void {
  if (column.kind !== 'text' && column.kind !== 'list') target.set(column.values, at);
}

const textOf = (column: ColumnData): readonly (string | null)[] =>
  column.kind === 'text' ? column.values : [];
