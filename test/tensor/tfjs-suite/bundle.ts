/*
 * The test files that tfjs-core ships are ES modules that Node does not load (no "type": "module"), and they test the
 * engine of the modules they import. So they are bundled together with our recorder, and every import of tfjs-core,
 * ours and theirs, is led to one and the same module.
 */
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { globSync } from 'tinyglobby';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
const require = createRequire(import.meta.url);
const core = dirname(require.resolve('@tensorflow/tfjs-core/package.json'));

/** Every test file of tfjs-core, relative to its dist folder. */
export const testFiles = (): string[] =>
  globSync('**/*_test.js', { cwd: join(core, 'dist') })
    .sort()
    .map((file) => file.replaceAll('\\', '/'));

/** Writes one script that declares the tests of these files and runs them; returns its path. */
export async function bundle(files: readonly string[], name: string): Promise<string> {
  const outfile = join(root, '.cache/tfjs-suite', `${name}.mjs`);
  mkdirSync(dirname(outfile), { recursive: true });
  const lines = files.flatMap((file) => [
    `import ${JSON.stringify(`file:${file}`)};`,
    `import ${JSON.stringify(join(core, 'dist', file))};`,
  ]);
  await build({
    stdin: {
      contents: [`import './declare.ts';`, ...lines, `import './execute.ts';`].join('\n'),
      resolveDir: here,
      sourcefile: 'suite.ts',
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: ['onnxruntime-node', 'onnxruntime-web', 'jasmine-core', 'node-fetch'],
    // CommonJS parts of the bundle call require, which an ES module lacks.
    banner: { js: `import { createRequire as _r } from 'node:module'; const require = _r(import.meta.url);` },
    // The package lists as free of effects what has them here: its tests.
    ignoreAnnotations: true,
    logLevel: 'error',
    plugins: [oneCore, marks],
  });
  return relative(root, outfile);
}

/** `@tensorflow/tfjs-core`, by whatever path, is the folder whose files the tests import. */
const oneCore: Plugin = {
  name: 'one tfjs-core',
  setup(build) {
    build.onResolve({ filter: /^@tensorflow\/tfjs-core(\/|$)/ }, ({ path }) => {
      const inside = path.slice('@tensorflow/tfjs-core'.length).replace(/^\//, '');
      if (inside === '' || inside === 'dist') return { path: join(core, 'dist/index.js') };
      return { path: join(core, /\.js$/.test(inside) ? inside : `${inside}.js`) };
    });
  },
};

/** `file:x` says, before the tests of x are declared, that they are of x. */
const marks: Plugin = {
  name: 'marks',
  setup(build) {
    build.onResolve({ filter: /^file:/ }, ({ path }) => ({ path, namespace: 'mark' }));
    build.onLoad({ filter: /.*/, namespace: 'mark' }, ({ path }) => ({
      contents: `globalThis.suiteFile = ${JSON.stringify(path.slice('file:'.length))};`,
    }));
  },
};
