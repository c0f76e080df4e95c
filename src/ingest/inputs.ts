import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { failure, type TurnwiseError } from '../schema/error.ts';

/** The name that stands for standard input. */
export const STDIN = '-';

/** What the arguments of one call name. */
export interface Inputs {
  /** Each once, in the order given; what a glob matches comes sorted. */
  readonly paths: readonly string[];
  /** Why one of these paths cannot be read: a folder among many files, for instance. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Left out, because the call works with them already: the store's own files, the reward file. */
  readonly own: readonly string[];
}

/**
 * Files that arguments name. A name that exists is taken as it is, even where it looks like a glob. Of several, which the
 * shell may have found, one that is no file ends nothing: it is unreadable, and the others are read.
 * @param own the store and the reward file, where there are any
 * @throws usage failures: no input, a missing file, a glob that matches nothing; a folder or a pipe that is named alone
 */
export async function findInputs(
  inputs: readonly string[],
  own: { readonly store?: string | undefined; readonly rewards?: string | undefined } = {},
): Promise<Inputs> {
  if (inputs.length === 0)
    throw failure({
      subject: 'ingest',
      wrong: 'no file given',
      expected: 'a file, a glob or -',
      exitCode: 2,
    });
  const isOwn = ownFiles(own);
  const found = new Set<string>();
  const unreadable = new Map<string, string>();
  const left = new Set<string>();
  for (const input of inputs) {
    const named = input === STDIN || isThere(input);
    for (const path of named ? [input] : await matches(input)) {
      if (path !== STDIN && isOwn(path)) {
        left.add(path);
        continue;
      }
      const wrong = path === STDIN ? undefined : notAFile(path);
      if (wrong && inputs.length === 1 && named) throw wrong;
      if (wrong) unreadable.set(path, wrong.message);
      found.add(path);
    }
  }
  if (found.size === 0)
    throw failure({
      subject: [...left].join(', '),
      wrong: 'the store that is written, or its reward file, is no log',
      fix: 'Name the logs.',
      exitCode: 2,
    });
  return { paths: [...found], unreadable, own: [...left] };
}

/** Whether a path is the store, what the engine puts beside it, or the reward file, under whatever name. */
function ownFiles({ store, rewards }: { store?: string | undefined; rewards?: string | undefined }) {
  const own = new Set<string>();
  if (store !== undefined && store !== ':memory:')
    for (const end of ['', '.wal', '.tmp']) own.add(realPath(store + end));
  if (rewards !== undefined) own.add(realPath(rewards));
  return (path: string) => own.has(realPath(path));
}

/** Where a path leads; of what is not there yet, where it would be. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    try {
      return join(realpathSync.native(dirname(path)), basename(path));
    } catch {
      return resolve(path);
    }
  }
}

/** A link that leads nowhere is there. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // No name of a file: longer than one may be, for instance.
  }
}

async function matches(pattern: string): Promise<string[]> {
  if (!isDynamicPattern(pattern)) throw failure({ subject: pattern, wrong: 'no such file', exitCode: 2 });
  const paths = await glob(pattern, {
    onlyFiles: true,
    expandDirectories: false,
    absolute: pattern.startsWith('/'),
  });
  if (paths.length === 0)
    throw failure({
      subject: pattern,
      wrong: 'matches no file',
      fix: 'Check the folder; a quoted "**" goes into subfolders.',
      exitCode: 2,
    });
  return paths.sort();
}

function notAFile(path: string): TurnwiseError | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return failure({ subject: path, wrong: 'is a link to a file that is not there', exitCode: 2 });
  if (stat.isDirectory())
    return failure({
      subject: path,
      wrong: 'is a directory',
      expected: 'a file',
      fix: `For all files in it: "${path.replace(/\/$/, '')}/*"; for a job of Harbor: "${path.replace(/\/$/, '')}/**/trajectory.json".`,
      exitCode: 2,
    });
  if (!stat.isFile())
    return failure({
      subject: path,
      wrong: 'is no regular file',
      fix: `Pipe it in instead: "turnwise ingest - … < ${path}".`,
      exitCode: 2,
    });
  return undefined;
}
