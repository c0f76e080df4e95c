/*
 * The door to tensors: one backend of TensorFlow.js, chosen by what is there. Neither TensorFlow.js nor ONNX Runtime
 * is loaded before it is opened, so that a command without tensors starts at once.
 *
 * TensorFlow.js keeps one current backend for the whole process, so that one door is open at a time.
 */
import { type Random, random } from '../math/random.ts';
import { failure } from '../schema/error.ts';
import { known } from '../schema/known.ts';
import { type BackendName, backendName, DEFAULT_ORDER, VARIABLE } from './backends.ts';
import { checkThreads } from './check-threads.ts';
import { type Engine, type EngineStats, startEngine, type Tf } from './engine.ts';
import type { Freezer } from './freeze.ts';
import { fillGradients } from './gradients.ts';

export interface TensorSettings {
  /** Absent: the one that TURNWISE_BACKEND names, or the first of the default order that runs. */
  readonly backend?: BackendName | undefined;
  /** Of the initial values; 0 unless told otherwise. */
  readonly seed?: number | undefined;
  /** Of one operation; as many as there are cores unless told otherwise. */
  readonly threads?: number | undefined;
  /** Compiled graphs kept by the onnx backends. */
  readonly graphs?: number | undefined;
}

export interface Tensors extends Freezer {
  /** TensorFlow.js, on this backend. @throws after close */
  readonly tf: Tf;
  readonly backend: BackendName;
  /** `onnxruntime-node 1.30.0, cpu, 2 threads` */
  readonly label: string;
  /** One line: which backend runs, why this one, and why those before it are not there. */
  readonly why: string;
  readonly threads: number;
  readonly seed: number;
  /** The stream that initial values are drawn from; drawing moves it on. */
  readonly random: Random;
  memory(): TensorMemory;
  /**
   * Releases compiled graphs. What has been computed can still be read; steps, frozen tensors and `tf` of this record
   * are refused from then on. A `tf` kept beside it goes on, on the backend that is opened next or in plain JavaScript.
   */
  close(): Promise<void>;
}

export interface TensorMemory extends EngineStats {
  readonly tensors: number;
  /** Resident memory of the process, in bytes. */
  readonly rss: number;
}

const NAMES = ['backend', 'seed', 'threads', 'graphs'] as const;

let opened: BackendName | 'one being opened' | null = null;

/**
 * Opens tensors on one backend.
 * @throws where the backend that is asked for is not there, with the reason, and where another is open
 */
export async function openTensors(settings: TensorSettings = {}): Promise<Tensors> {
  const { seed = 0, threads, graphs } = known('openTensors', settings, NAMES);
  checkThreads(threads);
  if (graphs !== undefined && !(Number.isSafeInteger(graphs) && graphs >= 1))
    throw failure({
      subject: 'graphs',
      wrong: 'are out of range',
      got: graphs,
      expected: 'a whole number of at least 1',
      exitCode: 2,
    });
  const rng = random(seed, 'initial values');
  const asked = askedFor(settings.backend);
  if (opened !== null)
    throw failure({
      subject: 'openTensors',
      wrong: `is open already, on ${opened}`,
      fix: 'Pass on the record that it returned, or close that first.',
    });
  opened = 'one being opened';
  try {
    const tf = await import('@tensorflow/tfjs');
    tf.env().set('PROD', true); // no greeting on standard error
    fillGradients(tf);
    const { name, engine, missing } = await first(tf, asked ? [asked.name] : DEFAULT_ORDER, {
      threads,
      graphs,
    });
    if (engine === null)
      throw failure({
        subject: asked === null ? 'tensors' : `backend ${asked.name}${asked.by}`,
        wrong: `is not there: ${missing.map((m) => m.whyNot).join('; ')}`,
        fix: '"turnwise devices" lists what is.',
      });
    await tf.setBackend(engine.registered);
    opened = name;
    let closing: Promise<void> | null = null;
    const choice = asked ? `asked for${asked.by}` : `the first that runs here of ${DEFAULT_ORDER.join(', ')}`;
    const { freeze, freezeFile } = engine.freezer;
    const unclosed = (): void => {
      if (closing === null) return;
      throw failure({
        subject: `tensors on ${name}`,
        wrong: 'have been closed',
        fix: 'Close once all is done, or open them again.',
      });
    };
    return {
      get tf() {
        unclosed();
        return tf;
      },
      backend: name,
      label: engine.label,
      why: [`${name}: ${engine.label}; ${choice}`, ...missing.map((m) => `no ${m.name}: ${m.whyNot}`)].join(
        '; ',
      ),
      threads: engine.threads,
      seed,
      random: rng,
      async freeze(tensor) {
        unclosed();
        return freeze(tensor);
      },
      async freezeFile(path, place) {
        unclosed();
        return freezeFile(path, place);
      },
      memory: () => ({
        tensors: tf.memory().numTensors,
        ...engine.stats(),
        rss: process.memoryUsage.rss(),
      }),
      close: () => (closing ??= close(tf, name, engine)),
    };
  } catch (error) {
    opened = null;
    throw error;
  }
}

/** The backend that is asked for, and by what. */
function askedFor(backend: string | undefined): { name: BackendName; by: string } | null {
  if (backend !== undefined) return { name: backendName(backend, 'backend'), by: '' };
  const variable = process.env[VARIABLE];
  if (variable === undefined || variable === '') return null;
  return { name: backendName(variable, VARIABLE), by: ` by ${VARIABLE}` };
}

/** The first backend that starts, and why those before it do not. */
async function first(tf: Tf, order: readonly BackendName[], settings: Parameters<typeof startEngine>[2]) {
  const missing: { readonly name: BackendName; readonly whyNot: string }[] = [];
  for (const name of order) {
    const engine = await startEngine(tf, name, settings);
    if (!('whyNot' in engine)) return { name, engine, missing };
    missing.push({ name, whyNot: engine.whyNot });
  }
  return { name: order.at(-1)!, engine: null, missing };
}

async function close(tf: Tf, name: BackendName, engine: Engine): Promise<void> {
  await engine.close();
  // A backend that the recorder registered is made anew; those of TensorFlow.js itself stay.
  if (engine.registered === name && name !== 'cpu') tf.removeBackend(name);
  opened = null;
}
