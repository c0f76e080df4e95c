import {
  type Data,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int32,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Uint8,
  Utf8,
  Vector,
} from 'apache-arrow';
import { ENDINGS } from '../schema/episode.ts';
import { EPISODE_COLUMNS, FEATURES, TOKEN_COLUMNS, TURN_COLUMNS } from './arrow-columns.ts';
import { compact } from './compact.ts';
import type { Coded, Trajectories } from './trajectories.ts';

/**
 * The episodes of a view as an Arrow table, one row each; turns are lists (`turns.reward`), and so
 * are the logged features of a turn and the tokens of a segment, one level deeper. Where the view is
 * the whole, numbers and codes are wrapped as they lie, with a bitmap for their nulls; else they are
 * taken. Masks are 0 and 1 in bytes.
 */
export function trajectoriesToArrow(view: Trajectories): Table {
  const t = compact(view);
  const columns: [string, Data][] = [];
  for (const { key, name } of EPISODE_COLUMNS)
    columns.push([name, dataOf(t.episodes[key], key, columns.length)]);
  for (const { key, name } of TURN_COLUMNS)
    columns.push([name, listOf(t.episodeOffsets, dataOf(t.turns[key], key, columns.length))]);
  if (t.features !== null) {
    const values = listOf(t.features.offsets, float64(t.features.values));
    columns.push([FEATURES, listOf(t.episodeOffsets, values)]);
  }
  if (t.tokens !== null) {
    const { segmentOffsets, tokenOffsets, tokenIds, actionMask, behaviourLogprobs, tokenTurn } = t.tokens;
    const tokens = (name: string, data: Data) =>
      columns.push([name, listOf(segmentOffsets, listOf(tokenOffsets, data))]);
    tokens(TOKEN_COLUMNS.tokenIds, makeData({ type: new Int32(), data: tokenIds, nullCount: 0 }));
    tokens(TOKEN_COLUMNS.actionMask, makeData({ type: new Uint8(), data: actionMask, nullCount: 0 }));
    tokens(TOKEN_COLUMNS.behaviourLogprobs, float32(behaviourLogprobs));
    tokens(TOKEN_COLUMNS.tokenTurn, int32(tokenTurn));
  }
  const schema = new Schema(columns.map(([name, { type }]) => new Field(name, type, true)));
  const children = columns.map(([, data]) => data);
  const rows = makeData({ type: new Struct(schema.fields), length: t.index.length, nullCount: 0, children });
  return new Table(schema, [new RecordBatch(schema, rows)]);
}

type ColumnValues = Float64Array | Int32Array | Uint8Array | Coded | readonly string[];

/** `id` names the dictionary in a stream; each column has its own. */
function dataOf(values: ColumnValues, key: string, id: number): Data {
  if (values instanceof Float64Array) return float64(values);
  if (values instanceof Int32Array) return int32(values);
  if (values instanceof Uint8Array) {
    if (key !== 'ending') throw new TypeError(`${key} has no Arrow type`);
    return dictionary({ codes: Int32Array.from(values), values: ENDINGS }, id);
  }
  return 'codes' in values ? dictionary(values, id) : utf8(values);
}

function float64(data: Float64Array): Data {
  return makeData({ type: new Float64(), data, ...nulls(data, Number.isNaN) });
}

function float32(data: Float32Array): Data {
  return makeData({ type: new Float32(), data, ...nulls(data, Number.isNaN) });
}

function int32(data: Int32Array): Data {
  return makeData({ type: new Int32(), data, ...nulls(data, isMinusOne) });
}

function dictionary({ codes, values }: Coded, id: number): Data {
  return makeData({
    type: new Dictionary(new Utf8(), new Int32(), id),
    data: codes,
    dictionary: new Vector([utf8(values)]),
    ...nulls(codes, isMinusOne),
  });
}

function utf8(values: readonly string[]): Data<Utf8> {
  const bytes = values.map((text) => Buffer.from(text));
  const valueOffsets = new Int32Array(values.length + 1);
  for (let i = 0; i < bytes.length; i++) valueOffsets[i + 1] = valueOffsets[i]! + bytes[i]!.length;
  return makeData({
    type: new Utf8(),
    length: values.length,
    nullCount: 0,
    valueOffsets,
    data: Buffer.concat(bytes),
  });
}

/**
 * Lists without any value get offsets of their own: apache-arrow 21 writes two equal byte ranges that
 * follow each other in a stream as one.
 */
function listOf(offsets: Int32Array, child: Data): Data {
  const valueOffsets = child.length === 0 ? offsets.slice() : offsets;
  const type = new List(new Field('item', child.type, true));
  return makeData({ type, length: valueOffsets.length - 1, nullCount: 0, valueOffsets, child });
}

const isMinusOne = (x: number): boolean => x === -1;

/** Bit i is set where value i is there. */
function nulls(
  values: Float64Array | Float32Array | Int32Array,
  isNull: (x: number) => boolean,
): { nullCount: number; nullBitmap?: Uint8Array } {
  const nullBitmap = new Uint8Array((values.length + 7) >> 3);
  let nullCount = 0;
  for (let i = 0; i < values.length; i++)
    if (isNull(values[i]!)) nullCount++;
    else nullBitmap[i >> 3] = nullBitmap[i >> 3]! | (1 << (i & 7));
  return nullCount === 0 ? { nullCount } : { nullCount, nullBitmap };
}
