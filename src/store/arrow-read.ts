import { isUtf8 } from 'node:buffer';
import { type Data, DataType, type Timestamp, TimeUnit, Vector } from 'apache-arrow';
import { failure } from '../schema/error.ts';
import type { ColumnData } from './batch.ts';

/**
 * One chunk of an Arrow column as column data. Float64, Float32 and Int32 without nulls are not copied; narrower
 * integers, 64-bit integers, times (any unit that is whole microseconds), booleans, text (plain or dictionary-encoded)
 * and lists are converted.
 * @throws a failure naming the column where its type has no counterpart
 */
export function columnFromArrow(name: string, data: Data): ColumnData {
  const { type, length } = data;
  const valid = validBytes(data);
  if (DataType.isFloat(type)) {
    const values = data.values as Float64Array | Float32Array;
    if (values instanceof Float64Array) return { kind: 'f64', values: values.subarray(0, length), valid };
    if (values instanceof Float32Array) return { kind: 'f32', values: values.subarray(0, length), valid };
  }
  if (DataType.isInt(type)) {
    const values = data.values as Int32Array | Uint32Array | BigInt64Array | BigUint64Array;
    if (values instanceof BigInt64Array || values instanceof BigUint64Array)
      return { kind: 'i64', values: doubles(name, values, length, 1, valid), valid };
    if (values instanceof Uint32Array)
      return { kind: 'i64', values: Float64Array.from(values.subarray(0, length)), valid };
    if (values instanceof Int32Array) return { kind: 'i32', values: values.subarray(0, length), valid };
    return { kind: 'i32', values: Int32Array.from((values as Int32Array).subarray(0, length)), valid };
  }
  if (DataType.isTimestamp(type))
    return {
      kind: 'i64',
      values: doubles(name, data.values as BigInt64Array, length, microseconds(type as Timestamp), valid),
      valid,
    };
  if (DataType.isBool(type)) {
    const values = new Uint8Array(length);
    for (let i = 0; i < length; i++) {
      const at = data.offset + i;
      values[i] = (data.values[at >> 3]! >> (at & 7)) & 1;
    }
    return { kind: 'bool', values, valid };
  }
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isDictionary(type)) {
    if (!holdsText(data))
      throw failure({ subject: `column ${name}`, wrong: 'holds text that is not valid UTF-8' });
    const vector = new Vector([data]);
    const values = Array.from({ length }, (_, i) => vector.get(i) as string | null);
    if (values.every((v) => v === null || typeof v === 'string')) return { kind: 'text', values };
  }
  if (DataType.isList(type)) {
    const offsets = (data.valueOffsets as Int32Array).subarray(0, length + 1);
    const child = columnFromArrow(name, data.children[0]!);
    return { kind: 'list', offsets: offsets.length > 0 ? offsets : new Int32Array(1), child, valid };
  }
  throw failure({
    subject: `column ${name}`,
    wrong: 'is of an Arrow type that is not read',
    got: String(type),
  });
}

function holdsText({ type, values, valueOffsets, length, dictionary }: Data): boolean {
  if (DataType.isDictionary(type)) return dictionary!.data.every(holdsText);
  if (!DataType.isUtf8(type) || length === 0) return true;
  return isUtf8((values as Uint8Array).subarray(valueOffsets[0], valueOffsets[length]));
}

function validBytes(data: Data): Uint8Array | undefined {
  if (data.nullCount === 0) return undefined;
  return Uint8Array.from({ length: data.length }, (_, i) => (data.getValid(i) ? 1 : 0));
}

/** Microseconds a unit; of nanoseconds, the reciprocal. */
function microseconds(type: Timestamp): number {
  return {
    [TimeUnit.SECOND]: 1e6,
    [TimeUnit.MILLISECOND]: 1e3,
    [TimeUnit.MICROSECOND]: 1,
    [TimeUnit.NANOSECOND]: 1e-3,
  }[type.unit as TimeUnit];
}

function doubles(
  name: string,
  values: BigInt64Array | BigUint64Array,
  length: number,
  scale: number,
  valid: Uint8Array | undefined,
): Float64Array {
  const out = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    if (valid && valid[i] === 0) continue;
    const whole = scale < 1 ? Number(values[i]!) / 1000 : Number(values[i]!) * scale;
    if (!Number.isSafeInteger(whole))
      throw failure({
        subject: `column ${name}`,
        wrong: scale === 1 ? 'is beyond 2^53' : 'is not whole microseconds below 2^53',
        got: String(values[i]),
      });
    out[i] = whole;
  }
  return out;
}
