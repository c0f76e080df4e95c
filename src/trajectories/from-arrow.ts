import { type Data, DataType, Precision, type Table, Type, Vector } from 'apache-arrow';
import { ENDINGS } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import { EPISODE_COLUMNS, FEATURES, TOKEN_COLUMNS, TURN_COLUMNS } from './arrow-columns.ts';
import { coded, coder, internText } from './coder.ts';
import { wholeIndex } from './columns.ts';
import type {
  Coded,
  EpisodeColumns,
  Ragged,
  TokenColumns,
  Trajectories,
  TurnColumns,
} from './trajectories.ts';

/**
 * Trajectories from an Arrow table laid out as `trajectoriesToArrow` does, in one batch or several,
 * whole or sliced. Numbers without nulls in a single batch are not copied.
 *
 * @throws a failure naming the column that is missing, of another type, or of other lengths
 */
export function trajectoriesFromArrow(table: Table): Trajectories {
  const episodes: Record<string, unknown> = {};
  for (const { key, name, kind } of EPISODE_COLUMNS) episodes[key] = READ[kind](columnOf(table, name), name);
  const turns: Record<string, unknown> = {};
  let episodeOffsets: Int32Array | null = null;
  for (const { key, name, kind } of TURN_COLUMNS) {
    const list = flatten(columnOf(table, name), name);
    episodeOffsets = sameOffsets(episodeOffsets, list.offsets, name);
    turns[key] = READ[kind](list.pieces, name);
  }
  return {
    index: wholeIndex(table.numRows),
    episodeOffsets: episodeOffsets!,
    episodes: episodes as unknown as EpisodeColumns,
    turns: turns as unknown as TurnColumns,
    features: table.getChild(FEATURES) === null ? null : readFeatures(table, episodeOffsets!),
    tokens: table.getChild(TOKEN_COLUMNS.tokenIds) === null ? null : readTokens(table),
  };
}

type Pieces = readonly Data[];

const READ = {
  float64: readFloat64,
  int32: readInt32,
  dictionary: readCoded,
  ending: readEnding,
  text: readText,
} as const;

function readFeatures(table: Table, episodeOffsets: Int32Array): Ragged {
  const turns = flatten(columnOf(table, FEATURES), FEATURES);
  sameOffsets(episodeOffsets, turns.offsets, FEATURES);
  const values = flatten(turns.pieces, FEATURES);
  return { offsets: values.offsets, values: readFloat64(values.pieces, FEATURES) };
}

function readTokens(table: Table): TokenColumns {
  let segmentOffsets: Int32Array | null = null;
  let tokenOffsets: Int32Array | null = null;
  const tokens = (name: string): Pieces => {
    const segments = flatten(columnOf(table, name), name);
    segmentOffsets = sameOffsets(segmentOffsets, segments.offsets, name);
    const values = flatten(segments.pieces, name);
    tokenOffsets = sameOffsets(tokenOffsets, values.offsets, name);
    return values.pieces;
  };
  const { tokenIds, actionMask, behaviourLogprobs, tokenTurn } = TOKEN_COLUMNS;
  const columns = {
    tokenIds: readInt32(tokens(tokenIds), tokenIds),
    actionMask: numbers(tokens(actionMask), actionMask, Uint8Array, 0, isUint8),
    behaviourLogprobs: numbers(
      tokens(behaviourLogprobs),
      behaviourLogprobs,
      Float32Array,
      Number.NaN,
      (type) => DataType.isFloat(type) && type.precision === Precision.SINGLE,
    ),
    tokenTurn: readInt32(tokens(tokenTurn), tokenTurn),
  };
  return { segmentOffsets: segmentOffsets!, tokenOffsets: tokenOffsets!, ...columns };
}

function readFloat64(pieces: Pieces, name: string): Float64Array {
  const fits = (type: DataType) => DataType.isFloat(type) && type.precision === Precision.DOUBLE;
  return numbers(pieces, name, Float64Array, Number.NaN, fits);
}

function readInt32(pieces: Pieces, name: string): Int32Array {
  const fits = (type: DataType) => DataType.isInt(type) && type.isSigned && type.bitWidth === 32;
  return numbers(pieces, name, Int32Array, -1, fits);
}

function numbers<A extends Float64Array | Float32Array | Int32Array | Uint8Array>(
  pieces: Pieces,
  name: string,
  Kind: new (n: number) => A,
  empty: number,
  fits: (type: DataType) => boolean,
): A {
  for (const { type } of pieces) if (!fits(type)) throw wrongType(name, `${type}`, Kind.name);
  const only = pieces[0];
  if (pieces.length === 1 && only!.nullCount === 0) return only!.values.subarray(0, only!.length) as A;
  const all = new Kind(lengthOf(pieces));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece.values.subarray(0, piece.length), at);
    if (piece.nullCount > 0)
      for (let i = 0; i < piece.length; i++) if (!piece.getValid(i)) all[at + i] = empty;
    at += piece.length;
  }
  return all;
}

/** Plain text is taken as well as a dictionary. Codes follow the dictionaries in order. */
function readCoded(pieces: Pieces, name: string): Coded {
  const all = coder(lengthOf(pieces));
  let at = 0;
  for (const piece of pieces) {
    const dictionary: Vector | undefined = piece.dictionary;
    const code = dictionary && Int32Array.from(dictionary, (text: string) => internText(all, text));
    const text = code === undefined ? readText([piece], name) : null;
    for (let i = 0; i < piece.length; i++, at++)
      if (piece.getValid(i))
        all.codes[at] = code === undefined ? internText(all, text![i]!) : code[piece.values[i]!]!;
  }
  return coded(all);
}

function readEnding(pieces: Pieces, name: string): Uint8Array {
  const { codes, values } = readCoded(pieces, name);
  const ending = values.map((text) => (ENDINGS as readonly string[]).indexOf(text));
  return Uint8Array.from(codes, (code) => {
    if (code < 0 || ending[code]! < 0)
      throw failure({
        subject: `Arrow column ${name}`,
        wrong: 'no such ending',
        got: values[code] ?? 'null',
        expected: ENDINGS.join(', '),
      });
    return ending[code]!;
  });
}

function readText(pieces: Pieces, name: string): string[] {
  return pieces.flatMap((piece) => {
    if (piece.typeId !== Type.Utf8 && piece.typeId !== Type.LargeUtf8)
      throw wrongType(name, `${piece.type}`, 'Utf8');
    return [...new Vector([piece])] as string[];
  });
}

/** Lists laid end to end, each piece cut to the values its rows hold. */
function flatten(lists: Pieces, name: string): { offsets: Int32Array; pieces: Data[] } {
  const offsets = new Int32Array(lengthOf(lists) + 1);
  const pieces: Data[] = [];
  let row = 0;
  for (const list of lists) {
    if (list.typeId !== Type.List) throw wrongType(name, `${list.type}`, 'List');
    const from = list.valueOffsets[0]! as number;
    const before = offsets[row]!;
    for (let i = 0; i < list.length; i++) offsets[++row] = before + list.valueOffsets[i + 1]! - from;
    const child = list.children[0]!;
    const n = offsets[row]! - before;
    pieces.push(from === 0 && n === child.length ? child : child.slice(from, n));
  }
  return { offsets, pieces };
}

function columnOf(table: Table, name: string): Pieces {
  const column = table.getChild(name);
  if (column !== null) return column.data;
  throw failure({
    subject: `Arrow column ${name}`,
    wrong: 'not in the table',
    got: table.schema.names.slice(0, 20).join(', '),
  });
}

function sameOffsets(before: Int32Array | null, offsets: Int32Array, name: string): Int32Array {
  if (before === null) return offsets;
  if (before.length === offsets.length && before.every((x, i) => x === offsets[i])) return before;
  throw failure({ subject: `Arrow column ${name}`, wrong: 'its lists are not as long as those beside it' });
}

const isUint8 = (type: DataType): boolean => DataType.isInt(type) && !type.isSigned && type.bitWidth === 8;

const lengthOf = (pieces: Pieces): number => pieces.reduce((n, { length }) => n + length, 0);

const wrongType = (name: string, got: string, expected: string) =>
  failure({ subject: `Arrow column ${name}`, wrong: 'of another type', got, expected });
