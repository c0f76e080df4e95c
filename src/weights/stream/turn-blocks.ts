import { failure } from '../../schema/error.ts';
import { queryRows, scan } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { numbersOf } from '../../trajectories/column-copy.ts';

/** Rows of a table or query with `episode` and `turn`, and the columns wanted of them, as SQL. */
export interface RowSource {
  readonly from: string;
  readonly columns: readonly { readonly name: string; readonly sql: string }[];
  /** Whether insertion order is the order of (episode, turn) already. */
  readonly ordered: boolean;
}

/** Whole episodes, those without turns among them, and columns of their turns; nulls are NaN. */
export interface TurnBlock {
  /** Place of the first episode in the list. */
  readonly row: number;
  readonly n: number;
  readonly offsets: Int32Array; // [n + 1]
  readonly columns: Readonly<Record<string, Float64Array>>; // `turn` and those asked for, [turns]
}

/** Whether the rows lie in the order of (episode, turn). One scan inside the engine. */
export async function inOrder(store: Store, from: string, parameters: readonly string[] = []) {
  const [row] = await queryRows(
    store,
    `SELECT count(*) AS n FROM (
       SELECT episode AS e, turn AS t, lag(episode) OVER () AS pe, lag(turn) OVER () AS pt FROM ${from}
     ) WHERE e < pe OR (e = pe AND t <= pt)`,
    parameters,
  );
  return row!.n === 0;
}

/**
 * Streams the episodes at places `first` to `end` of the list with their turns, whole ones only, a chunk of
 * the scan at a time. Memory: two chunks, or the longest episode.
 * @param episodes ascending numbers of all episodes
 * @throws for a turn of an episode that is not in the list, and for one that is there twice
 */
export async function* turnBlocks(
  store: Store,
  source: RowSource,
  episodes: Float64Array,
  first: number,
  end: number,
): AsyncGenerator<TurnBlock> {
  if (first >= end) return;
  const names = ['turn', ...source.columns.map((c) => c.name)];
  let held = empty(names); // turns of the episode that the last chunk ended in
  let row = first;
  for await (const chunk of scan(store, sqlOf(source), [episodes[first]!, episodes[end - 1]!])) {
    const own = numbersOf(chunk.columns, 'episode').values;
    const { rows } = chunk;
    if (rows === 0) break;
    const last = own[rows - 1]!;
    let cut = rows; // where the last episode of the chunk begins
    while (cut > 0 && own[cut - 1] === last) cut--;
    const arrived = Object.fromEntries(names.map((name) => [name, doubles(chunk.columns, name)]));
    if (cut === 0 && (held.length === 0 || held.number === last)) {
      held = joined(held, last, arrived, 0, rows);
      continue;
    }
    const number = concat(held.number, held.length, own, cut);
    const block = joined(held, Number.NaN, arrived, 0, cut).columns;
    held = joined(empty(names), last, arrived, cut, rows);
    const from = row;
    const until = placeAfter(episodes, number[number.length - 1]!, row, end);
    row = until;
    yield blockOf(episodes, from, until, number, block);
  }
  const number = new Float64Array(held.length).fill(held.number);
  yield blockOf(episodes, row, end, number, held.columns);
}

interface Held {
  readonly number: number;
  readonly length: number;
  readonly columns: Record<string, Float64Array>;
}

const empty = (names: readonly string[]): Held => ({
  number: Number.NaN,
  length: 0,
  columns: Object.fromEntries(names.map((name) => [name, new Float64Array(0)])),
});

function sqlOf({ from, columns, ordered }: RowSource): string {
  const select = columns.map(({ name, sql }) => `${sql} AS ${name}`);
  const order = ordered ? '' : ' ORDER BY episode, turn';
  return `SELECT ${['episode', 'turn', ...select].join(', ')} FROM ${from} WHERE episode BETWEEN $1 AND $2${order}`;
}

/** A column as doubles, nulls as NaN. */
function doubles(columns: Parameters<typeof numbersOf>[0], name: string): Float64Array {
  const { kind, values, valid } = numbersOf(columns, name);
  const out = kind === 'f64' || kind === 'i64' ? values : Float64Array.from(values);
  if (valid !== undefined) for (let i = 0; i < out.length; i++) if (valid[i] === 0) out[i] = Number.NaN;
  return out;
}

function joined(
  held: Held,
  number: number,
  arrived: Readonly<Record<string, Float64Array>>,
  from: number,
  to: number,
): Held {
  const columns: Record<string, Float64Array> = {};
  for (const name of Object.keys(held.columns)) {
    const added = arrived[name]!.subarray(from, to);
    columns[name] = held.length === 0 ? added : concat2(held.columns[name]!, added);
  }
  return { number, length: held.length + to - from, columns };
}

function concat2(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}

function concat(number: number, count: number, own: ArrayLike<number>, to: number): Float64Array {
  const out = new Float64Array(count + to);
  out.fill(number, 0, count);
  for (let i = 0; i < to; i++) out[count + i] = own[i]!;
  return out;
}

/** Offsets of the episodes from..until among turns that carry their episode's number. */
function blockOf(
  episodes: Float64Array,
  from: number,
  until: number,
  number: Float64Array,
  columns: Readonly<Record<string, Float64Array>>,
): TurnBlock {
  const n = until - from;
  const offsets = new Int32Array(n + 1);
  const turn = columns.turn!;
  let k = 0;
  for (let i = 0; i < n; i++) {
    const e = episodes[from + i]!;
    const start = k;
    for (; k < number.length && number[k] === e; k++)
      if (k > start && turn[k]! <= turn[k - 1]!) throw twice(e, turn[k]!);
    offsets[i + 1] = k;
  }
  if (k < number.length) throw orphan(number[k]!);
  return { row: from, n, offsets, columns };
}

/** First place whose number is above `number`. */
function placeAfter(ascending: Float64Array, number: number, from: number, to: number): number {
  let lo = from;
  let hi = to;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (ascending[mid]! <= number) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

const orphan = (episode: number) =>
  failure({
    subject: `turns, episode ${episode}`,
    wrong: 'rows of an episode that is not in the table episodes, or rows out of order',
    fix: 'The store is damaged: ingest the logs into a new one.',
  });

const twice = (episode: number, turn: number) =>
  failure({
    subject: `turns, episode ${episode}, turn ${turn}`,
    wrong: 'the row is there twice',
    fix: 'The store is damaged: ingest the logs into a new one.',
  });
