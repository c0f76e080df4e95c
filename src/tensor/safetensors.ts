/*
 * Tensors in files: https://github.com/huggingface/safetensors#format. Opening reads the header alone; a tensor is
 * read by its place, so that a file may be larger than memory. Values are little-endian, as the machines are that
 * Node runs on.
 */
import { open } from 'node:fs/promises';
import { failure } from '../schema/error.ts';
import { writtenWhole } from '../store/whole-file.ts';
import { CHUNK, openFile, readRange } from './file-range.ts';
import { BYTES, headerLength, parseHeader, type SafeEntry, type SafeType } from './safetensors-header.ts';
import { narrow, type SafeValues, valuesOf } from './safetensors-values.ts';

export interface SafetensorsFile {
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** In the order of the header. */
  readonly entries: ReadonlyMap<string, SafeEntry>;
  /**
   * The values of one tensor. F16 and BF16 come as float32, which holds them exactly; I64 and F64 only where `as`
   * asks for int32 or float32: whole numbers that do not fit are refused, doubles are rounded.
   */
  read(name: string, as?: 'int32' | 'float32'): Promise<Float32Array | Int32Array | Uint8Array>;
  close(): Promise<void>;
}

/** A tensor to write; values that are not of its type already are narrowed (float32 to F16 and BF16). */
export interface SafeTensor {
  readonly dtype: SafeType;
  readonly shape: readonly number[];
  readonly values: SafeValues;
}

/** @throws where the file is not what its header says, naming the tensor, before any of them is read */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const length = headerLength(path, await readRange(path, file, 0, Math.min(8, size)), size);
    const { metadata, entries } = parseHeader(path, await readRange(path, file, 8, 8 + length), size);
    return {
      path,
      metadata,
      entries,
      async read(name, as) {
        const entry = entries.get(name);
        if (entry === undefined)
          throw failure({
            subject: path,
            wrong: 'no such tensor',
            got: JSON.stringify(name),
            expected: `one of its ${entries.size}`,
          });
        const bytes = await readRange(path, file, entry.begin, entry.end);
        return valuesOf(`${path}: tensor ${JSON.stringify(name)}`, entry.dtype, bytes, as);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Writes a file beside its place and moves it there: whole or not at all. The same tensors give the same bytes. */
export async function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, SafeTensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  // Wide types first, so that every value is aligned to its size in the file, as the format's own writer does.
  const sorted = Object.entries(tensors).sort(
    ([a, x], [b, y]) => BYTES[y.dtype] - BYTES[x.dtype] || (a < b ? -1 : 1),
  );
  const header: [string, unknown][] = Object.keys(metadata).length > 0 ? [['__metadata__', metadata]] : [];
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [name, { dtype, shape, values }] of sorted) {
    const subject = `tensor ${JSON.stringify(name)}`;
    if (name === '__metadata__') throw failure({ subject, wrong: 'is a name that the format keeps' });
    if (BYTES[dtype] === undefined || !ArrayBuffer.isView(values) || !Array.isArray(shape))
      throw failure({
        subject,
        wrong: 'is nothing that the format can hold',
        got: `dtype ${JSON.stringify(dtype)}, values ${ArrayBuffer.isView(values) ? values.constructor.name : typeof values}`,
        expected: `{ dtype: one of ${Object.keys(BYTES).join(', ')}, shape, values: a typed array }`,
        fix: 'Of a tensor the values are "await tensor.data()".',
      });
    const size = shape.reduce((n, d) => n * d, 1);
    if (size !== values.length)
      throw failure({
        subject,
        wrong: `does not hold the values of shape [${shape.join(', ')}]`,
        got: values.length,
        expected: `${size}`,
      });
    const bytes = narrow(subject, dtype, values);
    header.push([name, { dtype, shape, data_offsets: [at, at + bytes.length] }]);
    parts.push(bytes);
    at += bytes.length;
  }
  const json = Buffer.from(JSON.stringify(Object.fromEntries(header)));
  const padded = Buffer.alloc(Math.ceil(json.length / 8) * 8, ' ');
  json.copy(padded);
  const length = new BigUint64Array([BigInt(padded.length)]);
  await writeWhole(path, [new Uint8Array(length.buffer), padded, ...parts]);
}

async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
  try {
    await writtenWhole(path, async (part) => {
      const file = await open(part, 'wx');
      try {
        for (const bytes of parts)
          for (let at = 0; at < bytes.length; at += CHUNK)
            await file.writeFile(bytes.subarray(at, at + CHUNK));
      } finally {
        await file.close();
      }
    });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw failure({ subject: path, wrong: `cannot be written (${code})`, cause });
  }
}
