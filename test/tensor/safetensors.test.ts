import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSafetensors, writeSafetensors } from '../../src/tensor/safetensors.ts';

let folder: string;
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-safetensors-'));
  path = join(folder, 'a.safetensors');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file of these bytes: the length, the header as it is, the data. */
function plant(header: string | object, data: readonly number[] = [], length?: number | bigint): void {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(length ?? json.length));
  writeFileSync(path, Buffer.concat([size, json, Buffer.from(data)]));
}

const refusal = async (): Promise<string> => {
  try {
    const file = await openSafetensors(path);
    await file.close();
    return 'opened';
  } catch (error) {
    return (error as Error).message.replaceAll(path, 'FILE');
  }
};
const entry = (dtype: string, shape: unknown, from: number, to: number) => ({
  dtype,
  shape,
  data_offsets: [from, to],
});

test('bytes written by hand are read: every type, no alignment asked for', async () => {
  plant(
    {
      __metadata__: { made: 'by hand' },
      mask: entry('BOOL', [3], 0, 3),
      f32: entry('F32', [1, 2], 3, 11),
      f16: entry('F16', [2], 11, 15),
      bf16: entry('BF16', [2], 15, 19),
      i32: entry('I32', [2], 19, 27),
      i64: entry('I64', [1], 27, 35),
      f64: entry('F64', [], 35, 43),
      u8: entry('U8', [2], 43, 45),
      i8: entry('I8', [1], 45, 46),
      i16: entry('I16', [1], 46, 48),
      empty: entry('F32', [0, 4], 48, 48),
    },
    [
      ...[1, 0, 1],
      ...[0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc1], // 1, −10
      ...[0x00, 0x3c, 0x01, 0x00], // 1, 2⁻²⁴
      ...[0x80, 0x3f, 0x40, 0xc0], // 1, −3
      ...[0xff, 0xff, 0xff, 0xff, 0, 1, 0, 0], // −1, 256
      ...[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // −2
      ...[0, 0, 0, 0, 0, 0, 0xf8, 0x3f], // 1.5
      ...[7, 255],
      0x80,
      ...[0x00, 0x80],
    ],
  );
  const file = await openSafetensors(path);
  expect(file.metadata).toEqual({ made: 'by hand' });
  expect([...file.entries.keys()].slice(0, 2)).toEqual(['mask', 'f32']);
  expect(file.entries.get('f32')!.shape).toEqual([1, 2]);
  expect(await file.read('mask')).toEqual(Uint8Array.of(1, 0, 1));
  expect(await file.read('f32')).toEqual(Float32Array.of(1, -10));
  expect(await file.read('f16')).toEqual(Float32Array.of(1, 2 ** -24));
  expect(await file.read('bf16')).toEqual(Float32Array.of(1, -3));
  expect(await file.read('i32')).toEqual(Int32Array.of(-1, 256));
  expect(await file.read('i64', 'int32')).toEqual(Int32Array.of(-2));
  expect(await file.read('f64', 'float32')).toEqual(Float32Array.of(1.5));
  expect(await file.read('u8')).toEqual(Uint8Array.of(7, 255));
  expect(await file.read('i8')).toEqual(Int32Array.of(-128));
  expect(await file.read('i16')).toEqual(Int32Array.of(-32768));
  expect(await file.read('empty')).toEqual(new Float32Array(0));
  await expect(file.read('i64')).rejects.toThrow(/"i64": I64 is wider than tensors are. Ask for it as int32/);
  await expect(file.read('f64')).rejects.toThrow(/F64 is wider than tensors are. Ask for it as float32/);
  await expect(file.read('i64', 'float32')).rejects.toThrow(/I64 is not read as float32, expected int32/);
  await expect(file.read('f32', 'int32')).rejects.toThrow(/F32 is not read as int32, expected float32/);
  await expect(file.read('gone')).rejects.toThrow(/no such tensor, got "gone", expected one of its 11/);
  await file.close();
});

test('a whole number that does not fit int32, a BOOL of 2: refused, with its place', async () => {
  plant({ a: entry('I64', [2], 0, 16) }, [...Array(8).fill(0), 0, 0, 0, 0x80, 0, 0, 0, 0]);
  let file = await openSafetensors(path);
  await expect(file.read('a', 'int32')).rejects.toThrow(/"a": value 1 does not fit int32, got 2147483648/);
  await file.close();
  plant({ a: entry('BOOL', [2], 0, 2) }, [1, 2]);
  file = await openSafetensors(path);
  await expect(file.read('a')).rejects.toThrow(/"a": value 1 is no BOOL, got 2, expected 0 or 1/);
  await file.close();
});

const F4 = [0, 0, 0, 0];
const LIES: readonly [what: string, header: string | object, data: readonly number[], message: RegExp][] = [
  ['outside the file', { a: entry('F32', [2], 0, 8) }, F4, /"a": lies outside the file.*byte \d+, expected/],
  [
    'overlapping',
    { a: entry('F32', [1], 0, 4), b: entry('F32', [1], 2, 6) },
    [...F4, 0, 0],
    /"b": overlaps tensor "a", got a start at byte \d+, expected \d+/,
  ],
  [
    'the same place twice',
    { a: entry('F32', [1], 0, 4), b: entry('F32', [1], 0, 4) },
    F4,
    /"b": overlaps tensor "a"/,
  ],
  ['a gap before', { a: entry('U8', [1], 1, 2) }, [0, 0], /"a": leaves a gap after the header/],
  [
    'a gap between',
    { b: entry('U8', [1], 2, 3), a: entry('U8', [1], 0, 1) },
    [0, 0, 0],
    /"b": leaves a gap after tensor "a"/,
  ],
  [
    'bytes left over',
    { a: entry('U8', [1], 0, 1) },
    [0, 0],
    /FILE: ends with bytes that belong to no tensor/,
  ],
  [
    'a type there is not',
    { a: entry('F8', [4], 0, 4) },
    F4,
    /"a": no such dtype, got "F8", expected one of F64/,
  ],
  ['a type of the prototype', { a: entry('toString', [4], 0, 4) }, F4, /"a": no such dtype/],
  [
    'another size',
    { a: entry('F32', [2], 0, 4) },
    F4,
    /"a": .* do not fit F32 of shape \[2\], got 4 bytes, expected 8/,
  ],
  [
    'another type',
    { a: entry('F16', [1], 0, 4) },
    F4,
    /"a": .* do not fit F16 of shape \[1\], got 4 bytes, expected 2/,
  ],
  [
    'a shape beyond all numbers',
    { a: entry('F32', [9e15, 9e15], 0, 4) },
    F4,
    /"a": data_offsets do not fit F32/,
  ],
  ['a negative dimension', { a: entry('F32', [-1, -1], 0, 4) }, F4, /"a": the shape is not a list of whole/],
  ['half a dimension', { a: entry('F32', [0.5], 0, 2) }, F4, /"a": the shape is not a list of whole/],
  ['no shape', { a: { dtype: 'F32', data_offsets: [0, 4] } }, F4, /"a": the shape is not a list .*got none/],
  [
    'offsets the wrong way',
    { a: entry('F32', [1], 4, 0) },
    F4,
    /"a": data_offsets are not two .*got \[4,0\]/,
  ],
  ['a negative offset', { a: entry('F32', [1], -4, 0) }, F4, /"a": data_offsets are not two whole numbers/],
  ['one offset', { a: { dtype: 'F32', shape: [1], data_offsets: [4] } }, F4, /"a": data_offsets are not two/],
  ['no entry', { a: null }, F4, /"a": no such dtype, got none/],
  ['no JSON', '{"a": ', [], /FILE: the header is not JSON/],
  ['no object', '[1, 2]', [], /FILE: the header is no JSON object, got \[1, 2\]/],
  [
    'metadata that is no text',
    { __metadata__: { a: 1 } },
    [],
    /FILE: __metadata__ does not map text to text/,
  ],
  [
    'a name twice',
    '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\\u0061":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}',
    [0, 0],
    /FILE: the header names "a" twice/,
  ],
  [
    'two shapes',
    '{"a":{"dtype":"U8","shape":[1],"shape":[2],"data_offsets":[0,2]}}',
    [0, 0],
    /FILE: the header names "shape" twice/,
  ],
];

test.each(LIES)('a lying header: %s', async (_what, header, data, message) => {
  plant(header, data);
  expect(await refusal()).toMatch(message);
});

test('a header that is not text, longer than the file, or beyond the limit; a file too short for one', async () => {
  plant('{}', [], 3);
  expect(await refusal()).toMatch(
    /FILE: the header is longer than the file.*got 3 bytes, expected at most 2/,
  );
  plant('{}', [], 100_000_001);
  expect(await refusal()).toMatch(/the header is too long.*got 100000001 bytes, expected at most 100000000/);
  plant('{}', [], 2n ** 64n - 1n);
  expect(await refusal()).toMatch(/the header is too long.*got 18446744073709551615 bytes/);
  plant('', [0x7b, 0xff, 0x7d], 3);
  expect(await refusal()).toMatch(/FILE: the header is not UTF-8/);
  writeFileSync(path, Buffer.alloc(7));
  expect(await refusal()).toMatch(/FILE: is too short for safetensors, got 7 bytes, expected at least 8/);
  writeFileSync(path, Buffer.alloc(0));
  expect(await refusal()).toMatch(/got 0 bytes/);
  await expect(openSafetensors(join(folder, 'gone'))).rejects.toThrow(/gone: does not exist/);
  await expect(openSafetensors(folder)).rejects.toThrow(/is no regular file/);
});

test('keys inside text do not count twice, and an empty file of tensors is one', async () => {
  plant(
    '{"__metadata__":{"a":"x\\",\\"k\\":\\"y","b":"{"},"\\"a\\"":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}',
    [5],
  );
  const file = await openSafetensors(path);
  expect(await file.read('"a"')).toEqual(Uint8Array.of(5));
  await file.close();
  plant('{}   ');
  expect(await refusal()).toBe('opened');
});

test('what is written: byte for byte', async () => {
  await writeSafetensors(
    path,
    {
      mask: { dtype: 'BOOL', shape: [2], values: Uint8Array.of(1, 0) },
      b: { dtype: 'BF16', shape: [1], values: Float32Array.of(-3) },
      z: { dtype: 'F32', shape: [1, 1], values: Float32Array.of(1) },
    },
    { step: '3' },
  );
  const header =
    '{"__metadata__":{"step":"3"},"z":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},' +
    '"b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]},' +
    '"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[6,8]}}';
  const length = Math.ceil(header.length / 8) * 8;
  const bytes = readFileSync(path);
  expect(bytes.readBigUInt64LE(0)).toBe(BigInt(length));
  expect(bytes.subarray(8, 8 + length).toString()).toBe(header.padEnd(length, ' '));
  expect([...bytes.subarray(8 + length)]).toEqual([0, 0, 0x80, 0x3f, 0x40, 0xc0, 1, 0]);
  expect(readdirSync(folder)).toEqual(['a.safetensors']);
});

test('what is written is read back, names of any kind among them', async () => {
  const names = ['10', '9', '__proto__', 'ü\n"', '', 'constructor'];
  const tensors = Object.fromEntries(
    names.map((name, k) => [name, { dtype: 'I32', shape: [2], values: Int32Array.of(k, -k) } as const]),
  );
  await writeSafetensors(path, tensors);
  const file = await openSafetensors(path);
  expect(new Set(file.entries.keys())).toEqual(new Set(names));
  for (const [k, name] of names.entries()) expect(await file.read(name)).toEqual(Int32Array.of(k, -k));
  await file.close();
});

test('what cannot be written is refused by its name, and the file before it stays', async () => {
  await writeSafetensors(path, {});
  const before = readFileSync(path);
  const write = (
    dtype: 'F16' | 'BF16' | 'F32' | 'BOOL',
    shape: number[],
    values: Float32Array | Uint8Array,
  ) => writeSafetensors(path, { a: { dtype, shape, values } });
  await expect(write('F32', [3], new Float32Array(2))).rejects.toThrow(
    /tensor "a": does not hold the values of shape \[3\], got 2, expected 3/,
  );
  await expect(write('F32', [1], new Uint8Array(1))).rejects.toThrow(
    /cannot be written as F32, got Uint8Array, expected Float32Array/,
  );
  await expect(write('F16', [2], Float32Array.of(1, 1e5))).rejects.toThrow(
    /value 1 is too large for F16, got 100000/,
  );
  await expect(write('BF16', [1], Float32Array.of(-3.4e38))).rejects.toThrow(/too large for BF16/);
  await expect(write('BOOL', [1], Uint8Array.of(2))).rejects.toThrow(/value 0 is no BOOL, got 2/);
  await expect(
    writeSafetensors(path, { __metadata__: { dtype: 'U8', shape: [0], values: new Uint8Array(0) } }),
  ).rejects.toThrow(/is a name that the format keeps/);
  await expect(writeSafetensors(join(folder, 'no', 'a'), {})).rejects.toThrow(
    /no\/a: cannot be written \(ENOENT\)/,
  );
  const halfway = { dtype: 'float32', shape: [1], values: Float32Array.of(1) };
  await expect(writeSafetensors(path, { a: halfway as never })).rejects.toThrow(
    /tensor "a": is nothing that the format can hold, got dtype "float32", values Float32Array, expected \{ dtype: one of /,
  );
  await expect(
    writeSafetensors(path, { a: { dtype: 'F32', shape: [1], values: [1] as never } }),
  ).rejects.toThrow(/got dtype "F32", values object.*Of a tensor the values are "await tensor.data\(\)"/);
  mkdirSync(join(folder, 'taken'));
  await expect(writeSafetensors(join(folder, 'taken'), {})).rejects.toThrow(/taken: cannot be written \(E/);
  rmdirSync(join(folder, 'taken'));
  expect(readFileSync(path)).toEqual(before);
  expect(readdirSync(folder)).toEqual(['a.safetensors']);
});

test('a file that shrinks after it was opened is refused when it is read', async () => {
  plant({ a: entry('U8', [4], 0, 4) }, F4);
  const file = await openSafetensors(path);
  truncateSync(path, readFileSync(path).length - 2);
  await expect(file.read('a')).rejects.toThrow(/has become shorter since it was opened/);
  await file.close();
});

test('a tensor is read by its place: the others are not touched', async () => {
  // A hole of 3 GiB that takes no disk; reading it whole would exceed what one buffer holds.
  const size = 3 * 2 ** 30;
  plant({ big: entry('U8', [size], 0, size), last: entry('U8', [2], size, size + 2) });
  const header = readFileSync(path).length;
  truncateSync(path, header + size + 2);
  const file = await openSafetensors(path);
  const before = process.memoryUsage.rss();
  expect(await file.read('last')).toEqual(Uint8Array.of(0, 0));
  expect(process.memoryUsage.rss() - before).toBeLessThan(100e6);
  await file.close();
});
