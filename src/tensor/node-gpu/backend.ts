import type { Tf } from '../engine.ts';
import { whyNotLoaded } from '../why-not.ts';
import { loadNodeGpu, PACKAGE } from './assembled.ts';

const REGISTERED = 'tensorflow';

/** What the backend of the package says of itself. */
interface NodeBackend {
  readonly isUsingGpuDevice: boolean;
  readonly binding: { readonly TF_Version: string };
}

/** TensorFlow reads them when it is loaded; what the user has set stays. */
const SETTINGS = {
  TF_CPP_MIN_LOG_LEVEL: '2', // no greeting on standard error
  TF_ENABLE_ONEDNN_OPTS: '0', // its kernels announce themselves there, and sum in another order
  NVIDIA_TF32_OVERRIDE: '0', // products of float32 in float32: in TF32 three digits are left
};

/** TensorFlow keeps the threads that it is loaded with. */
let loadedThreads: number | null = null;

/** TensorFlow's own library under Node, or one line that says why it is not there. */
export async function nodeGpuBackend(
  tf: Tf,
  threads: number,
): Promise<
  | { readonly label: string; readonly registered: string; readonly threads: number }
  | { readonly whyNot: string }
> {
  if ((loadedThreads ?? threads) !== threads)
    return { whyNot: `TensorFlow keeps the threads it started with in this process, ${loadedThreads}` };
  try {
    // It calls two functions that Node 23 took out of util.
    const util = (await import('node:util')).default as unknown as Record<string, unknown>;
    util.isNullOrUndefined ??= (x: unknown) => x === null || x === undefined;
    util.isArray ??= Array.isArray;
    for (const [name, value] of Object.entries(SETTINGS)) process.env[name] ??= value;
    process.env.TF_NUM_INTRAOP_THREADS = String(threads);
    await loadNodeGpu();
    if (tf.findBackendFactory(REGISTERED) === null)
      return { whyNot: `${PACKAGE} uses a TensorFlow.js of its own, not the one of Turnwise` };
    if (!(await tf.setBackend(REGISTERED))) return { whyNot: `${PACKAGE}: its backend does not start` };
    loadedThreads = threads;
    const { isUsingGpuDevice, binding } = tf.backend() as unknown as NodeBackend;
    const where = isUsingGpuDevice ? 'GPU' : `no GPU, ${threads} threads`;
    return {
      label: `tfjs-node-gpu ${tf.version_core} on TensorFlow ${binding.TF_Version}, ${where}`,
      registered: REGISTERED,
      threads,
    };
  } catch (error) {
    return { whyNot: whyNotLoaded(PACKAGE, error) };
  }
}
