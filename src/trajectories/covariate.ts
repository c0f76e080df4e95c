import { failure } from '../schema/error.ts';
import { featureOf } from './feature-columns.ts';
import type { Trajectories } from './trajectories.ts';
import { episodeOfTurn } from './view.ts';

/** Value of a covariate at a row of the turn columns; null where the log has none. */
export type Covariate = (row: number) => number | string | null;

/**
 * What a rule of a policy file may ask about a turn: `turn`, `features.K`, `task_id`, and
 * `last_action_class`, the class of the previous turn of the episode (null at the first). All of it
 * is known before the turn.
 *
 * @throws a failure (2) for any other key
 */
export function turnCovariate(t: Trajectories, key: string): Covariate {
  if (key === 'turn') return (row) => t.turns.turn[row]!;
  if (key === 'task_id') {
    const episode = episodeOfTurn(t);
    const { codes, values } = t.episodes.task;
    return (row) => values[codes[episode[row]!]!] ?? null;
  }
  if (key === 'last_action_class') {
    const first = new Uint8Array(t.turns.turn.length + 1);
    for (const s of t.episodeOffsets) first[s] = 1;
    const { codes, values } = t.turns.actionClass;
    return (row) => (first[row] === 1 ? null : (values[codes[row - 1]!] ?? null));
  }
  const feature = /^features\.(0|[1-9]\d*)$/.exec(key);
  if (feature === null)
    throw failure({
      subject: 'covariate',
      wrong: 'not known before a turn',
      got: key,
      expected: 'turn, features.K, task_id or last_action_class',
      exitCode: 2,
    });
  const k = Number(feature[1]);
  return (row) => {
    const x = featureOf(t, row, k);
    return Number.isNaN(x) ? null : x;
  };
}
