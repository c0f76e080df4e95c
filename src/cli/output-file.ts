import { lstatSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { failure } from '../schema/error.ts';

/**
 * Whether a file may be written: nothing is replaced without --force, and with it only a regular file
 * that is none of `inputs` (the store being read, a policy file), by whatever name.
 */
export function claimOutput(path: string, force: boolean, inputs: readonly string[] = []): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there) return;
  if (!force)
    throw failure({
      subject: path,
      wrong: 'is there already',
      fix: 'Pass --force to replace it, or another --out.',
      exitCode: 2,
    });
  const target = statSync(path, { throwIfNoEntry: false });
  if (!target?.isFile())
    throw failure({
      subject: path,
      wrong: 'is no regular file, and is not replaced',
      fix: 'Name another --out.',
      exitCode: 2,
    });
  for (const input of inputs)
    for (const name of [input, `${input}.wal`]) {
      const read = statSync(name, { throwIfNoEntry: false });
      if (read && read.dev === target.dev && read.ino === target.ino)
        throw failure({
          subject: path,
          wrong: `is ${name}, which is read here`,
          fix: 'Name another --out.',
          exitCode: 2,
        });
    }
}

/** Writes a file beside its place and moves it there: whole or not at all. */
export function writeWhole(path: string, text: string): void {
  const part = `${path}.part`;
  try {
    writeFileSync(part, text);
    renameSync(part, path);
  } catch (cause) {
    rmSync(part, { force: true });
    throw cannotWrite(path, cause);
  }
}

/** An error of the file system as a message that names the file; anything else as it is. */
export function cannotWrite(path: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  return code === undefined ? cause : failure({ subject: path, wrong: `cannot be written (${code})`, cause });
}
