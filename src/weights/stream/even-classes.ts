import { scan } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { numbersOf, textOf } from '../../trajectories/column-copy.ts';

/**
 * Whether a propensity that is the same at every turn is that of an even choice among the classes of the turns in
 * use, as `checkLogColumn` has it on loaded logs. One scan of two columns.
 * @param used by place of the episode
 */
export async function evenOverClasses(
  store: Store,
  episodes: Float64Array,
  used: (place: number) => boolean,
  value: number,
): Promise<boolean> {
  const numbers = new Set<number>();
  for (let e = 0; e < episodes.length; e++) if (used(e)) numbers.add(episodes[e]!);
  const seen = new Set<string>();
  for await (const { rows, columns } of scan(store, 'SELECT episode, action_class FROM turns')) {
    const episode = numbersOf(columns, 'episode').values;
    const name = textOf(columns, 'action_class');
    for (let i = 0; i < rows; i++) {
      if (!numbers.has(episode[i]!)) continue;
      if (name[i] === null) return false;
      seen.add(name[i]!);
    }
  }
  return seen.size > 1 && Math.abs(Math.exp(value) * seen.size - 1) < 1e-6;
}
