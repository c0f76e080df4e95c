import { isUtf8 } from 'node:buffer';
import { type Data, DataType, DateUnit, type Decimal, type Timestamp, TimeUnit } from 'apache-arrow';
import { failure } from '../../schema/error.ts';
import { RecordError } from '../log-format.ts';
import { clockText, dateText, decimalText, numberOf, timeText } from '../table-values.ts';

/** Value `i` of a column as JSON has it; undefined: null. */
export type ValueReader = (i: number) => unknown;

const PER_SECOND = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1_000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
} as const;

/**
 * How the values of a column are read. A null in a struct or a map is absent; in a list it keeps its place.
 * @throws a failure naming the column where its type has no counterpart in JSON
 */
export function valueReader(data: Data, path: string): ValueReader {
  const read = presentReader(data, path);
  return data.nullCount === 0 ? read : (i) => (data.getValid(i) ? read(i) : undefined);
}

/** The text of whole numbers and decimals, digit for digit: for ids. Undefined: the column holds neither. */
export function digitsReader(data: Data): ValueReader | undefined {
  const { type } = data;
  const digits = DataType.isInt(type)
    ? (i: number) => String(data.values[i])
    : DataType.isDecimal(type)
      ? (i: number) => decimalText(unscaled(data, i), (type as Decimal).scale)
      : undefined;
  return digits && ((i) => (data.getValid(i) ? digits(i) : undefined));
}

function presentReader(data: Data, path: string): ValueReader {
  const { type, values, valueOffsets, children } = data;
  if (DataType.isNull(type)) return () => undefined;
  if (DataType.isUtf8(type) || DataType.isBinary(type)) return textReader(data, path);
  if (DataType.isBool(type)) return (i) => ((values[i >> 3]! >> (i & 7)) & 1) === 1;
  if (DataType.isInt(type))
    return type.bitWidth === 64 ? (i) => wholeNumber(values[i] as bigint) : (i) => values[i];
  if (DataType.isFloat(type))
    return type.precision === 0 ? (i) => halfFloat(values[i] as number) : (i) => values[i];
  if (DataType.isDecimal(type))
    return (i) => numberOf(decimalText(unscaled(data, i), (type as Decimal).scale));
  if (DataType.isTimestamp(type)) {
    const { unit, timezone } = type as Timestamp;
    return (i) => timeText(values[i] as bigint, PER_SECOND[unit], Boolean(timezone), path);
  }
  if (DataType.isDate(type)) {
    const days = type.unit === DateUnit.DAY ? 1 : 86_400_000;
    return (i) => dateText(Math.floor(Number(values[i]) / days), path);
  }
  if (DataType.isTime(type)) return (i) => clockText(BigInt(values[i]), PER_SECOND[type.unit as TimeUnit]);
  if (DataType.isDictionary(type)) {
    const readers = data.dictionary!.data.map((chunk) => valueReader(chunk, path));
    const starts = startsOf(data.dictionary!.data);
    return (i) => {
      const entry = Number(values[i]);
      let chunk = readers.length - 1;
      while (starts[chunk]! > entry) chunk--;
      return readers[chunk]!(entry - starts[chunk]!);
    };
  }
  if (DataType.isList(type)) {
    const child = valueReader(children[0]!, `${path}[]`);
    return (i) => listed(child, valueOffsets[i]!, valueOffsets[i + 1]!);
  }
  if (DataType.isFixedSizeList(type)) {
    const child = valueReader(children[0]!, `${path}[]`);
    const { listSize } = type;
    return (i) => listed(child, i * listSize, (i + 1) * listSize);
  }
  if (DataType.isStruct(type)) {
    const fields = type.children.map(
      (f, k) => [f.name, valueReader(children[k]!, `${path}.${f.name}`)] as const,
    );
    return (i) => present(fields.map(([name, read]) => [name, read(i)]));
  }
  if (DataType.isMap(type)) {
    const [keys, entries] = children[0]!.children.map((child) => valueReader(child, path));
    return (i) => {
      const pairs: [string, unknown][] = [];
      for (let k = valueOffsets[i]!; k < valueOffsets[i + 1]!; k++)
        pairs.push([String(keys!(k)), entries!(k)]);
      return present(pairs);
    };
  }
  throw failure({
    subject: `column ${path}`,
    wrong: `is of Arrow type ${type}, which is no text, number, time, list or struct`,
    fix: 'Leave it out, or write it as one of these.',
  });
}

function present(pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

function listed(child: ValueReader, from: number, to: number): unknown[] {
  return Array.from({ length: to - from }, (_, k) => child(from + k) ?? null);
}

/** Bytes that are UTF-8 are text, whether the column says text or binary; others are refused. */
function textReader({ values, valueOffsets }: Data, path: string): ValueReader {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return (i) => {
    const [from, to] = [valueOffsets[i]!, valueOffsets[i + 1]!];
    const text = bytes.toString('utf8', from, to);
    if (text.includes('\ufffd') && !isUtf8(bytes.subarray(from, to)))
      throw new RecordError(`${path}: is no text: not valid UTF-8`);
    return text;
  };
}

function wholeNumber(value: bigint): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : numberOf(String(value));
}

/** Little-endian, in two's complement. */
function unscaled({ type, values }: Data, i: number): bigint {
  const bytes = (type as Decimal).bitWidth / 8;
  const view = new DataView(values.buffer, values.byteOffset + i * bytes, bytes);
  let value = 0n;
  for (let at = bytes - 4; at >= 0; at -= 4) value = (value << 32n) | BigInt(view.getUint32(at, true));
  return BigInt.asIntN(8 * bytes, value);
}

/** IEEE 754 half precision from its bits. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function startsOf(chunks: readonly Data[]): number[] {
  let at = 0;
  return chunks.map(({ length }) => (at += length) - length);
}
