import type { ColumnData } from '../store/batch.ts';
import { type ScanChunk, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** Tokens are float32, sums of them in the log often too. */
const RELATIVE = 1e-4;
const ABSOLUTE = 1e-3;

const SQL = `SELECT episode, turn, segment, n_action_tokens, behaviour_logprob FROM turns
  WHERE episode IN (SELECT episode FROM segments) ORDER BY episode, turn`;

/** A turn whose own words and whose tokens differ; null where they agree. */
export interface Difference {
  readonly turn: number;
  readonly segment: number | null;
  readonly countWanted: number | null;
  readonly count: number;
  readonly sumWanted: number | null;
  readonly sum: number;
}

/** The turns of one episode and what the tokens seen so far add up to. Reused from episode to episode. */
export interface TurnsOfEpisode {
  readonly episode: number;
  /** False once some segment could not be read: sums would be of a part. */
  known: boolean;
  /** Place of a turn by its number, −1 where there is none; `near` is where to look first. */
  slotOf(turn: number, near: number): number;
  /** Number of the turn at a place. */
  turnAt(slot: number): number;
  /** The turn of a segment that has but one; −1 otherwise. */
  onlyOf(segment: number): number;
  /** Whether the turn names this segment, or names none. */
  liesIn(slot: number, segment: number): boolean;
  /** One sampled token of the turn. */
  add(slot: number, logprob: number | null): void;
  differences(): Difference[];
}

export interface TurnCursor {
  /** The turns of an episode; episodes are asked for in ascending order. */
  seek(episode: number): Promise<TurnsOfEpisode>;
  close(): Promise<void>;
}

/** Reads turns in step with segments. One chunk and the turns of one episode are in memory. */
export function turnCursor(store: Store): TurnCursor {
  const chunks = scan(store, SQL);
  let chunk: ScanChunk | undefined;
  let row = 0;
  const step = async (): Promise<boolean> => {
    if (chunk && row < chunk.rows) return true;
    const next = await chunks.next();
    chunk = next.done ? undefined : next.value;
    row = 0;
    return chunk !== undefined;
  };
  return {
    async seek(episode) {
      const turns = emptyTurns(episode);
      while (await step()) {
        const number = (name: string): number | null => numberAt(chunk!.columns[name]!, row);
        const at = number('episode')!;
        if (at > episode) break;
        if (at === episode)
          turns.push(
            number('turn')!,
            number('segment'),
            number('n_action_tokens'),
            number('behaviour_logprob'),
          );
        row++;
      }
      return turns;
    },
    async close() {
      await chunks.return(undefined);
    },
  };
}

function emptyTurns(episode: number) {
  const turn: number[] = [];
  const segment: (number | null)[] = [];
  const countWanted: (number | null)[] = [];
  const sumWanted: (number | null)[] = [];
  const count: number[] = [];
  const sum: number[] = [];
  const gaps: number[] = [];
  return {
    episode,
    known: true,
    push(t: number, s: number | null, n: number | null, lp: number | null): void {
      turn.push(t);
      segment.push(s);
      countWanted.push(n);
      sumWanted.push(lp);
      count.push(0);
      sum.push(0);
      gaps.push(0);
    },
    slotOf(t: number, near: number): number {
      if (near >= 0 && turn[near] === t) return near;
      if (turn[near + 1] === t) return near + 1;
      return turn.indexOf(t);
    },
    turnAt: (slot: number): number => turn[slot]!,
    onlyOf(s: number): number {
      const first = segment.indexOf(s);
      if (first < 0) return turn.length === 1 && segment[0] === null ? 0 : -1;
      return segment.indexOf(s, first + 1) < 0 ? first : -1;
    },
    liesIn(slot: number, s: number): boolean {
      return segment[slot] === null || segment[slot] === s;
    },
    add(slot: number, logprob: number | null): void {
      count[slot]!++;
      if (logprob === null) gaps[slot]!++;
      else sum[slot]! += logprob;
    },
    differences(): Difference[] {
      const found: Difference[] = [];
      for (let k = 0; k < turn.length; k++) {
        if (count[k] === 0) continue;
        const n = countWanted[k]!;
        const lp = sumWanted[k]!;
        const wrongCount = n !== null && n !== count[k];
        const wrongSum =
          lp !== null &&
          gaps[k] === 0 &&
          !(Math.abs(lp - sum[k]!) <= ABSOLUTE + RELATIVE * Math.abs(sum[k]!));
        if (!wrongCount && !wrongSum) continue;
        found.push({
          turn: turn[k]!,
          segment: segment[k]!,
          countWanted: wrongCount ? n : null,
          count: count[k]!,
          sumWanted: wrongSum ? lp : null,
          sum: sum[k]!,
        });
      }
      return found;
    },
  };
}

function numberAt(column: ColumnData, i: number): number | null {
  if (column.kind === 'text' || column.kind === 'list') return null;
  return column.valid && column.valid[i] === 0 ? null : column.values[i]!;
}
