/*
 * Files, folders and stores that come to be whole or not at all. Each is written in a folder of its own beside its place,
 * of a random name and made exclusively, so that nothing of the user's is written over or removed on the way; whole and
 * on the disk, it is given its name in one step.
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { failure } from '../schema/error.ts';
import { placeOf } from './place.ts';

type Undo = () => void | Promise<void>;

/** What removes that which is being written; an interrupted program calls it. */
const unfinished = new Set<Undo>();

/** In a folder that was there: where its new files are written, and where they are on their way to their places. */
const WRITING = 'export.part-';
const MOVING = 'export.moving-';

/** Left by an export that was killed while it wrote: what else the folder holds is as it was. */
export const isUnfinished = (name: string): boolean => /^export\.part-\w{6}$/.test(name);
/** Left by an export that was killed while it moved its files: the folder holds old ones beside new ones. */
export const isHalfMoved = (name: string): boolean => /^export\.moving-\w{6}$/.test(name);

/** Runs `body`; where it fails, or the program is interrupted meanwhile, `undo` takes back what it wrote. */
export async function undoneUnlessWhole<T>(undo: Undo, body: () => Promise<T>): Promise<T> {
  unfinished.add(undo);
  try {
    return await body();
  } catch (error) {
    await undo();
    throw error;
  } finally {
    unfinished.delete(undo);
  }
}

/** Removes what is being written; for a program that is interrupted, and ends. */
export async function removeUnfinished(): Promise<void> {
  const all = [...unfinished];
  unfinished.clear();
  await Promise.all(all.map((undo) => undo()));
}

/** Runs `body` with a new folder of its own, named `start` and six random characters, and removes it. */
export async function withScratch<T>(start: string, body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(resolve(start));
  const undo = () => removed(folder);
  unfinished.add(undo);
  try {
    return await body(folder);
  } finally {
    undo();
    unfinished.delete(undo);
  }
}

/**
 * How the names of what is written for `path` start: beside it, no longer than a name may be, and with a dot, so that
 * what a killed process leaves is none of the files that `path*` means.
 */
export function besides(path: string): string {
  let name = basename(path);
  while (Buffer.byteLength(name) > 200) name = name.slice(0, -1);
  return join(dirname(path), `.${name}.part-`);
}

export interface WholeFileOptions {
  /** What has the name gives way. Default true; false: it is refused, also where it came meanwhile. */
  readonly replace?: boolean | undefined;
  /** Files that are read meanwhile: none of them is replaced, by whatever name. */
  readonly inputs?: readonly string[] | undefined;
}

/** Writes a file: whole or not at all, and what was there stands until then. `write` makes the file it is given. */
export async function writtenWhole<T>(
  given: string,
  write: (part: string) => Promise<T>,
  { replace = true, inputs = [] }: WholeFileOptions = {},
): Promise<T> {
  const path = placeOf(given);
  refuseIrregular(path);
  refuseInput(path, inputs);
  return withScratch(besides(path), async (scratch) => {
    const part = join(scratch, 'file');
    const done = await namingPlace(path, part, () => write(part));
    flush(part);
    if (replace) renameSync(part, path);
    else if (!placed(part, path))
      throw failure({ subject: path, wrong: 'is there already', fix: 'It came while this one was written.' });
    flushFolder(dirname(path));
    return done;
  });
}

/**
 * Writes the files of a folder. One that is new gets its name when it is whole; in one that was there, they go to their
 * places once all are whole, and what was there stands until then; then names that match `stale` go.
 */
export async function folderWrittenWhole<T>(
  given: string,
  write: (part: string) => Promise<T>,
  stale?: RegExp,
): Promise<T> {
  const folder = placeOf(given);
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there?.isDirectory()) return movedInto(folder, write, stale);
  if (there) mkdirSync(folder); // The system says why it cannot be made.
  if (lstatSync(folder, { throwIfNoEntry: false }))
    throw failure({ subject: folder, wrong: 'is a symbolic link to nothing', fix: 'Name another folder.' });
  const made = mkdirSync(dirname(folder), { recursive: true });
  const undo = () => {
    if (made !== undefined) removedIfEmpty(dirname(folder), made);
  };
  return undoneUnlessWhole(undo, () =>
    withScratch(besides(folder), async (scratch) => {
      const part = join(scratch, 'folder');
      mkdirSync(part);
      const done = await namingPlace(folder, part, () => write(part));
      flushAll(part);
      renameSync(part, folder);
      flushFolder(dirname(folder));
      return done;
    }),
  );
}

function movedInto<T>(folder: string, write: (part: string) => Promise<T>, stale?: RegExp): Promise<T> {
  return withScratch(join(folder, WRITING), async (part) => {
    const done = await namingPlace(folder, part, () => write(part));
    flushAll(part);
    // From here on the name says that old files lie beside new ones; killed, it stays.
    const moving = join(folder, basename(part).replace(WRITING, MOVING));
    const gone = (name: string) => stale?.test(name) || isHalfMoved(name);
    const old = readdirSync(folder).filter(gone);
    renameSync(part, moving);
    for (const name of old) removed(join(folder, name));
    for (const name of readdirSync(moving)) renameSync(join(moving, name), join(folder, name));
    rmdirSync(moving);
    flushFolder(folder);
    return done;
  });
}

/** Gives a whole file its name. @returns false where something has it already, which stands */
export function placed(part: string, path: string): boolean {
  try {
    linkSync(part, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // Some file systems have no links; there, what comes between the look and the step is lost.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'].includes(code ?? '')) throw error;
    if (lstatSync(path, { throwIfNoEntry: false })) return false;
    renameSync(part, path);
    return true;
  }
}

/** A pipe or a device does not give way to a file, nor a link to one; a folder never does, and the system says so. */
function refuseIrregular(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) return;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() || found?.isDirectory()) return;
  throw failure({
    subject: path,
    wrong: 'is no regular file, and is not replaced',
    fix: 'Name another file.',
  });
}

/**
 * @throws where `path` is one of the files that are read, by whatever name, or where the engine keeps the last changes of
 *   a store: what stands there is taken for them, and the store is not opened any more
 */
export function refuseInput(given: string, inputs: readonly string[]): void {
  const path = placeOf(given);
  const store = path.replace(/\.wal$/, '');
  if (store !== path && (inputs.includes(store) || statSync(store, { throwIfNoEntry: false })?.isFile()))
    throw failure({
      subject: path,
      wrong: `is where the last changes of ${store} are kept while it is written`,
      fix: 'Name another --out.',
      exitCode: 2,
    });
  const target = statSync(path, { throwIfNoEntry: false });
  if (!target) return;
  for (const name of inputs.flatMap((input) => [input, `${input}.wal`])) {
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

/** Has the disk hold the bytes of a file before it gets its name. */
export function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function flushAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) flush(join(entry.parentPath, entry.name));
}

/** The names in a folder too, where the system can. */
export function flushFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // Not every system opens a folder; the files themselves are on the disk.
  }
}

/** Errors name the place that a file was for, not where it was written meanwhile. */
async function namingPlace<T>(path: string, part: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(part, path);
    throw error;
  }
}

function removed(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Still held open, on some systems: the error that led here is the one to tell.
  }
}

/** Removes folders that were made, from the innermost up to `first`, as far as they are empty. */
function removedIfEmpty(folder: string, first: string): void {
  try {
    for (let at = folder; ; at = dirname(at)) {
      rmdirSync(at);
      if (at === first || dirname(at) === at) return;
    }
  } catch {
    // Something else is in it by now.
  }
}
