/*
 * The header of a safetensors file: 8 bytes, its length (unsigned, little-endian); then JSON, of every tensor its
 * type, shape and place among the bytes that follow; `__metadata__` maps text to text. The tensors lie side by side
 * without gap or overlap and fill the file. https://github.com/huggingface/safetensors#format
 *
 * A file comes from anywhere: whatever it claims is checked against its size before a byte of a tensor is read.
 */
import { repeatedKey } from '../json/repeated-key.ts';
import { failure } from '../schema/error.ts';

/** Bytes of a value, by the name the format gives its type. */
export const BYTES = {
  F64: 8,
  I64: 8,
  F32: 4,
  I32: 4,
  F16: 2,
  BF16: 2,
  I16: 2,
  I8: 1,
  U8: 1,
  BOOL: 1,
} as const;
export type SafeType = keyof typeof BYTES;

export interface SafeEntry {
  readonly dtype: SafeType;
  readonly shape: readonly number[];
  /** Its bytes in the file: from `begin` up to `end`. */
  readonly begin: number;
  readonly end: number;
}

export interface SafeHeader {
  readonly metadata: Readonly<Record<string, string>>;
  readonly entries: ReadonlyMap<string, SafeEntry>;
}

/** The format's own limit: a header that claims more is not one. */
export const LONGEST_HEADER = 100_000_000;

/** The length of the header, from the first 8 bytes of a file of `size` bytes. */
export function headerLength(path: string, first: Uint8Array, size: number): number {
  if (first.length < 8)
    throw failure({
      subject: path,
      wrong: 'is too short for safetensors',
      got: `${first.length} bytes`,
      expected: 'at least 8',
    });
  const length = new DataView(first.buffer, first.byteOffset, 8).getBigUint64(0, true);
  if (length > LONGEST_HEADER)
    throw failure({
      subject: path,
      wrong: 'the header is too long: no safetensors file, or a damaged one',
      got: `${length} bytes`,
      expected: `at most ${LONGEST_HEADER}`,
    });
  if (Number(length) > size - 8)
    throw failure({
      subject: path,
      wrong: 'the header is longer than the file: truncated, or no safetensors file',
      got: `${length} bytes`,
      expected: `at most ${size - 8}`,
    });
  return Number(length);
}

/** Reads the header of a file of `size` bytes. O(header + tensors log tensors). */
export function parseHeader(path: string, header: Uint8Array, size: number): SafeHeader {
  const text = decode(path, header);
  const json = parse(path, text);
  const start = 8 + header.length;
  const entries = new Map<string, SafeEntry>();
  let metadata: Readonly<Record<string, string>> = {};
  for (const [name, value] of Object.entries(json))
    if (name === '__metadata__') metadata = readMetadata(path, value);
    else entries.set(name, readEntry(`${path}: tensor ${JSON.stringify(name)}`, value, start));
  checkPlaces(path, entries, start, size);
  return { metadata, entries };
}

function decode(path: string, header: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(header);
  } catch (cause) {
    throw failure({ subject: path, wrong: 'the header is not UTF-8', cause });
  }
}

function parse(path: string, text: string): object {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw failure({ subject: path, wrong: `the header is not JSON: ${(cause as Error).message}`, cause });
  }
  if (!isRecord(json))
    throw failure({ subject: path, wrong: 'the header is no JSON object', got: text.slice(0, 20) });
  const twice = repeatedKey(text);
  if (twice !== null)
    throw failure({ subject: path, wrong: `the header names ${JSON.stringify(twice)} twice` });
  return json;
}

function readMetadata(path: string, value: unknown): Readonly<Record<string, string>> {
  if (isRecord(value) && Object.values(value).every((text) => typeof text === 'string'))
    return value as Record<string, string>;
  throw failure({ subject: path, wrong: '__metadata__ does not map text to text' });
}

function readEntry(subject: string, value: unknown, start: number): SafeEntry {
  const { dtype, shape, data_offsets: offsets } = (isRecord(value) ? value : {}) as Record<string, unknown>;
  if (typeof dtype !== 'string' || !Object.hasOwn(BYTES, dtype))
    throw failure({
      subject,
      wrong: 'no such dtype',
      got: shown(dtype),
      expected: `one of ${Object.keys(BYTES).join(', ')}`,
    });
  if (!Array.isArray(shape) || !shape.every(isCount))
    throw failure({
      subject,
      wrong: 'the shape is not a list of whole numbers',
      got: shown(shape),
    });
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount) || offsets[0] > offsets[1])
    throw failure({
      subject,
      wrong: 'data_offsets are not two whole numbers in order',
      got: shown(offsets),
    });
  const [begin, end] = offsets as [number, number];
  const bytes = shape.reduce((n: number, d: number) => n * d, BYTES[dtype as SafeType]);
  if (bytes !== end - begin)
    throw failure({
      subject,
      wrong: `data_offsets do not fit ${dtype} of shape [${shape.join(', ')}]`,
      got: `${end - begin} bytes`,
      expected: `${bytes}`,
    });
  return { dtype: dtype as SafeType, shape: shape as number[], begin: start + begin, end: start + end };
}

/** Side by side, from the end of the header to the end of the file. */
function checkPlaces(path: string, entries: ReadonlyMap<string, SafeEntry>, start: number, size: number) {
  const inOrder = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let [at, before] = [start, 'the header'];
  for (const [name, { begin, end }] of inOrder) {
    const subject = `${path}: tensor ${JSON.stringify(name)}`;
    if (end > size)
      throw failure({
        subject,
        wrong: 'lies outside the file: truncated, or a wrong header',
        got: `an end at byte ${end}`,
        expected: `at most ${size}`,
      });
    if (begin !== at)
      throw failure({
        subject,
        wrong: begin < at ? `overlaps ${before}` : `leaves a gap after ${before}`,
        got: `a start at byte ${begin}`,
        expected: `${at}`,
      });
    [at, before] = [end, `tensor ${JSON.stringify(name)}`];
  }
  if (at !== size)
    throw failure({
      subject: path,
      wrong: 'ends with bytes that belong to no tensor',
      got: `${size} bytes`,
      expected: `${at}`,
    });
}

const isRecord = (x: unknown): x is object => typeof x === 'object' && x !== null && !Array.isArray(x);
const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;
const shown = (x: unknown): string => JSON.stringify(x) ?? 'none';
