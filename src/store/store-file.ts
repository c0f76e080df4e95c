import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { failure } from '../schema/error.ts';
import { notALog, notAStore } from './not-a-store.ts';
import { placeOf } from './place.ts';

/** Where a store lies: links followed, and which file it is. */
export interface StoreFile {
  readonly path: string;
  /** Device and inode: another file of the same name has others. */
  readonly id: string;
}

/**
 * Looks at a store before the engine opens it, which would wait for a pipe, take any log beside it for its own, and
 * keep that of a link beside the link. undefined: nothing is there.
 * @throws failures naming the file: a directory, a pipe or a device, a link to nothing, empty, no store
 */
export function storeFile(given: string): StoreFile | undefined {
  if (given === '') throw failure({ subject: 'store', wrong: 'has an empty name', exitCode: 2 });
  refuseMark(given, resolve(placeOf(given)));
  const found = look(given);
  if (!found) {
    if (!lookAtLink(given)) return undefined;
    throw failure({
      subject: given,
      wrong: 'is a symbolic link to nothing',
      fix: 'Delete it, or name another file.',
    });
  }
  if (found.isDirectory()) throw failure({ subject: given, wrong: 'is a directory', fix: 'Name a file.' });
  if (!found.isFile())
    throw failure({
      subject: given,
      wrong: `is ${kind(found)}, not a file`,
      fix: 'Name a file.',
    });
  if (found.size === 0)
    throw failure({
      subject: given,
      wrong: 'is not a store: the file is empty',
      fix: 'Delete it, or name another file.',
    });
  const path = realpathSync.native(given);
  refuseMark(given, path);
  const other = notAStore(given) ?? logBeside(path);
  if (other) throw other;
  return { path, id: idOf(found) };
}

/** The engine would keep its log under another name: it cuts the path at the mark, as an address is cut. */
function refuseMark(given: string, path: string): void {
  if (path.includes('?'))
    throw failure({
      subject: given,
      wrong: 'a store has no "?" in its path',
      fix: 'Name another.',
      exitCode: 2,
    });
}

/** Whether the name still stands for that file. */
export function isStill({ path, id }: StoreFile): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && idOf(found) === id;
}

function logBeside(path: string) {
  const log = `${path}.wal`;
  const found = lookAtLink(log);
  if (!found) return undefined;
  return found.isFile() ? notALog(log) : notALog(log, `is ${kind(found)}, not a file`);
}

const idOf = ({ dev, ino }: Stats): string => `${dev} ${ino}`;

function kind(found: Stats): string {
  if (found.isFIFO()) return 'a pipe';
  if (found.isSocket()) return 'a socket';
  if (found.isSymbolicLink()) return 'a symbolic link';
  return found.isDirectory() ? 'a directory' : 'a device';
}

/** undefined where nothing is there, or a part of the path is a file: then the engine, or making it, says so. */
function look(path: string): Stats | undefined {
  return orNothing(() => statSync(path));
}

function lookAtLink(path: string): Stats | undefined {
  return orNothing(() => lstatSync(path));
}

function orNothing(look: () => Stats): Stats | undefined {
  try {
    return look();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw cause;
  }
}
