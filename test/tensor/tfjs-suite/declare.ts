/* Runs inside the bundle, before any test is declared: jasmine's functions, and the backend under test. */
import { createRequire } from 'node:module';
import * as tf from '@tensorflow/tfjs';
// @ts-expect-error: no declarations are published for it; the bundle resolves it to the module the tests import
import { setTestEnvs } from '@tensorflow/tfjs-core/dist/jasmine_util';
import { nativeRuntime, wasmRuntime } from '../../../src/tensor/onnx/load-runtime.ts';
import { KERNELS, registerRecorder } from '../../../src/tensor/onnx/register.ts';
import { suite } from './in-bundle.ts';

const backend = process.argv[2]!;
const jasmineRequire = createRequire(import.meta.url)('jasmine-core/lib/jasmine-core/jasmine.js');
const jasmine = jasmineRequire.core(jasmineRequire);
const env = jasmine.getEnv({ suppressLoadErrors: true });
Object.assign(globalThis, jasmineRequire.interface(jasmine, env));
jasmine.DEFAULT_TIMEOUT_INTERVAL = 60_000;
suite.env = env;
for (const name of ['it', 'fit', 'xit'] as const) {
  const declared = env[name].bind(env);
  (globalThis as Record<string, unknown>)[name] = (...args: unknown[]) => {
    const spec = declared(...args);
    suite.fileOf.set(spec.id, suite.file());
    return spec;
  };
}

/** The function, noting under which name it refused: some tests expect an error and would be content with ours. */
const noting = <A extends unknown[], R>(f: (...args: A) => R, name: (...args: A) => string | null) => {
  return (...args: A): R => {
    try {
      return f(...args);
    } catch (error) {
      const refused = name(...args);
      if (refused !== null && (error as Error).name === 'TurnwiseError') suite.refused.add(refused);
      throw error;
    }
  };
};
const typeRefused = (dtype: string): string | null =>
  ['float32', 'int32', 'bool'].includes(dtype) ? null : `type ${dtype}`;

tf.env().set('PROD', true);
if (backend !== 'cpu') {
  const settings = { threads: 1 };
  const runtime = backend === 'onnx-web' ? await wasmRuntime(settings) : await nativeRuntime('cpu', settings);
  const recorder = registerRecorder(backend, runtime);
  recorder.readSync = noting(recorder.readSync.bind(recorder), (_id) => 'synchronous read');
  recorder.write = noting(recorder.write.bind(recorder), (_values, _shape, dtype) => typeRefused(dtype));
  for (const kernel of tf.getKernelsForBackend(backend)) {
    const { kernelName: name } = kernel;
    const missing = !KERNELS.includes(name);
    kernel.kernelFunc = noting(kernel.kernelFunc, ({ inputs, attrs }) => {
      if (missing) return `kernel ${name}`;
      const types = [...Object.values(inputs ?? {}).map((x) => x?.dtype), attrs?.dtype as string];
      return types.map((x) => (x === undefined ? null : typeRefused(x))).find((x) => x !== null) ?? null;
    });
  }
}
setTestEnvs([{ name: backend, backendName: backend, isDataSync: true }]);
