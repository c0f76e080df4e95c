/*
 * A tensor that stays in its file: where its bytes lie, and what the file was when that was written down. ONNX Runtime
 * maps the bytes into memory, where a file that is cut short ends the process and one that is written to changes the
 * weights: the file is looked at before each use.
 */
import { type Stats, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { failure } from '../schema/error.ts';
import { openFile, readRange } from './file-range.ts';
import { BYTES, type SafeEntry } from './safetensors-header.ts';
import { valuesOf } from './safetensors-values.ts';

/** What can stay in a file, and what tensors make of it. */
const DTYPES = { F32: 'float32', F16: 'float32', BF16: 'float32', I32: 'int32' } as const;

export interface FilePlace {
  /** Absolute, links followed. */
  readonly path: string;
  readonly dtype: keyof typeof DTYPES;
  readonly begin: number;
  readonly end: number;
  /** Of the file: equal as long as nobody writes to it or puts another in its place. */
  readonly version: string;
}

export const dtypeIn = ({ dtype }: FilePlace): 'float32' | 'int32' => DTYPES[dtype];

/** @throws where the bytes do not fit the shape, or are not in the file */
export async function placeIn(given: string, { dtype, shape, begin, end }: SafeEntry): Promise<FilePlace> {
  const file = await openFile(given);
  const subject = shown({ path: given, begin, end });
  try {
    if (!Object.hasOwn(DTYPES, dtype))
      throw failure({
        subject,
        wrong: 'cannot be frozen in their file',
        got: dtype,
        expected: `one of ${Object.keys(DTYPES).join(', ')}`,
        fix: 'Read them, make a tensor, and freeze that.',
      });
    if (![...shape, begin, end].every((n) => Number.isSafeInteger(n) && n >= 0))
      throw failure({
        subject,
        wrong: 'shape and place are not whole numbers',
        got: `[${shape.join(', ')}]`,
      });
    const bytes = shape.reduce((n, d) => n * d, BYTES[dtype]);
    if (bytes !== end - begin)
      throw failure({
        subject,
        wrong: `do not fit ${dtype} of shape [${shape.join(', ')}]`,
        got: `${end - begin} bytes`,
        expected: `${bytes}`,
      });
    const found = await file.stat();
    if (found.size < end)
      throw failure({
        subject,
        wrong: 'lie outside the file: truncated, or a wrong offset',
        got: `a file of ${found.size} bytes`,
      });
    const own = dtype as FilePlace['dtype'];
    return { path: await realpath(given), dtype: own, begin, end, version: versionOf(found) };
  } finally {
    await file.close();
  }
}

/** @throws where the file is not there any more, or not what it was */
export function checkPlace(place: FilePlace): void {
  const subject = shown(place);
  let found: Stats;
  try {
    found = statSync(place.path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const wrong =
      code === 'ENOENT' ? 'the file does not exist any more' : `the file cannot be read (${code})`;
    throw failure({ subject, wrong, cause });
  }
  if (found.size < place.end)
    throw failure({
      subject,
      wrong: 'the file has become shorter since they were frozen',
      got: `${found.size} bytes`,
      expected: `at least ${place.end}`,
    });
  if (versionOf(found) !== place.version)
    throw failure({
      subject,
      wrong: 'the file has changed since they were frozen',
      fix: 'Dispose what is frozen of it and freeze it again.',
    });
}

/** Its bytes as they lie in the file. */
export async function readPlace(place: FilePlace): Promise<Uint8Array> {
  checkPlace(place);
  const file = await openFile(place.path);
  try {
    return await readRange(place.path, file, place.begin, place.end);
  } finally {
    await file.close();
  }
}

/** Its values as tensors hold them. */
export async function placeValues(place: FilePlace): Promise<Float32Array | Int32Array> {
  const bytes = await readPlace(place);
  return valuesOf(shown(place), place.dtype, bytes) as Float32Array | Int32Array;
}

const versionOf = ({ dev, ino, size, mtimeMs }: Stats): string => `${dev} ${ino} ${size} ${mtimeMs}`;
const shown = ({ path, begin, end }: Pick<FilePlace, 'path' | 'begin' | 'end'>): string =>
  `${path}: bytes ${begin} to ${end}`;
