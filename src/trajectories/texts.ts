import { MAX_DEPTH, TooDeepError } from '../json/depth.ts';
import { parseExact } from '../json/exact-json.ts';
import type { Episode } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import type { ToolCall } from '../schema/turn.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { textOf } from './column-copy.ts';
import type { LoggedCall } from './history.ts';
import { orderedRuns, rowLayout, TURNS } from './ordered-scan.ts';
import type { Trajectories } from './trajectories.ts';

/** Takes one turn: its row in the turn columns, and whether it is the first of its episode. */
export type TurnVisitor = (
  row: number,
  first: boolean,
  observation: string | null,
  action: string | null,
  calls: readonly LoggedCall[],
) => void;

/**
 * Visits the text of every turn of the columns in order, read from the store once, in chunks.
 * Text is never held in `Trajectories`.
 */
export async function scanTexts(store: Store, t: Trajectories, visit: TurnVisitor): Promise<void> {
  const { episode } = t.episodes;
  const { ordered, offsets } = await rowLayout(store, TURNS, episode, false);
  const at = t.episodeOffsets;
  if (offsets.some((n, e) => n !== at[e]))
    throw failure({
      subject: store.path,
      wrong: 'its turns are not those of the trajectories',
      fix: 'Load the trajectories from this store, and load them again after ingesting.',
    });
  const select = 'observation, action, tool_calls';
  let e = -1;
  for await (const run of orderedRuns(store, TURNS, select, episode, { ordered, offsets })) {
    const observation = textOf(run.columns, 'observation');
    const action = textOf(run.columns, 'action');
    const calls = textOf(run.columns, 'tool_calls');
    for (let i = run.from, row = run.row; i < run.to; i++, row++) {
      let first = false;
      while (at[e + 1]! <= row) {
        e++;
        first = at[e] === row;
      }
      visit(row, first, observation[i]!, action[i]!, parseCalls(calls[i]!, t, e, row));
    }
  }
}

/** The same over episodes in memory, those that `t` was built from. */
export function walkTexts(episodes: readonly Episode[], t: Trajectories, visit: TurnVisitor): void {
  for (let e = 0; e + 1 < t.episodeOffsets.length; e++) {
    const turns = episodes[t.episodes.episode[e]!]?.turns;
    const from = t.episodeOffsets[e]!;
    if (turns?.length !== t.episodeOffsets[e + 1]! - from)
      throw failure({
        subject: `episode ${t.episodes.id[e]}`,
        wrong: 'its turns are not those of the trajectories',
        fix: 'Give the episodes that the trajectories were built from.',
      });
    for (let k = 0; k < turns.length; k++)
      visit(from + k, k === 0, turns[k]!.observation, turns[k]!.action, turns[k]!.tool_calls ?? []);
  }
}

/** The text of one turn. */
export interface TurnText {
  readonly turn: number;
  readonly observation: string | null;
  readonly action: string | null;
  readonly tool_calls: readonly ToolCall[];
}

/** The text of the turns of one episode, by its number in the store, in order. */
export async function turnTexts(store: Store, episode: number): Promise<TurnText[]> {
  const sql = 'SELECT turn, observation, action, tool_calls FROM turns WHERE episode = $1 ORDER BY turn';
  const rows = await queryRows(store, sql, [episode]);
  const [own] = await queryRows(store, 'SELECT episode_id AS id FROM episodes WHERE episode = $1', [episode]);
  return rows.map((row) => {
    const turn = row.turn as number;
    return {
      turn,
      observation: row.observation as string | null,
      action: row.action as string | null,
      tool_calls: jsonCalls(
        row.tool_calls as string | null,
        `episode ${own?.id ?? `number ${episode}`}, turn ${turn}`,
      ),
    };
  });
}

const NONE: readonly ToolCall[] = [];

function parseCalls(json: string | null, t: Trajectories, e: number, row: number): readonly ToolCall[] {
  if (json === null || json === '[]') return NONE;
  return jsonCalls(json, `episode ${t.episodes.id[e]}, turn ${t.turns.turn[row]}`);
}

function jsonCalls(json: string | null, subject: string): readonly ToolCall[] {
  if (json === null) return NONE;
  let wrong = 'not a JSON array';
  try {
    const calls: unknown = parseExact(json);
    if (Array.isArray(calls)) return calls;
  } catch (error) {
    if (error instanceof TooDeepError) wrong = `nested more than ${MAX_DEPTH} deep`;
  }
  throw failure({
    subject: `turns, ${subject}, column tool_calls`,
    wrong,
    got: json.slice(0, 80),
    ...(wrong.startsWith('nested')
      ? { fix: 'Ingest the log into a new store: what is so deep is rejected there.' }
      : {}),
  });
}
