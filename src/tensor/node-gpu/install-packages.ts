import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { failure } from '../../schema/error.ts';
import { PACKAGE } from './assembled.ts';
import { runTool } from './run-tool.ts';

const MANIFEST = {
  name: 'turnwise-node-gpu',
  private: true,
  // The last node-gyp that runs on Node 20.
  dependencies: { [PACKAGE]: '4.22.0', 'node-gyp': '12.4.0' },
};

/**
 * Makes the folder anew and installs the package into it. Its install script is left out: it downloads a library of
 * 2022, built for CUDA 11, and fails where that download cannot be reached.
 * @returns the folder of the package
 * @throws where the folder is something else's, and where npm fails
 */
export function installPackages(folder: string): string {
  if (existsSync(folder) && readdirSync(folder).length > 0 && nameIn(folder) !== MANIFEST.name)
    throw failure({
      subject: folder,
      wrong: 'holds something else',
      expected: 'a folder that is new, or empty, or made by this command',
      exitCode: 2,
    });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(MANIFEST, null, 2)}\n`);
  runTool(
    'npm',
    ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: folder,
      what: `npm install ${PACKAGE}`,
    },
  );
  shareTensorflowJs(join(folder, 'node_modules/@tensorflow'));
  return join(folder, 'node_modules', PACKAGE);
}

function nameIn(folder: string): unknown {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).name : undefined;
}

/** The backend registers itself with the TensorFlow.js that it finds: that has to be the one that Turnwise uses. */
function shareTensorflowJs(scope: string): void {
  const tfjs = createRequire(import.meta.url).resolve('@tensorflow/tfjs/package.json');
  for (const name of readdirSync(scope)) {
    if (`@tensorflow/${name}` === PACKAGE) continue;
    rmSync(join(scope, name), { recursive: true });
    symlinkSync(dirname(createRequire(tfjs).resolve(`@tensorflow/${name}/package.json`)), join(scope, name));
  }
}
