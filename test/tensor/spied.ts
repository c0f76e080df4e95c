import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { nativeRuntime } from '../../src/tensor/onnx/load-runtime.ts';
import type { Recorder } from '../../src/tensor/onnx/recorder.ts';
import { registerRecorder } from '../../src/tensor/onnx/register.ts';
import type { Runtime } from '../../src/tensor/onnx/runtime.ts';

/** Numbers that float32 holds exactly. */
export const numbers = fc.integer({ min: -128, max: 128 }).map((k) => k / 64);

/** The native runtime, watched, and made to fail where a test asks for it. */
export interface Spied {
  readonly recorder: Recorder;
  /** How many tensors each run was fed. */
  readonly runs: number[];
  /** Bytes of each model. */
  readonly compiled: number[];
  /** Sessions, by number, in the order of their release. */
  readonly released: number[];
  /** Runs wait from now on, until what it returns is called. */
  hold(): () => void;
  /** What the next of a kind rejects with, once. */
  fail(what: 'run' | 'compile' | 'release', error: unknown): void;
}

let count = 0;

export async function spied(name: string, skip: (why: string) => void): Promise<Spied> {
  const native = await nativeRuntime('cpu', { threads: 1 }).catch((error: Error) => {
    skip(`skipped: ${error.message}`);
    throw error;
  });
  const [runs, compiled, released]: [number[], number[], number[]] = [[], [], []];
  const failures = new Map<string, unknown>();
  let held: Promise<void> | null = null;
  const mayFail = (what: string): void => {
    if (!failures.has(what)) return;
    const error = failures.get(what);
    failures.delete(what);
    throw error;
  };
  const runtime: Runtime = {
    ...native,
    async compile(model, externals) {
      mayFail('compile');
      const own = compiled.push(model.byteLength);
      const session = await native.compile(model, externals);
      return {
        async run(feeds) {
          await held;
          mayFail('run');
          runs.push(Object.keys(feeds).length);
          return session.run(feeds);
        },
        async release() {
          released.push(own);
          mayFail('release');
          await session.release();
        },
      };
    },
  };
  // A name is registered once and for all.
  const own = `spied-${name}-${count++}`;
  const recorder = registerRecorder(own, runtime);
  await tf.setBackend(own);
  return {
    recorder,
    runs,
    compiled,
    released,
    hold() {
      let go = (): void => undefined;
      held = new Promise((resolve) => {
        go = () => {
          held = null;
          resolve();
        };
      });
      return go;
    },
    fail: (what, error) => failures.set(what, error),
  };
}
