import { failure } from '../../schema/error.ts';
import { scan } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { numbersOf } from '../../trajectories/column-copy.ts';
import type { Measure } from '../ratios.ts';
import { SCORES } from '../scores.ts';
import type { TurnBlock } from './turn-blocks.ts';

/** The scores of one policy, read in the order of (episode, turn) beside the turns: no join. */
export interface ScoreCursor {
  /** Log-probabilities at the turns of a block, [turns], NaN where there is none; blocks in order. */
  at(block: TurnBlock): Promise<Float64Array>;
  close(): Promise<void>;
}

/** Rows of a policy's scores. `segments`: some are sums over tokens. */
export const scoreRows = (segments: boolean): string =>
  segments ? `(${SCORES})` : '(SELECT * FROM scores WHERE policy = $1 AND turn IS NOT NULL)';

/** @param episodes ascending numbers; the blocks will be those of places `first` to `end` */
export function scoreCursor(
  store: Store,
  plan: {
    readonly policy: string;
    readonly measure: Measure;
    readonly segments: boolean;
    readonly ordered: boolean;
  },
  episodes: Float64Array,
  first: number,
  end: number,
): ScoreCursor {
  const column = plan.measure === 'logprob' ? 'logprob' : 'log_propensity';
  const order = plan.ordered ? '' : ' ORDER BY episode, turn';
  const chunks = scan(
    store,
    `SELECT episode, turn, ${column} AS score FROM ${scoreRows(plan.segments)} WHERE episode BETWEEN $2 AND $3${order}`,
    [plan.policy, episodes[first]!, episodes[end - 1]!],
  );
  let episode: ArrayLike<number> = [];
  let turn: ArrayLike<number> = [];
  let score: ArrayLike<number> = [];
  let at = 0;
  let rows = 0;
  let done = false;
  let lastEpisode = -1;
  let lastTurn = -1;
  const more = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done) {
      done = true;
      return false;
    }
    const { columns } = next.value;
    episode = numbersOf(columns, 'episode').values;
    turn = numbersOf(columns, 'turn').values;
    score = numbersOf(columns, 'score').values;
    rows = next.value.rows;
    at = 0;
    return true;
  };
  return {
    async at(block) {
      const { n, row, offsets, columns } = block;
      const out = new Float64Array(offsets[n]!).fill(Number.NaN);
      const own = columns.turn!;
      let i = 0;
      let k = 0;
      while (k < out.length && !done) {
        if (at === rows) {
          if (!(await more())) break;
          continue;
        }
        // As far as this chunk of scores and this block of turns go together.
        while (at < rows && k < out.length) {
          while (k >= offsets[i + 1]!) i++;
          const e = episodes[row + i]!;
          const se = episode[at]!;
          const st = turn[at]!;
          if (se === lastEpisode && st === lastTurn) throw twice(plan.policy, se, st);
          if (se < e || (se === e && st < own[k]!)) at++;
          else if (se === e && st === own[k]!) {
            out[k++] = score[at++]!;
            lastEpisode = se;
            lastTurn = st;
          } else k++;
        }
      }
      return out;
    },
    async close() {
      await chunks.return(undefined);
    },
  };
}

const twice = (policy: string, episode: number, turn: number) =>
  failure({
    subject: `scores of "${policy}"`,
    wrong: `episode number ${episode} of the store turn ${turn} is scored twice`,
    fix: 'Give each scoring run a policy name of its own.',
  });
