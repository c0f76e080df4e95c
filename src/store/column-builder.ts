import { DuckDBTypeId } from 'duckdb';
import { failure } from '../schema/error.ts';
import type { ColumnData } from './batch.ts';
import { textReader } from './text-vector.ts';
import { listChild, type Vector, vectorBytes, vectorMask } from './vectors.ts';

/** Collects a column out of the engine's chunks. */
export interface ColumnBuilder {
  /**
   * Copies the `rows` rows of a vector, or those that `pick` names; how many list values or characters
   * beside the rows that were.
   */
  append(vector: Vector, rows: number, pick?: Int32Array): number;
  /** What was collected; the builder starts anew. */
  take(): ColumnData;
}

type Numbers = Float64Array | Float32Array | Int32Array | Uint8Array;

/** The part of a result column's type that decides how it is read. */
export interface ReadType {
  readonly typeId: number;
  readonly valueType?: ReadType | undefined;
}

const { BOOLEAN, TINYINT, SMALLINT, INTEGER, UTINYINT, USMALLINT, UINTEGER, BIGINT, UBIGINT } = DuckDBTypeId;
const { TIMESTAMP, TIMESTAMP_TZ, FLOAT, DOUBLE, VARCHAR, LIST } = DuckDBTypeId;

/** The reader of a result column, or undefined where its type must be cast in SQL first. */
export function columnBuilder(name: string, type: ReadType): ColumnBuilder | undefined {
  const as = <T extends Numbers>(kind: NumberKind, make: (n: number) => T, width: number, copy: Copy<T>) =>
    numberBuilder(kind, make, width, copy);
  switch (type.typeId) {
    case DOUBLE:
      return as(
        'f64',
        (n) => new Float64Array(n),
        8,
        (out, at, b, n) => out.set(new Float64Array(b.buffer, b.byteOffset, n), at),
      );
    case FLOAT:
      return as(
        'f32',
        (n) => new Float32Array(n),
        4,
        (out, at, b, n) => out.set(new Float32Array(b.buffer, b.byteOffset, n), at),
      );
    case INTEGER:
      return as(
        'i32',
        (n) => new Int32Array(n),
        4,
        (out, at, b, n) => out.set(new Int32Array(b.buffer, b.byteOffset, n), at),
      );
    case SMALLINT:
      return as(
        'i32',
        (n) => new Int32Array(n),
        2,
        (out, at, b, n) => out.set(new Int16Array(b.buffer, b.byteOffset, n), at),
      );
    case USMALLINT:
      return as(
        'i32',
        (n) => new Int32Array(n),
        2,
        (out, at, b, n) => out.set(new Uint16Array(b.buffer, b.byteOffset, n), at),
      );
    case TINYINT:
      return as(
        'i32',
        (n) => new Int32Array(n),
        1,
        (out, at, b, n) => out.set(new Int8Array(b.buffer, b.byteOffset, n), at),
      );
    case UTINYINT:
      return as(
        'i32',
        (n) => new Int32Array(n),
        1,
        (out, at, b) => out.set(b, at),
      );
    case BOOLEAN:
      return as(
        'bool',
        (n) => new Uint8Array(n),
        1,
        (out, at, b) => out.set(b, at),
      );
    case UINTEGER:
      return as(
        'i64',
        (n) => new Float64Array(n),
        4,
        (out, at, b, n) => out.set(new Uint32Array(b.buffer, b.byteOffset, n), at),
      );
    case BIGINT:
    case UBIGINT:
    case TIMESTAMP:
    case TIMESTAMP_TZ:
      return as('i64', (n) => new Float64Array(n), 8, copyInt64(name));
    case VARCHAR:
      return textBuilder();
    case LIST: {
      const child = type.valueType && columnBuilder(name, type.valueType);
      return child && listBuilder(child);
    }
    default:
      return undefined;
  }
}

type NumberKind = 'f64' | 'f32' | 'i32' | 'i64' | 'bool';
type Copy<T> = (out: T, at: number, bytes: Uint8Array, rows: number, mask: Uint8Array | null) => void;

/** A null reads NaN in 'f64' and 'f32', 0 elsewhere. */
function numberBuilder<T extends Numbers>(
  kind: NumberKind,
  make: (n: number) => T,
  width: number,
  copy: Copy<T>,
): ColumnBuilder {
  let values = make(0);
  let rows = 0;
  const nulls = nullsBuilder();
  const hole = kind === 'f64' || kind === 'f32' ? Number.NaN : 0;
  return {
    append(vector, n, pick) {
      const count = pick ? pick.length : n;
      if (count === 0) return 0;
      values = grown(values, rows + count, rows, make);
      const mask = vectorMask(vector, n);
      const bytes = vectorBytes(vector, n * width);
      if (!pick) copy(values, rows, bytes, n, mask);
      else {
        const all = make(n);
        copy(all, 0, bytes, n, mask);
        for (let j = 0; j < count; j++) values[rows + j] = all[pick[j]!]!;
      }
      nulls.append(mask, count, pick, (j) => {
        values[rows + j] = hole;
      });
      rows += count;
      return 0;
    },
    take() {
      const column = { kind, values: values.subarray(0, rows), valid: nulls.take() } as ColumnData;
      values = make(0);
      rows = 0;
      return column;
    },
  };
}

/** Room for `need` values, the first `used` kept; doubling, so that a value is copied O(1) times. */
function grown<T extends Numbers>(values: T, need: number, used: number, make: (n: number) => T): T {
  if (need <= values.length) return values;
  const wider = make(Math.max(need, 2 * values.length));
  wider.set(values.subarray(0, used) as never);
  return wider;
}

/** Without a BigInt a value; beyond 2^53 a double would round, so that is refused. */
function copyInt64(name: string): Copy<Float64Array> {
  return (out, at, bytes, n, mask) => {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, 2 * n);
    for (let i = 0; i < n; i++) {
      const high = words[2 * i + 1]!;
      if ((high < -0x200000 || high >= 0x200000) && !(mask && !isSet(mask, i)))
        throw failure({
          subject: `column ${name}`,
          wrong: 'holds a whole number beyond 2^53',
          fix: 'Cast it to VARCHAR or DOUBLE in the query.',
        });
      out[at + i] = high * 2 ** 32 + (words[2 * i]! >>> 0);
    }
  };
}

function textBuilder(): ColumnBuilder {
  let values: (string | null)[] = [];
  const reader = textReader();
  return {
    append(vector, n, pick) {
      if (n === 0) return 0;
      const mask = vectorMask(vector, n);
      return reader.read(vector, n, (i) => mask !== null && !isSet(mask, i), pick, values);
    },
    take() {
      const column: ColumnData = { kind: 'text', values };
      values = [];
      return column;
    },
  };
}

function listBuilder(child: ColumnBuilder): ColumnBuilder {
  let offsets = new Int32Array(1);
  let rows = 0;
  const nulls = nullsBuilder();
  return {
    append(vector, n, pick) {
      const count = pick ? pick.length : n;
      if (count === 0) return 0;
      offsets = grown(offsets, rows + count + 1, rows + 1, (k) => new Int32Array(k));
      const bytes = vectorBytes(vector, 16 * n);
      const entries = new Uint32Array(bytes.buffer, bytes.byteOffset, 4 * n);
      const mask = vectorMask(vector, n);
      const first = offsets[rows]!;
      let contiguous = true;
      let at = 0;
      for (let j = 0; j < count; j++) {
        const i = pick ? pick[j]! : j;
        const length = mask && !isSet(mask, i) ? 0 : entries[4 * i + 2]!;
        contiguous &&= length === 0 || entries[4 * i] === at;
        at += length;
        offsets[rows + j + 1] = first + at;
      }
      // After a filter or for a constant the lists lie apart, in any order, or on top of each other.
      const wanted = contiguous
        ? undefined
        : listRows(entries, offsets.subarray(rows, rows + count + 1), pick);
      nulls.append(mask, count, pick, () => undefined);
      rows += count;
      const { child: values, size } = listChild(vector);
      return at + child.append(values, contiguous ? at : size, wanted);
    },
    take() {
      const column: ColumnData = {
        kind: 'list',
        offsets: offsets.subarray(0, rows + 1),
        child: child.take(),
        valid: nulls.take(),
      };
      offsets = new Int32Array(1);
      rows = 0;
      return column;
    },
  };
}

/** The child rows of lists, one after the other. */
function listRows(entries: Uint32Array, offsets: Int32Array, pick: Int32Array | undefined): Int32Array {
  const first = offsets[0]!;
  const wanted = new Int32Array(offsets[offsets.length - 1]! - first);
  for (let j = 0; j + 1 < offsets.length; j++) {
    const start = entries[4 * (pick ? pick[j]! : j)]!;
    for (let k = offsets[j]! - first, at = 0; k < offsets[j + 1]! - first; k++, at++) wanted[k] = start + at;
  }
  return wanted;
}

/** `valid` of a column, made at its first null. */
function nullsBuilder() {
  let valid: Uint8Array | undefined;
  let rows = 0;
  return {
    append(mask: Uint8Array | null, n: number, pick: Int32Array | undefined, clear: (j: number) => void) {
      for (let j = 0; mask && j < n; j++) {
        if (isSet(mask, pick ? pick[j]! : j)) continue;
        if (!valid || valid.length < rows + n) valid = widened(valid ?? new Uint8Array(0), rows + n);
        valid[rows + j] = 0;
        clear(j);
      }
      rows += n;
    },
    take(): Uint8Array | undefined {
      const taken = valid && (valid.length < rows ? widened(valid, rows) : valid).subarray(0, rows);
      valid = undefined;
      rows = 0;
      return taken;
    },
  };
}

function widened(valid: Uint8Array, need: number): Uint8Array {
  const wider = new Uint8Array(Math.max(need, 2 * valid.length)).fill(1);
  wider.set(valid);
  return wider;
}

function isSet(mask: Uint8Array, i: number): boolean {
  return (mask[i >> 3]! & (1 << (i & 7))) !== 0;
}
