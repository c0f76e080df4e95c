import { type Data, makeData, type Vector } from 'apache-arrow';
import { unzstd } from '../zstd.ts';
import type { ArrowField } from './fields.ts';
import type { FlatTable } from './flatbuffer.ts';
import { unlz4 } from './lz4.ts';

/** What a dictionary batch brought, by its number. */
export type Dictionaries = ReadonlyMap<number, Vector>;

/** Bytes of a record batch once unpacked; a packed one that says more is a bomb. */
const MAX_UNPACKED = 2 ** 31;
/** A value of any column that is not null throughout takes at least a bit. */
const VALUES_A_BYTE = 8;

/**
 * The columns of a record batch, each held against the bytes that are there: lengths, places, offsets, numbers of
 * dictionary entries. Numbers are views of `body`, not copies, where they are aligned and not packed.
 * @throws errors naming the column
 */
export async function arrowColumns(
  fields: readonly ArrowField[],
  batch: FlatTable,
  body: Uint8Array,
  dictionaries: Dictionaries,
): Promise<Data[]> {
  const rows = batch.int64(0, 0);
  const nodes = batch.int64s(1, 2);
  const places = batch.int64s(2, 2);
  const variadic = batch.int64s(4);
  const buffers = await buffersOf(batch.table(3), places, body);
  const most = VALUES_A_BYTE * buffers.reduce((sum, b) => sum + b.length, 0) + 1024;
  if (rows < 0 || rows > most)
    throw new Error(`a record batch says it has ${rows} rows, more than its bytes can hold`);
  const cursor = { node: 0, buffer: 0, variadic: 0 };

  function column(field: ArrowField): Data {
    const { path, type, layout } = field;
    const wrong = (what: string) => new Error(`column ${path}: ${what}`);
    const length = nodes[2 * cursor.node];
    const nullCount = nodes[2 * cursor.node + 1];
    cursor.node++;
    if (length === undefined || nullCount === undefined) throw wrong('is not in a record batch');
    if (length < 0 || length > most)
      throw wrong(`says it has ${length} values, more than the bytes can hold`);
    if (nullCount < -1 || nullCount > length)
      throw wrong(`says that ${nullCount} of ${length} values are null`);
    if (layout.kind === 'null') return makeData({ type, length } as never);
    /** The next buffer, of at least `bytes` (none where there is no value). */
    const next = (bytes: number): Uint8Array => {
      const found = buffers[cursor.buffer++];
      if (!found) throw wrong('is not in a record batch');
      // Arrow JS leaves the values out where all are null.
      if (found.length < bytes && length > 0 && !(found.length === 0 && nullCount === length))
        throw wrong(`${length} values take ${bytes} bytes, got ${found.length}`);
      return found.length < bytes ? new Uint8Array(bytes) : found.subarray(0, bytes);
    };
    const rest = (): Uint8Array => {
      const found = buffers[cursor.buffer++];
      if (!found) throw wrong('is not in a record batch');
      return found;
    };
    const bitmap = rest();
    const nulls = nullCount !== 0 && bitmap.length > 0;
    if (nullCount > 0 && bitmap.length < Math.ceil(length / 8)) throw wrong('its nulls are cut');
    const common = { type, length, nullCount: nulls ? nullCount : 0, nullBitmap: nulls ? bitmap : undefined };
    const valid = (i: number) => !nulls || ((bitmap[i >> 3]! >> (i & 7)) & 1) === 1;

    if (field.dictionary) {
      const dictionary = dictionaries.get(field.dictionary.id);
      if (!dictionary) throw wrong(`its dictionary ${field.dictionary.id} is not there`);
      const data = makeData({
        ...common,
        data: next((length * (layout as { bits: number }).bits) / 8),
        dictionary,
      } as never) as Data;
      const entries = dictionary.length;
      for (let i = 0; i < length; i++) {
        const entry = Number(data.values[i]);
        if (valid(i) && (entry < 0 || entry >= entries))
          throw wrong(`entry ${entry} of a dictionary of ${entries}`);
      }
      return data;
    }
    const child = (at: number, least: number): Data => {
      const data = column(field.children[at]!);
      if (data.length < least) throw wrong(`${least} inner values expected, got ${data.length}`);
      return data;
    };
    switch (layout.kind) {
      case 'bool':
        return makeData({ ...common, data: next(Math.ceil(length / 8)) } as never);
      case 'fixed':
        return makeData({ ...common, data: next((length * layout.bits) / 8) } as never);
      case 'bytes': {
        const offsets = offsetsOf(next((length + 1) * layout.offset), layout.offset, wrong);
        const data = rest();
        if (offsets[length]! > data.length)
          throw wrong(`its text ends at byte ${offsets[length]} of ${data.length}`);
        return makeData({ ...common, valueOffsets: offsets, data } as never);
      }
      case 'view': {
        const views = next(16 * length);
        const count = variadic[cursor.variadic++] ?? -1;
        if (count < 0 || cursor.buffer + count > buffers.length) throw wrong('its views have no buffers');
        const texts = buffers.slice(cursor.buffer, cursor.buffer + count);
        cursor.buffer += count;
        return makeData({ ...common, ...unviewed(views, texts, length, valid, wrong) } as never);
      }
      case 'list': {
        const offsets = offsetsOf(next((length + 1) * layout.offset), layout.offset, wrong);
        return makeData({ ...common, valueOffsets: offsets, child: child(0, offsets[length]!) } as never);
      }
      case 'fixed-list':
        if (layout.size < 0) throw wrong(`is of lists of ${layout.size}`);
        return makeData({ ...common, child: child(0, length * layout.size) } as never);
      case 'struct':
        return makeData({ ...common, children: field.children.map((_, k) => child(k, length)) } as never);
    }
  }

  return fields.map((field) => {
    const data = column(field);
    if (data.length < rows)
      throw new Error(`column ${field.path}: has ${data.length} values in a batch of ${rows} rows`);
    return data;
  });
}

/** Every buffer of a body, unpacked and where typed arrays can lie on it. */
async function buffersOf(
  packing: FlatTable | undefined,
  places: readonly number[],
  body: Uint8Array,
): Promise<Uint8Array[]> {
  const buffers: Uint8Array[] = [];
  let unpacked = 0;
  for (let k = 0; k < places.length; k += 2) {
    const [from, length] = [places[k]!, places[k + 1]!];
    if (from < 0 || length < 0 || from + length > body.length)
      throw new Error(`a buffer lies at bytes ${from} to ${from + length} of a body of ${body.length}`);
    let bytes = body.subarray(from, from + length);
    if (packing && length > 0) {
      if (length < 8) throw new Error('a packed buffer is cut');
      const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true));
      bytes = bytes.subarray(8);
      if (size !== -1) {
        unpacked += size;
        if (size < 0 || unpacked > MAX_UNPACKED)
          throw new Error(`a record batch unpacks to more than ${MAX_UNPACKED} bytes: write smaller ones`);
        bytes = packing.byte(0, 0) === 1 ? await unpackedZstd(bytes, size) : lz4(bytes, size);
      }
    }
    buffers.push(bytes.byteOffset % 8 === 0 ? bytes : bytes.slice());
  }
  return buffers;
}

/** A byte of LZ4 unfolds to 255 at most. */
function lz4(bytes: Uint8Array, size: number): Uint8Array {
  if (size > 255 * bytes.length) throw new Error('a packed buffer says it is longer than it can be');
  return unlz4(bytes, size);
}

async function unpackedZstd(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of unzstd(once(bytes))) {
    parts.push(part);
    length += part.length;
    if (length > size) break;
  }
  if (length !== size) throw new Error('a packed buffer is not as long as it says');
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type Wrong = (what: string) => Error;

/** Offsets that do not fall and start at 0 or later, as 32-bit integers. */
function offsetsOf(bytes: Uint8Array, width: 4 | 8, wrong: Wrong): Int32Array {
  const offsets = wholeNumbers(bytes, width, wrong);
  for (let i = 0; i + 1 < offsets.length; i++)
    if (offsets[i]! < 0 || offsets[i + 1]! < offsets[i]!)
      throw wrong(`its offsets fall, got ${offsets[i + 1]} after ${offsets[i]}`);
  return offsets;
}

function wholeNumbers(bytes: Uint8Array, width: 4 | 8, wrong: Wrong): Int32Array {
  if (width === 4) return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const long = new BigInt64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
  const out = new Int32Array(long.length);
  for (let i = 0; i < long.length; i++) {
    const value = Number(long[i]!);
    if (value > 0x7fffffff || value < 0)
      throw wrong(`lies beyond 2 GiB of its record batch, got offset ${value}`);
    out[i] = value;
  }
  return out;
}

/** Texts as views (12 bytes in the view itself, longer ones in a buffer beside it), laid one after the other. */
function unviewed(
  views: Uint8Array,
  texts: readonly Uint8Array[],
  length: number,
  valid: (i: number) => boolean,
  wrong: Wrong,
): { readonly valueOffsets: Int32Array; readonly data: Uint8Array } {
  const words = new Int32Array(views.buffer, views.byteOffset, 4 * length);
  const valueOffsets = new Int32Array(length + 1);
  let total = 0;
  for (let i = 0; i < length; i++) {
    const size = valid(i) ? words[4 * i]! : 0;
    const text = texts[words[4 * i + 2]!];
    const from = words[4 * i + 3]!;
    if (size < 0 || (size > 12 && (!text || from < 0 || from + size > text.length)))
      throw wrong(`a view lies outside its buffers, at value ${i}`);
    total += size;
    if (total > 0x7fffffff)
      throw wrong('a record batch holds more than 2 GiB of its text: write smaller ones');
    valueOffsets[i + 1] = total;
  }
  const data = new Uint8Array(total);
  for (let i = 0; i < length; i++) {
    const at = valueOffsets[i]!;
    const size = valueOffsets[i + 1]! - at;
    if (size > 12) {
      const from = words[4 * i + 3]!;
      data.set(texts[words[4 * i + 2]!]!.subarray(from, from + size), at);
    } else data.set(views.subarray(16 * i + 4, 16 * i + 4 + size), at);
  }
  return { valueOffsets, data };
}
