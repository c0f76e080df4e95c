import { lstatSync, type Stats, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { failure, TurnwiseError } from '../schema/error.ts';
import { refuseInput, writtenWhole } from '../store/whole-file.ts';

/**
 * Whether a file may be written: nothing is replaced without --force, and with it only a regular file
 * that is none of `inputs` (the store being read, a policy file), by whatever name.
 */
export function claimOutput(path: string, force: boolean, inputs: readonly string[] = []): void {
  if (!found(path, lstatSync)) {
    refuseInput(path, inputs);
    return;
  }
  if (!force)
    throw failure({
      subject: path,
      wrong: 'is there already',
      fix: 'Pass --force to replace it, or another --out.',
      exitCode: 2,
    });
  if (!found(path, statSync)?.isFile())
    throw failure({
      subject: path,
      wrong: 'is no regular file, and is not replaced',
      fix: 'Name another --out.',
      exitCode: 2,
    });
  refuseInput(path, inputs);
}

function found(path: string, look: (path: string, options: { throwIfNoEntry: false }) => Stats | undefined) {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw cannotWrite(path, cause);
  }
}

/** Writes a file, whole or not at all; without `force`, only where nothing has the name. */
export async function writeWhole(
  path: string,
  text: string,
  force: boolean,
  inputs: readonly string[] = [],
): Promise<void> {
  try {
    await writtenWhole(path, (part) => writeFile(part, text), { replace: force, inputs });
  } catch (cause) {
    throw cannotWrite(path, cause);
  }
}

const FIXES: Readonly<Record<string, string>> = {
  ENOENT: 'Its folder does not exist: make it, or name another.',
  ENOTDIR: 'A folder on the way to it is a file: name another.',
  EACCES: 'Check who owns the folder.',
  EROFS: 'The disk is mounted to read only.',
  ENOSPC: 'The disk is full.',
};

/** An error of the file system as a message that names the file; anything else as it is. */
export function cannotWrite(path: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (cause instanceof TurnwiseError || code === undefined) return cause;
  return failure({ subject: path, wrong: `cannot be written (${code})`, fix: FIXES[code], cause });
}
