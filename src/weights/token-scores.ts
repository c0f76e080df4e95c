import { scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { numbersOf } from '../trajectories/column-copy.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import { episodeRows, turnRow } from './token-sums.ts';

/** Action tokens of some turns: row of the turn, log-probability under both; NaN where there is none. */
export interface TokenChunk {
  readonly rows: number;
  readonly turnRow: Int32Array; // [rows]
  readonly target: Float64Array; // [rows]
  readonly behaviour: Float64Array; // [rows]
}

/** Only tokens of the assistant's own actions: what a tool wrote has no ratio. */
const TOKENS = `
  SELECT episode, turn, target::DOUBLE AS target, behaviour::DOUBLE AS behaviour
  FROM (
    SELECT s.episode AS episode, unnest(g.token_turn) AS turn, unnest(g.action_mask) AS action,
           unnest(s.logprobs) AS target, unnest(g.behaviour_logprobs) AS behaviour
    FROM scores s JOIN segments g ON g.episode = s.episode AND g.segment = s.segment AND g.piece = s.piece
    WHERE s.policy = $1 AND s.segment IS NOT NULL AND g.token_turn IS NOT NULL
  ) WHERE action AND turn IS NOT NULL`;

/** Streams the tokens that a policy was scored on, of the episodes in the view. Holds one chunk. */
export async function* scanTokenScores(
  store: Store,
  t: Trajectories,
  policy: string,
): AsyncGenerator<TokenChunk> {
  const rowOf = episodeRows(t);
  const inView = new Uint8Array(t.episodes.episode.length);
  for (const e of t.index) inView[e] = 1;
  for await (const chunk of scan(store, TOKENS, [policy])) {
    const episode = numbersOf(chunk.columns, 'episode').values;
    const turn = numbersOf(chunk.columns, 'turn').values;
    const target = numbersOf(chunk.columns, 'target').values;
    const behaviour = numbersOf(chunk.columns, 'behaviour').values;
    const out = {
      turnRow: new Int32Array(chunk.rows),
      target: new Float64Array(chunk.rows),
      behaviour: new Float64Array(chunk.rows),
    };
    let rows = 0;
    for (let i = 0; i < chunk.rows; i++) {
      const e = rowOf.get(episode[i]!);
      const s = e === undefined || inView[e] === 0 ? -1 : turnRow(t, e, turn[i]!);
      if (s < 0) continue;
      out.turnRow[rows] = s;
      out.target[rows] = target[i]!;
      out.behaviour[rows++] = behaviour[i]!;
    }
    yield { rows, ...out };
  }
}
