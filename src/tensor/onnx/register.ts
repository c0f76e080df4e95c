import * as tf from '@tensorflow/tfjs';
import { failure } from '../../schema/error.ts';
import * as families from './kernels/index.ts';
import type { Call, Kernels } from './kernels/kernel.ts';
import { Recorder, type RecorderSettings } from './recorder.ts';
import type { Runtime } from './runtime.ts';

const kernels: Kernels = Object.assign({}, ...Object.values(families));

/** Names of the kernels that the recorder has. */
export const KERNELS: readonly string[] = Object.keys(kernels).sort();

/** What TensorFlow.js has a kernel for and the recorder has none: refused by name when called. */
function refusal(name: string, backend: string) {
  return () => {
    throw failure({
      subject: `kernel ${name}`,
      wrong: `is not on the ${backend} backend`,
      fix: 'Write it with other operations, or take "await data()" of its inputs and compute with the values.',
    });
  };
}

/** Registers a backend of this name, with its kernels, over a runtime. */
export function registerRecorder(name: string, runtime: Runtime, settings: RecorderSettings = {}): Recorder {
  const recorder = new Recorder(name, runtime, settings);
  tf.registerBackend(name, () => recorder as unknown as tf.KernelBackend, 1);
  const known = new Set(tf.getKernelsForBackend(name).map((k) => k.kernelName));
  for (const [kernelName, kernel] of Object.entries(kernels))
    if (!known.has(kernelName))
      tf.registerKernel({
        kernelName: kernelName as never,
        backendName: name,
        kernelFunc: ((call: Call) => kernel(call)) as never,
      });
  for (const { kernelName } of tf.getKernelsForBackend('cpu'))
    if (!Object.hasOwn(kernels, kernelName) && !known.has(kernelName))
      tf.registerKernel({ kernelName, backendName: name, kernelFunc: refusal(kernelName, name) as never });
  return recorder;
}
