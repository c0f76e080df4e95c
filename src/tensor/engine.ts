import { availableParallelism } from 'node:os';
import type { BackendName } from './backends.ts';
import { type Freezer, freezer } from './freeze.ts';
import { identityModel } from './identity.ts';
import type { RecorderSettings } from './onnx/recorder.ts';
import type { Runtime } from './onnx/runtime.ts';
import { whyNoProvider } from './probe-provider.ts';
import { whyNoSession, whyNotLoaded } from './why-not.ts';

export type Tf = typeof import('@tensorflow/tfjs');

/** What stands behind a backend of TensorFlow.js. */
export interface Engine {
  /** `onnxruntime-node 1.30.0, cpu, 2 threads` */
  readonly label: string;
  readonly threads: number;
  /** Its name in the registry of TensorFlow.js. */
  readonly registered: string;
  readonly freezer: Freezer;
  stats(): EngineStats;
  close(): Promise<void>;
}

export interface EngineStats {
  /** Data that tensors hold. */
  readonly entries: number;
  /** Of those, recorded and not computed. */
  readonly pending: number;
  /** Compiled graphs kept, graphs compiled so far, graphs run so far. */
  readonly sessions: number;
  readonly compiles: number;
  readonly runs: number;
}

export interface EngineSettings extends RecorderSettings {
  readonly threads?: number | undefined;
}

/** Threads of wasm are started once and for all. */
let wasmThreads: number | null = null;

/** Starts a backend, or says in one line why it is not there. */
export async function startEngine(
  tf: Tf,
  name: BackendName,
  settings: EngineSettings,
): Promise<Engine | { readonly whyNot: string }> {
  if (name === 'cpu') return plainEngine(tf, 'cpu', `TensorFlow.js ${tf.version_core}, plain JavaScript`, 1);
  if (name === 'node-gpu') {
    const { nodeGpuBackend } = await import('./node-gpu/backend.ts');
    const found = await nodeGpuBackend(tf, settings.threads ?? availableParallelism());
    return 'whyNot' in found ? found : plainEngine(tf, found.registered, found.label, found.threads);
  }
  const { nativeRuntime, wasmRuntime } = await import('./onnx/load-runtime.ts');
  if (name === 'onnx-web') {
    const { threads = availableParallelism() } = settings;
    // Node hands the flag to the threads, which it stops.
    if (threads > 1 && process.execArgv.some((flag) => flag.startsWith('--input-type')))
      return { whyNot: 'its threads do not start under --input-type: run a file, or ask for 1 thread' };
    if ((wasmThreads ??= threads) !== threads)
      return { whyNot: `onnxruntime-web keeps the threads it started with in this process, ${wasmThreads}` };
    return recorded(tf, name, 'onnxruntime-web', () => wasmRuntime(settings), settings, 'wasm');
  }
  const provider = ({ onnx: 'cpu', 'onnx-webgpu': 'webgpu', 'onnx-cuda': 'cuda' } as const)[name];
  if (provider !== 'cpu') {
    const whyNot = await whyNoProvider(provider);
    if (whyNot !== null) return { whyNot };
  }
  return recorded(tf, name, 'onnxruntime-node', () => nativeRuntime(provider, settings), settings, provider);
}

/** The recorder over a runtime that has just computed something. */
async function recorded(
  tf: Tf,
  name: BackendName,
  packageName: string,
  load: () => Promise<Runtime>,
  settings: EngineSettings,
  provider: string,
): Promise<Engine | { readonly whyNot: string }> {
  let runtime: Runtime;
  try {
    runtime = await load();
  } catch (error) {
    return { whyNot: whyNotLoaded(packageName, error) };
  }
  try {
    const session = await runtime.compile(identityModel());
    await session.run({ a: { dtype: 'float32', shape: [1], value: Float32Array.of(7) } });
    await session.release();
  } catch (error) {
    return { whyNot: whyNoSession(provider, error) };
  }
  const { registerRecorder } = await import('./onnx/register.ts');
  const recorder = registerRecorder(name, runtime, settings);
  const threads = settings.threads ?? availableParallelism();
  return {
    label: runtime.label,
    threads,
    registered: name,
    freezer: freezer(tf, recorder),
    stats: () => recorder.stats(),
    close: () => recorder.close(true),
  };
}

function plainEngine(tf: Tf, registered: string, label: string, threads: number): Engine {
  const entries = () => tf.engine().registry[registered]?.numDataIds() ?? 0;
  return {
    label,
    threads,
    registered,
    freezer: freezer(tf, null),
    stats: () => ({ entries: entries(), pending: 0, sessions: 0, compiles: 0, runs: 0 }),
    close: async () => undefined,
  };
}
