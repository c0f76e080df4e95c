import type { ColumnData } from '../store/batch.ts';
import { queryRows, scan, valueAt } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';
import type { EpisodeBlock } from './episode-columns.ts';
import { sameJson } from './same-json.ts';

type Columns = Readonly<Record<string, ColumnData | undefined>>;

/** What a reward file may have added to one of two copies since it was logged; null: nothing. */
export interface Joined {
  readonly reward: number | null;
  readonly rewards: unknown;
  readonly task_id: string | null;
}

/** What tells an episode from another of its name; the first difference counts. */
interface Comparison {
  /** Each takes row `i` of columns that another episode has, against the next of the block's `row`. */
  episode(row: number, columns: Columns, i: number): void;
  turn(row: number, columns: Columns, i: number): void;
  segment(row: number, columns: Columns, i: number): void;
  /** Where the two differ, `turns[0].action` for instance; undefined: one is a copy of the other. */
  difference(row: number): string | undefined;
}

/** Columns that a reward file fills in later, compared on their own. */
const JOINED: ReadonlySet<string> = new Set([
  'reward',
  'rewards',
  'task_id',
  'ending',
  'ending_assumed',
  'meta',
]);
const OWN: ReadonlySet<string> = new Set(['episode', 'episode_id', 'source', 'n_turns']);
const EPISODE = TABLES.episodes.map((c) => c.name).filter((name) => !OWN.has(name) && !JOINED.has(name));
const TURN = TABLES.turns.map((c) => c.name).filter((name) => name !== 'episode');
/** Of a segment, its lists are compared along the tokens: the store may hold it in several rows. */
const TOKENS = ['token_ids', 'action_mask', 'behaviour_logprobs', 'versions', 'token_turn'];
const JSON_COLUMNS: ReadonlySet<string> = new Set(
  [...TABLES.episodes, ...TABLES.turns].filter((c) => c.type === 'JSON').map((c) => c.name),
);

/**
 * Where each of these episodes of a block differs from the stored one of its name; undefined: a copy. A reward,
 * a task and an ending that a reward file added to one of the two are no difference. Reads the stored episodes in one pass
 * over their part of the tables; memory: a chunk of it.
 */
export async function differencesFromStored(
  store: Store,
  block: EpisodeBlock,
  stored: ReadonlyMap<number, number>,
  joined: (row: number) => Joined | undefined,
): Promise<ReadonlyMap<number, string | undefined>> {
  const compare = comparison(block, joined);
  const rowOf = new Map([...stored].map(([row, episode]) => [episode, row]));
  // Two rows of a block may bear one stored name: the second waits for another pass.
  const again = new Map([...stored].filter(([row, episode]) => rowOf.get(episode) !== row));
  const episodes = [...rowOf.keys()];
  const [first, last] = [Math.min, Math.max].map((f) => episodes.reduce((a, b) => f(a, b)));
  for (const table of ['episodes', 'turns', 'segments'] as const) {
    const add = { episodes: compare.episode, turns: compare.turn, segments: compare.segment }[table];
    const sql = `SELECT * FROM ${table} WHERE episode BETWEEN ${first} AND ${last} AND episode IN (SELECT unnest($1))`;
    for await (const { columns, rows } of scan(store, sql, [episodes])) {
      const numbers = (columns.episode as { values: Float64Array }).values;
      for (let i = 0; i < rows; i++) add(rowOf.get(numbers[i]!)!, columns, i);
    }
  }
  const found = new Map([...rowOf.values()].map((row) => [row, compare.difference(row)]));
  if (again.size > 0)
    for (const [row, difference] of await differencesFromStored(store, block, again, joined))
      found.set(row, difference);
  return found;
}

/** The same of an episode of the block and an earlier one of the same block. */
export function differenceWithin(block: EpisodeBlock, row: number, earlier: number): string | undefined {
  const compare = comparison(block, () => undefined);
  compare.episode(row, block.episodes.columns, earlier);
  for (const name of ['turns', 'segments'] as const) {
    const { columns } = block[name];
    const starts = startsOf(block, name);
    for (let i = starts[earlier]!; i < starts[earlier + 1]!; i++)
      (name === 'turns' ? compare.turn : compare.segment)(row, columns, i);
  }
  return compare.difference(row);
}

function comparison(block: EpisodeBlock, joined: (row: number) => Joined | undefined): Comparison {
  const { episodes, turns, segments } = block;
  const turnStarts = startsOf(block, 'turns');
  const segmentStarts = startsOf(block, 'segments');
  const differences = new Map<number, string>();
  const turnsSeen = new Map<number, number>();
  /** Tokens seen of each segment, by its row in the block. */
  const tokensSeen = new Map<number, number>();
  const differ = (row: number, what: string) => {
    if (!differences.has(row)) differences.set(row, what);
  };
  return {
    episode(row, columns, i) {
      for (const name of EPISODE)
        if (!sameValue(name, columns[name], i, episodes.columns[name], row)) differ(row, name);
      const what = joinedDifference(columns, i, episodes.columns, row, joined(row));
      if (what !== undefined) differ(row, what);
    },
    turn(row, columns, i) {
      const k = turnsSeen.get(row) ?? 0;
      turnsSeen.set(row, k + 1);
      if (differences.has(row)) return;
      const at = turnStarts[row]! + k;
      if (at >= turnStarts[row + 1]!) return differ(row, `turns[${k}]`);
      for (const name of TURN)
        if (!sameValue(name, columns[name], i, turns.columns[name], at)) differ(row, `turns[${k}].${name}`);
    },
    segment(row, columns, i) {
      if (differences.has(row)) return;
      const k = valueAt(columns.segment!, i) as number;
      const at = segmentStarts[row]! + k;
      if (at >= segmentStarts[row + 1]!) return differ(row, `segments[${k}]`);
      const from = tokensSeen.get(at) ?? 0;
      const tokens = lengthAt(columns.token_ids!, i);
      tokensSeen.set(at, from + tokens);
      for (const name of TOKENS)
        if (!sameTokens(columns[name], i, segments.columns[name], at, from, tokens))
          differ(row, `segments[${k}].${name}`);
    },
    difference(row) {
      const seen = turnsSeen.get(row) ?? 0;
      if (seen < turnStarts[row + 1]! - turnStarts[row]!) differ(row, `turns[${seen}]`);
      for (let at = segmentStarts[row]!; at < segmentStarts[row + 1]!; at++)
        if ((tokensSeen.get(at) ?? -1) < lengthAt(segments.columns.token_ids!, at))
          differ(row, `segments[${at - segmentStarts[row]!}]`);
      return differences.get(row);
    },
  };
}

/**
 * Differences in what a reward file brings. What only the stored one (`a`) has may have been joined since; what only
 * the new one (`b`) has is a difference, unless it is joined now.
 */
function joinedDifference(
  a: Columns,
  i: number,
  b: Columns,
  j: number,
  now: Joined | undefined,
): string | undefined {
  const value = (columns: Columns, name: string, row: number): unknown =>
    columns[name] === undefined ? null : valueAt(columns[name], row);
  for (const name of ['reward', 'task_id', 'rewards'] as const) {
    const [there, here] = [value(a, name, i), value(b, name, j)];
    if (here === null || there === here) continue;
    if (name === 'rewards' && there !== null && sameJson(there as string, here as string)) continue;
    if (there !== null) return name;
    const joins = now?.[name] ?? null;
    if (
      name === 'rewards' ? joins === null || !sameJson(JSON.stringify(joins), here as string) : joins !== here
    )
      return name;
  }
  const [there, here] = [value(a, 'ending', i), value(b, 'ending', j)];
  const [thereAssumed, hereAssumed] = [value(a, 'ending_assumed', i), value(b, 'ending_assumed', j)];
  const settled = (ending: unknown, assumed: unknown) =>
    assumed === true || ending === 'aborted' || ending === 'limit';
  const open =
    (hereAssumed === true && settled(there, thereAssumed)) ||
    (now !== undefined && thereAssumed === true && settled(here, hereAssumed));
  if (!open && (there !== here || thereAssumed !== hereAssumed)) return 'ending';
  return sameMeta(value(a, 'meta', i), value(b, 'meta', j)) ? undefined : 'meta';
}

function sameMeta(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a !== null && b !== null && sameJson(a as string, wellFormed(b as string))) return true;
  const without = (meta: unknown): string => {
    const { exception: _, ...rest } = JSON.parse((meta as string | null) ?? '{}') as Record<string, unknown>;
    return JSON.stringify(rest);
  };
  const [hasA, hasB] = [a, b].map((meta) => meta !== null && (meta as string).includes('"exception":'));
  return hasA !== hasB && sameJson(without(a), without(wellFormed((b as string | null) ?? '{}')));
}

function sameValue(
  name: string,
  a: ColumnData | undefined,
  i: number,
  b: ColumnData | undefined,
  j: number,
): boolean {
  const there = a === undefined ? null : valueAt(a, i);
  const here = b === undefined ? null : valueAt(b, j);
  if (there === here) return true;
  if (there === null || here === null) return false;
  if (Array.isArray(there)) {
    const list = here as unknown[];
    return there.length === list.length && there.every((v, k) => v === list[k]);
  }
  if (typeof here !== 'string') return false;
  // As the store holds it: half a surrogate pair became U+FFFD.
  const text = wellFormed(here);
  return there === text || (JSON_COLUMNS.has(name) && sameJson(there as string, text));
}

/** `n` tokens of row i of `a` against those from `from` on of row j of `b`. */
function sameTokens(
  a: ColumnData | undefined,
  i: number,
  b: ColumnData | undefined,
  j: number,
  from: number,
  n: number,
): boolean {
  const [x, y] = [listAt(a, i), listAt(b, j)];
  if (x === undefined || y === undefined) return x === y;
  if (y.end - y.start < from + n) return false;
  for (let k = 0; k < n; k++) {
    const [p, q] = [x.start + k, y.start + from + k];
    const [isThere, isHere] = [x.valid?.[p] !== 0, y.valid?.[q] !== 0];
    if (isThere !== isHere || (isThere && x.values[p] !== y.values[q])) return false;
  }
  return true;
}

function listAt(data: ColumnData | undefined, i: number) {
  if (data?.kind !== 'list' || data.valid?.[i] === 0) return undefined;
  const { values, valid } = data.child as { values: ArrayLike<number>; valid?: Uint8Array };
  return { values, valid, start: data.offsets[i]!, end: data.offsets[i + 1]! };
}

function lengthAt(data: ColumnData, i: number): number {
  const { offsets } = data as { offsets: Int32Array };
  return offsets[i + 1]! - offsets[i]!;
}

/** [episodes + 1] where the rows of each episode of the block begin: they lie in its order. */
function startsOf({ episodes, ...block }: EpisodeBlock, name: 'turns' | 'segments'): Int32Array {
  const starts = new Int32Array(episodes.rows + 1);
  const { rows, columns } = block[name];
  const episode = (columns.episode as { values: Float64Array } | undefined)?.values;
  for (let i = 0; i < rows; i++) starts[episode![i]! + 1]!++;
  for (let k = 0; k < episodes.rows; k++) starts[k + 1]! += starts[k]!;
  return starts;
}

function wellFormed(text: string): string {
  return (text as unknown as { toWellFormed(): string }).toWellFormed();
}

/** Names of an episode that a reward file may use: its own, its session's, its trial's. */
export function logNames(episodeId: string, meta: string | null): string[] {
  const parsed = meta !== null && /"(session_id|trial_name)"/.test(meta) ? JSON.parse(meta) : {};
  return [episodeId, parsed.session_id, parsed.trial_name].filter((name) => typeof name === 'string');
}

/** Paths that stored episodes came by, for messages. */
export async function pathsOf(
  store: Store,
  sources: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const found = await queryRows(
    store,
    'SELECT source, path FROM sources WHERE source IN (SELECT unnest($1))',
    [[...new Set(sources)]],
  );
  return new Map(found.map((r) => [r.source as number, r.path as string]));
}
