import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What removes that which is being written; an interrupted program calls it. */
const unfinished = new Set<() => void>();

/** Where the files of a folder are written until they are whole; where it is left, they are not. */
export const UNFINISHED_FOLDER = 'export.part';

/** Runs `body`; where it fails, or the program is interrupted meanwhile, `undo` takes back what it wrote. */
export async function undoneUnlessWhole<T>(undo: () => void, body: () => Promise<T>): Promise<T> {
  unfinished.add(undo);
  try {
    return await body();
  } catch (error) {
    undo();
    throw error;
  } finally {
    unfinished.delete(undo);
  }
}

/** Removes what is being written; for a program that is interrupted, and ends. */
export function removeUnfinished(): void {
  for (const undo of unfinished) undo();
  unfinished.clear();
}

/** Writes a file beside its place and moves it there: whole or not at all, and what was there stands until then. */
export function writtenWhole<T>(path: string, write: (part: string) => Promise<T>): Promise<T> {
  const part = `${path}.part`;
  return undoneUnlessWhole(
    () => removed(part),
    async () => {
      const done = await write(part);
      renameSync(part, path);
      return done;
    },
  );
}

/**
 * Writes the files of a folder, made where there is none, and moves them to their places once all are whole; what was
 * there stands until then. Then names that match `stale` go.
 */
export async function folderWrittenWhole<T>(
  folder: string,
  write: (part: string) => Promise<T>,
  stale?: RegExp,
): Promise<T> {
  const part = join(folder, UNFINISHED_FOLDER);
  const made = mkdirSync(folder, { recursive: true }) !== undefined;
  const undo = () => {
    removed(part);
    if (made) removedIfEmpty(folder);
  };
  return undoneUnlessWhole(undo, async () => {
    removed(part); // of an export that was killed
    mkdirSync(part);
    const done = await write(part);
    if (stale) for (const name of readdirSync(folder)) if (stale.test(name)) removed(join(folder, name));
    for (const name of readdirSync(part)) renameSync(join(part, name), join(folder, name));
    rmdirSync(part);
    return done;
  });
}

function removed(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Still held open, on some systems: the error that led here is the one to tell.
  }
}

function removedIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it by now.
  }
}
