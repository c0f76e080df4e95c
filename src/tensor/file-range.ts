import { type FileHandle, open, stat } from 'node:fs/promises';
import { failure } from '../schema/error.ts';

/** One read or write takes less than 2 GiB. */
export const CHUNK = 2 ** 30;

/** The bytes of a file from `begin` up to `end`. */
export async function readRange(
  path: string,
  file: FileHandle,
  begin: number,
  end: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - begin);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(CHUNK, bytes.length - at), begin + at);
    if (bytesRead === 0)
      throw failure({
        subject: path,
        wrong: 'has become shorter since it was opened',
        got: `an end at byte ${begin + at}`,
        expected: `${end}`,
      });
    at += bytesRead;
  }
  return bytes;
}

/** Opens a regular file to read: opening a pipe would wait for its other end. */
export async function openFile(path: string): Promise<FileHandle> {
  try {
    if ((await stat(path)).isFile()) return await open(path, 'r');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const wrong = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw failure({ subject: path, wrong, cause });
  }
  throw failure({ subject: path, wrong: 'is no regular file' });
}
