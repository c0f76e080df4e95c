/*
 * Protocol buffers, the writing half: a message is its fields one after the other, each a key (field number and wire
 * type) and a value. https://protobuf.dev/programming-guides/encoding
 *
 * A part keeps its chunks apart until the end, so that weights inside a message inside a message are copied once.
 */
export interface Part {
  readonly size: number;
  readonly chunks: readonly Uint8Array[];
}

const [VARINT, LENGTH, FIXED32] = [0, 2, 5] as const;
const encoder = new TextEncoder();

/** A whole number (int32, int64, enum); negative ones take ten bytes, as the format has it. */
export function int(field: number, value: number): Part {
  return part([...varint((field << 3) | VARINT), ...varint(value)]);
}

export function float(field: number, value: number): Part {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return part([...varint((field << 3) | FIXED32), ...bytes]);
}

export const text = (field: number, value: string): Part => bytes(field, encoder.encode(value));

/** Whole numbers side by side in one field. */
export const packed = (field: number, values: readonly number[]): Part =>
  bytes(field, Uint8Array.from(values.flatMap(varint)));

export const bytes = (field: number, value: Uint8Array): Part =>
  message(field, [{ size: value.byteLength, chunks: [value] }]);

/** A message in a field of another. */
export function message(field: number, parts: readonly Part[]): Part {
  const size = parts.reduce((total, p) => total + p.size, 0);
  const head = Uint8Array.from([...varint((field << 3) | LENGTH), ...varint(size)]);
  return { size: head.length + size, chunks: [head, ...parts.flatMap((p) => p.chunks)] };
}

/** The bytes of a message. */
export function encode(parts: readonly Part[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((total, p) => total + p.size, 0));
  let at = 0;
  for (const { chunks } of parts)
    for (const chunk of chunks) {
      out.set(chunk, at);
      at += chunk.byteLength;
    }
  return out;
}

function part(values: readonly number[]): Part {
  return { size: values.length, chunks: [Uint8Array.from(values)] };
}

function varint(value: number): number[] {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return out;
}
