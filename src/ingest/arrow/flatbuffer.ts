/** A table of a FlatBuffer, read by the number of its fields; an absent field is its default. */
export interface FlatTable {
  byte(field: number, absent: number): number;
  int16(field: number, absent: number): number;
  int32(field: number, absent: number): number;
  /** @throws a RangeError beyond 2^53 */
  int64(field: number, absent: number): number;
  text(field: number): string;
  table(field: number): FlatTable | undefined;
  tables(field: number): readonly FlatTable[];
  /** 64-bit integers that lie in a row: a vector of them, or of structs that are `words` of them each. */
  int64s(field: number, words?: number): readonly number[];
  /** A vector of structs { int64, int32, int64 }: where messages lie in a file. */
  blocks(field: number): readonly (readonly [offset: number, head: number, body: number])[];
}

/**
 * The root table of a FlatBuffer (https://flatbuffers.dev/internals). Every place is held against the bytes.
 * @throws RangeErrors where something lies outside them
 */
export function flatRoot(bytes: Uint8Array): FlatTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return flatTable(view, view.getUint32(0, true));
}

function flatTable(view: DataView, at: number): FlatTable {
  const vtable = at - view.getInt32(at, true);
  const vtableBytes = view.getUint16(vtable, true);
  /** Where a field lies, or 0. */
  const place = (field: number): number => {
    const slot = 4 + 2 * field;
    if (slot + 2 > vtableBytes) return 0;
    const offset = view.getUint16(vtable + slot, true);
    return offset === 0 ? 0 : at + offset;
  };
  const target = (field: number): number => {
    const from = place(field);
    return from === 0 ? 0 : from + view.getUint32(from, true);
  };
  /** First element and length of a vector whose elements take `size` bytes. */
  const vector = (field: number, size: number): readonly [start: number, length: number] => {
    const from = target(field);
    if (from === 0) return [0, 0];
    const length = view.getUint32(from, true);
    if (from + 4 + length * size > view.byteLength)
      throw new RangeError('a vector ends outside the metadata');
    return [from + 4, length];
  };
  return {
    byte: (field, absent) => (place(field) === 0 ? absent : view.getUint8(place(field))),
    int16: (field, absent) => (place(field) === 0 ? absent : view.getInt16(place(field), true)),
    int32: (field, absent) => (place(field) === 0 ? absent : view.getInt32(place(field), true)),
    int64: (field, absent) => (place(field) === 0 ? absent : safe(view.getBigInt64(place(field), true))),
    text(field) {
      const [start, length] = vector(field, 1);
      return Buffer.from(view.buffer, view.byteOffset + start, length).toString('utf8');
    },
    table: (field) => (target(field) === 0 ? undefined : flatTable(view, target(field))),
    tables(field) {
      const [start, length] = vector(field, 4);
      return Array.from({ length }, (_, i) => {
        const from = start + 4 * i;
        return flatTable(view, from + view.getUint32(from, true));
      });
    },
    int64s(field, words = 1) {
      const [start, length] = vector(field, 8 * words);
      return Array.from({ length: length * words }, (_, i) => safe(view.getBigInt64(start + 8 * i, true)));
    },
    blocks(field) {
      const [start, length] = vector(field, 24);
      return Array.from({ length }, (_, i) => {
        const at = start + 24 * i;
        const long = (from: number) => safe(view.getBigInt64(from, true));
        return [long(at), view.getInt32(at + 8, true), long(at + 16)] as const;
      });
    },
  };
}

function safe(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw new RangeError(`a number of the metadata is beyond 2^53, got ${value}`);
  return number;
}
