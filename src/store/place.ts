import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * A path in which "..", behind a link to a folder, means what it means to the system: the folder above that which the
 * link leads to. Node's `resolve`, `join` and `realpathSync` strike out the link instead, and name another file. A path
 * without ".." is returned as it is, and so is one whose folder is not there.
 */
export function placeOf(path: string): string {
  if (!/(^|[\\/])\.\.([\\/]|$)/.test(path)) return path;
  try {
    const name = basename(path);
    if (name === '..' || name === '.') return realpathSync.native(path);
    return join(realpathSync.native(dirname(path)), name);
  } catch {
    return path;
  }
}
