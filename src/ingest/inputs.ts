import { existsSync, statSync } from 'node:fs';
import { glob, isDynamicPattern } from 'tinyglobby';
import { failure } from '../schema/error.ts';

/** The name that stands for standard input. */
export const STDIN = '-';

/**
 * Files that arguments name, each once, in the order given; what a glob matches comes sorted. A name
 * that exists is taken as it is, even where it looks like a glob.
 * @throws usage failures: no input, a missing file, a directory, a glob that matches nothing
 */
export async function findInputs(inputs: readonly string[]): Promise<string[]> {
  if (inputs.length === 0)
    throw failure({
      subject: 'ingest',
      wrong: 'no file given',
      expected: 'a file, a glob or -',
      exitCode: 2,
    });
  const found = new Set<string>();
  for (const input of inputs) {
    if (input === STDIN) found.add(input);
    else if (existsSync(input)) found.add(file(input));
    else for (const path of await matches(input)) found.add(path);
  }
  return [...found];
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

function file(path: string): string {
  if (statSync(path).isDirectory())
    throw failure({
      subject: path,
      wrong: 'is a directory',
      expected: 'a file',
      fix: `For all files in it: "${path.replace(/\/$/, '')}/*".`,
      exitCode: 2,
    });
  if (!statSync(path).isFile())
    throw failure({
      subject: path,
      wrong: 'is no regular file',
      fix: `Pipe it in instead: "turnwise ingest - … < ${path}".`,
      exitCode: 2,
    });
  return path;
}
