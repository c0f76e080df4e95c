import type { OutcomeName } from '../schema/compare.ts';
import { RETURN } from '../trajectories/return-sql.ts';

/** What an episode is measured by. `success` is the return, where every return is 0 or 1 within 1e-6. */
export interface Outcome {
  readonly name: Exclude<OutcomeName, 'success'>;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  /** SQL over e (episodes) and t (sums over its turns), DOUBLE; null where the log does not say. */
  readonly sql: string;
}

/** The return with aborted episodes counted as 0, as some harnesses do. */
export const ABORTED_AS_ZERO: Outcome = {
  name: 'return',
  unit: 'reward an episode',
  better: 'higher',
  sql: `CASE WHEN e.ending = 'aborted' THEN 0 ELSE ${RETURN} END`,
};

/** In the order in which they are read and printed. */
export const OUTCOMES: readonly Outcome[] = [
  {
    name: 'return',
    unit: 'reward an episode',
    better: 'higher',
    sql: RETURN,
  },
  { name: 'turns', unit: 'assistant turns an episode', better: 'lower', sql: 'e.n_turns::DOUBLE' },
  { name: 'cost', unit: 'in the unit of the log', better: 'lower', sql: 'e.cost' },
  {
    name: 'latency',
    unit: 'seconds from start to end',
    better: 'lower',
    sql: 'CASE WHEN isfinite(e.started_at) AND isfinite(e.ended_at) THEN (epoch_us(e.ended_at) - epoch_us(e.started_at)) / 1e6 END',
  },
  {
    // Unknown as soon as one turn is: a sum over the turns that say would reward saying nothing.
    name: 'tool-errors',
    unit: 'failed tool calls an episode',
    better: 'lower',
    sql: 'CASE WHEN e.n_turns = 0 THEN 0 WHEN t.told = e.n_turns THEN t.errors END',
  },
];
