import {
  Bool,
  type Data,
  type DataType,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  TimestampMicrosecond,
  Utf8,
} from 'apache-arrow';
import type { ColumnData } from './batch.ts';
import { int64Words } from './write-vector.ts';

/** The Arrow type of a column; `type` is the engine's name, which tells a time from a number. */
export function arrowType(column: ColumnData, type: string): DataType {
  switch (column.kind) {
    case 'f64':
      return new Float64();
    case 'f32':
      return new Float32();
    case 'i32':
      return new Int32();
    case 'i64':
      return type.startsWith('TIMESTAMP') ? new TimestampMicrosecond() : new Int64();
    case 'bool':
      return new Bool();
    case 'text':
      return new Utf8();
    case 'list':
      return new List(new Field('item', arrowType(column.child, type.replace(/\[\]$/, '')), true));
  }
}

/**
 * Rows `from` to `to` of a column as Arrow data. Float64, Float32, Int32 and list offsets from row 0 are wrapped, not
 * copied; 64-bit integers, booleans (bits in Arrow) and text (UTF-8 in Arrow) are converted.
 */
export function arrowData(column: ColumnData, type: DataType, from: number, to: number): Data {
  const length = to - from;
  const nulls = nullBits(column, from, to);
  switch (column.kind) {
    case 'f64':
    case 'f32':
    case 'i32':
      return makeData({ type: type as Float64, length, data: column.values.subarray(from, to), ...nulls });
    case 'i64':
      return makeData({
        type: type as Int64,
        length,
        data: new BigInt64Array(int64Words(column.values, from, to).buffer),
        ...nulls,
      });
    case 'bool':
      return makeData({
        type: type as Bool,
        length,
        data: bits(length, (i) => column.values[from + i] !== 0),
        ...nulls,
      });
    case 'text':
      return makeData({ type: type as Utf8, length, ...utf8(column.values, from, to), ...nulls });
    case 'list': {
      const { offsets } = column;
      const first = length === 0 ? 0 : offsets[from]!;
      const last = length === 0 ? 0 : offsets[to]!;
      const child = arrowData(column.child, (type as List).children[0]!.type, first, last);
      return makeData({
        type: type as List,
        length,
        valueOffsets: rebased(offsets, from, to),
        child,
        ...nulls,
      });
    }
  }
}

function rebased(offsets: Int32Array, from: number, to: number): Int32Array {
  if (from === to) return new Int32Array(1);
  const slice = offsets.subarray(from, to + 1);
  const first = slice[0]!;
  return first === 0 ? slice : slice.map((o) => o - first);
}

function nullBits(
  column: ColumnData,
  from: number,
  to: number,
): { nullCount: number; nullBitmap?: Uint8Array } {
  const isNull =
    column.kind === 'text'
      ? (i: number) => column.values[from + i] == null
      : column.valid && ((i: number) => column.valid![from + i] === 0);
  let nullCount = 0;
  if (isNull) for (let i = 0; i < to - from; i++) if (isNull(i)) nullCount++;
  return nullCount === 0 ? { nullCount } : { nullCount, nullBitmap: bits(to - from, (i) => !isNull!(i)) };
}

function bits(n: number, isSet: (i: number) => boolean): Uint8Array {
  const out = new Uint8Array(8 * Math.ceil(n / 64));
  for (let i = 0; i < n; i++) if (isSet(i)) out[i >> 3]! |= 1 << (i & 7);
  return out;
}

function utf8(values: readonly (string | null)[], from: number, to: number) {
  const valueOffsets = new Int32Array(to - from + 1);
  for (let i = from; i < to; i++)
    valueOffsets[i - from + 1] = valueOffsets[i - from]! + (values[i] ? Buffer.byteLength(values[i]!) : 0);
  const data = Buffer.allocUnsafe(valueOffsets[to - from]!);
  for (let i = from; i < to; i++) if (values[i]) data.write(values[i]!, valueOffsets[i - from]!);
  return { valueOffsets, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}
