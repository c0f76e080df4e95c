import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failure } from '../../schema/error.ts';

export const PACKAGE = '@tensorflow/tfjs-node-gpu';

/** The variable that names a folder in which `npm run node-gpu` has assembled the backend. */
export const FOLDER_VARIABLE = 'TURNWISE_NODE_GPU';

/** Where it is assembled unless told otherwise: beside the sources, in what git does not keep. */
export const DEFAULT_FOLDER = fileURLToPath(new URL('../../../.cache/node-gpu', import.meta.url));

/** Written last, so that a folder that holds it is whole. */
export const MARKER = 'assembled.json';

/**
 * Loads the package: the one assembled in the folder that TURNWISE_NODE_GPU names, else the one in the default
 * folder, else the one that is installed.
 * @throws where the folder that the variable names holds none, and what loading throws
 */
export async function loadNodeGpu(): Promise<void> {
  const named = process.env[FOLDER_VARIABLE] || undefined;
  const folder = resolve(named ?? DEFAULT_FOLDER);
  if (existsSync(join(folder, MARKER))) createRequire(join(folder, MARKER))(PACKAGE);
  else if (named === undefined) await import(PACKAGE);
  else
    throw failure({
      subject: FOLDER_VARIABLE,
      wrong: 'nothing is assembled there',
      got: `"${named}"`,
      expected: 'a folder made by "npm run node-gpu"',
    });
}
