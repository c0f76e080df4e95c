import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Libtensorflow } from './libtensorflow.ts';
import { runTool } from './run-tool.ts';

/** The version of Node-API that the package is built for: the highest that it names. */
const NODE_API = 8;

/** @throws where a program that node-gyp needs is not there */
export function checkBuildTools(): void {
  for (const tool of ['python3', 'make', 'g++']) runTool(tool, ['--version'], { what: 'node-gyp' });
}

/**
 * Builds the binding between Node and TensorFlow by the package's own build file, unchanged, which looks for
 * libtensorflow in deps/.
 * @param at the folder of the package
 * @param nodeHome an installation of Node with headers
 * @throws where the build fails, with what it wrote last
 */
export function buildBinding(at: string, tensorflow: Libtensorflow, nodeHome: string): void {
  mkdirSync(join(at, 'deps/lib'), { recursive: true });
  symlinkSync(tensorflow.include, join(at, 'deps/include'));
  // The linker reads these names. What is loaded later goes by the name inside the library, found by -rpath below:
  // through a link its relative paths to CUDA's libraries would lead nowhere.
  symlinkSync(tensorflow.library, join(at, 'deps/lib/libtensorflow.so'));
  symlinkSync(tensorflow.framework, join(at, 'deps/lib/libtensorflow_framework.so'));
  runTool(
    process.execPath,
    [
      join(at, '../../node-gyp/bin/node-gyp.js'),
      'rebuild',
      `--nodedir=${nodeHome}`,
      '--module_name=tfjs_binding',
      `--module_path=${join(at, `lib/napi-v${NODE_API}`)}`,
      `--napi_build_version=${NODE_API}`,
    ],
    {
      cwd: at,
      env: { ...process.env, LDFLAGS: `${process.env.LDFLAGS ?? ''} -Wl,-rpath,${tensorflow.folder}` },
      what: 'node-gyp rebuild',
    },
  );
}
