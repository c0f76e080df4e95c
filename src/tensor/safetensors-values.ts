import { failure } from '../schema/error.ts';
import { fromBfloat16, fromFloat16, toBfloat16, toFloat16 } from './half.ts';
import type { SafeType } from './safetensors-header.ts';

export type SafeValues =
  | Float32Array
  | Float64Array
  | Int32Array
  | Int16Array
  | Int8Array
  | Uint8Array
  | BigInt64Array;

/** The bytes of a tensor as values for the types that tensors have here. */
export function valuesOf(
  subject: string,
  dtype: SafeType,
  { buffer, byteOffset, byteLength }: Uint8Array,
  as?: 'int32' | 'float32',
): Float32Array | Int32Array | Uint8Array {
  const values = view(dtype, buffer as ArrayBuffer, byteOffset, byteLength);
  const own = OWN[dtype];
  if (own !== as && as !== undefined && !CONVERTED[dtype]?.includes(as))
    throw failure({ subject, wrong: `${dtype} is not read as ${as}`, expected: own ?? CONVERTED[dtype]![0] });
  if (own === undefined && as === undefined)
    throw failure({
      subject,
      wrong: `${dtype} is wider than tensors are`,
      fix: `Ask for it as ${CONVERTED[dtype]![0]}.`,
    });
  if (dtype === 'F16') return Float32Array.from(values as Uint16Array, fromFloat16);
  if (dtype === 'BF16') return Float32Array.from(values as Uint16Array, fromBfloat16);
  if (dtype === 'F64') return Float32Array.from(values as Float64Array);
  if (dtype === 'I64') return wholeNumbers(subject, values as BigInt64Array);
  if (dtype === 'I16' || dtype === 'I8') return Int32Array.from(values as Int16Array);
  if (dtype === 'BOOL') checkMask(subject, values as Uint8Array);
  return values as Float32Array | Int32Array | Uint8Array;
}

/** What comes of each type without asking; those left out are read only where another type is asked for. */
const OWN: Readonly<Partial<Record<SafeType, string>>> = {
  F32: 'float32',
  F16: 'float32',
  BF16: 'float32',
  I32: 'int32',
  I16: 'int32',
  I8: 'int32',
  U8: 'bytes',
  BOOL: 'bytes',
};
const CONVERTED: Readonly<Partial<Record<SafeType, readonly string[]>>> = {
  F64: ['float32'],
  I64: ['int32'],
};

function view(dtype: SafeType, buffer: ArrayBuffer, at: number, bytes: number) {
  if (dtype === 'F64') return new Float64Array(buffer, at, bytes / 8);
  if (dtype === 'I64') return new BigInt64Array(buffer, at, bytes / 8);
  if (dtype === 'F32') return new Float32Array(buffer, at, bytes / 4);
  if (dtype === 'I32') return new Int32Array(buffer, at, bytes / 4);
  if (dtype === 'F16' || dtype === 'BF16') return new Uint16Array(buffer, at, bytes / 2);
  if (dtype === 'I16') return new Int16Array(buffer, at, bytes / 2);
  return dtype === 'I8' ? new Int8Array(buffer, at, bytes) : new Uint8Array(buffer, at, bytes);
}

function wholeNumbers(subject: string, values: BigInt64Array): Int32Array {
  const out = new Int32Array(values.length);
  for (let k = 0; k < values.length; k++) {
    out[k] = Number(values[k]!);
    if (BigInt(out[k]!) !== values[k])
      throw failure({ subject, wrong: `value ${k} does not fit int32`, got: `${values[k]}` });
  }
  return out;
}

function checkMask(subject: string, values: Uint8Array): void {
  const wrong = values.findIndex((x) => x > 1);
  if (wrong >= 0)
    throw failure({ subject, wrong: `value ${wrong} is no BOOL`, got: values[wrong]!, expected: '0 or 1' });
}

/** The arrays that each type is written from. */
const SOURCE = {
  F64: Float64Array,
  I64: BigInt64Array,
  F32: Float32Array,
  I32: Int32Array,
  F16: Float32Array,
  BF16: Float32Array,
  I16: Int16Array,
  I8: Int8Array,
  U8: Uint8Array,
  BOOL: Uint8Array,
} as const;

/** Values as the bytes of a type. */
export function narrow(subject: string, dtype: SafeType, values: SafeValues): Uint8Array {
  if (!(values instanceof SOURCE[dtype]))
    throw failure({
      subject,
      wrong: `cannot be written as ${dtype}`,
      got: values.constructor.name,
      expected: SOURCE[dtype].name,
    });
  if (dtype === 'BOOL') checkMask(subject, values as Uint8Array);
  if (dtype !== 'F16' && dtype !== 'BF16')
    return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const out = new Uint16Array(values.length);
  const [to, infinity] = dtype === 'F16' ? [toFloat16, 0x7c00] : [toBfloat16, 0x7f80];
  for (let k = 0; k < out.length; k++) {
    const x = (values as Float32Array)[k]!;
    out[k] = to(x);
    if ((out[k]! & 0x7fff) === infinity && Number.isFinite(x))
      throw failure({ subject, wrong: `value ${k} is too large for ${dtype}`, got: x });
  }
  return new Uint8Array(out.buffer);
}
