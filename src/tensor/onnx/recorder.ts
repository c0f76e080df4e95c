/*
 * A TensorFlow.js backend that computes nothing when a kernel is called: it records the operation. Reading a value
 * writes everything alive and not yet computed as one ONNX graph, compiled once per structure, and runs it.
 *
 * Reads are asynchronous (`await tensor.data()`); a synchronous one works where the value is already there and is
 * refused by name elsewhere. Several graphs may be on their way at once: an operation on a value that is still being
 * computed waits for it.
 */
import * as tf from '@tensorflow/tfjs';
import { failure } from '../../schema/error.ts';
import { type FilePlace, placeValues } from '../file-place.ts';
import type { Work } from './collect.ts';
import { collectSound } from './collect-sound.ts';
import type { Attrs, DType, Entry, Op, State, Values } from './entry.ts';
import { sizeOf } from './entry.ts';
import { emptyValues } from './graph.ts';
import { runFailure } from './run-failure.ts';
import type { Runtime } from './runtime.ts';
import { type Sessions, sessions } from './sessions.ts';

export interface TensorInfo {
  readonly dataId: object;
  readonly shape: number[];
  readonly dtype: string;
}

export interface RecorderSettings {
  /** Compiled graphs kept. */
  readonly graphs?: number | undefined;
  /** Results alive and not computed before a graph is started without anybody reading. */
  readonly operations?: number | undefined;
}

const GRAPHS = 32;
/** ONNX Runtime takes a session's outputs in time that grows with their square: 2,000 take 2 s, 4,000 take 11. */
const OPERATIONS = 2_500;

export class Recorder extends tf.KernelBackend {
  readonly #entries = new Map<object, Entry>();
  readonly #pending = new Set<Entry>();
  readonly #sessions: Sessions;
  readonly #most: number;
  #count = 0;
  #starting = false;

  constructor(
    readonly name: string,
    readonly runtime: Runtime,
    { graphs = GRAPHS, operations = OPERATIONS }: RecorderSettings = {},
  ) {
    super();
    this.#sessions = sessions(runtime, graphs);
    this.#most = operations;
  }

  /** Records an operation on tensors; the tensor it returns has no value yet. */
  record(
    op: Op,
    inputs: readonly TensorInfo[],
    attrs: Attrs,
    shape: readonly number[],
    dtype: string,
  ): TensorInfo {
    const own = dtypeOf(dtype, op.name);
    if (sizeOf(shape) === 0) return this.#added({ kind: 'value', value: emptyValues(own, 0) }, shape, own);
    const node = { op, inputs: inputs.map((x) => this.entry(x.dataId)), attrs };
    const info = this.#added({ kind: 'recorded', node }, shape, own);
    this.#pending.add(this.entry(info.dataId));
    if (this.#pending.size > this.#most) this.#start();
    return info;
  }

  /** A tensor whose value is there: given from outside, unless it is an earlier result. */
  value(value: Values, shape: readonly number[], dtype: DType, given = true): TensorInfo {
    return this.#added({ kind: 'value', value }, shape, dtype, given);
  }

  /** A constant of the graphs that read it, which are let go of when it is disposed. */
  frozen(held: Values | FilePlace, shape: readonly number[], dtype: string): TensorInfo {
    const state: State = 'path' in held ? { kind: 'file', place: held } : { kind: 'value', value: held };
    return this.#added(state, shape, dtypeOf(dtype, 'freeze'), true, true);
  }

  entry(dataId: object): Entry {
    const entry = this.#entries.get(dataId);
    if (entry !== undefined) return entry;
    throw failure({
      subject: `tensor of ${this.name}`,
      wrong: 'has been disposed, or belongs to another backend',
      fix: 'An operation on another backend takes its tensors along for good: take "await data()" there, and make new ones.',
    });
  }

  /** The value if it is there without waiting. */
  valueNow(dataId: object): Values | null {
    const { state } = this.entry(dataId);
    return state.kind === 'value' ? state.value : null;
  }

  override async read(dataId: object): Promise<Values> {
    const entry = this.entry(dataId);
    for (;;) {
      const { state } = entry;
      if (state.kind === 'value') return state.value;
      if (state.kind === 'file') return placeValues(state.place);
      if (state.kind === 'failed') throw state.error;
      await (state.kind === 'running' ? state.done : this.#flush(entry));
    }
  }

  override readSync(dataId: object): Values {
    const value = this.valueNow(dataId);
    if (value !== null) return value;
    throw failure({
      subject: `tensor of ${this.name}`,
      wrong: `${this.entry(dataId).frozen ? 'lies in a file' : 'is not computed yet'} and cannot be read synchronously`,
      fix: 'Read with "await tensor.data()" in the place of dataSync, arraySync or print.',
    });
  }

  /** Computes all that is alive and recorded. */
  async settle(): Promise<void> {
    const alive = this.#alive();
    if (alive.length > 0) await this.#flush(alive[0]!);
  }

  stats() {
    const { compiles, runs } = this.#sessions.stats;
    return {
      entries: this.#entries.size,
      pending: this.#pending.size,
      sessions: this.#sessions.size(),
      compiles,
      runs,
    };
  }

  override write(values: unknown, shape: number[], dtype: string): object {
    return this.value(toValues(values, dtypeOf(dtype, 'write')), shape, dtypeOf(dtype, 'write')).dataId;
  }

  override move(dataId: object, values: unknown, shape: number[], dtype: string, refCount: number): void {
    const own = dtypeOf(dtype, 'move');
    const state: State = { kind: 'value', value: toValues(values, own) };
    const id = this.#count++;
    this.#entries.set(dataId, { id, shape, dtype: own, state, refs: refCount, given: true, frozen: false });
  }

  override refCount(dataId: object): number {
    return this.#entries.get(dataId)?.refs ?? 0;
  }

  override incRef(dataId: object): void {
    this.entry(dataId).refs++;
  }

  decRef(dataId: object): void {
    const entry = this.#entries.get(dataId);
    if (entry !== undefined) entry.refs--;
  }

  override disposeData(dataId: object, force = false): boolean {
    const entry = this.#entries.get(dataId);
    if (entry === undefined) return true;
    entry.refs--;
    if (!force && entry.refs > 0) return false;
    entry.refs = 0;
    this.#entries.delete(dataId);
    this.#pending.delete(entry);
    if (entry.frozen) this.#sessions.forget(entry);
    return true;
  }

  override numDataIds(): number {
    return this.#entries.size;
  }

  override memory() {
    return { unreliable: true, reasons: ['values that are recorded and not computed take no memory yet'] };
  }

  override floatPrecision(): 16 | 32 {
    return 32;
  }

  override epsilon(): number {
    return 1e-7;
  }

  /** TensorFlow.js profiles with `time`; without it, it would read every result synchronously. */
  override timerAvailable(): boolean {
    return true;
  }

  override async time(f: () => void): Promise<tf.BackendTimingInfo> {
    const start = performance.now();
    f(); // before anything is awaited: the caller looks at what it made
    await this.settle();
    return { kernelMs: performance.now() - start };
  }

  override dispose(): void {
    void this.#sessions.close();
  }

  close(forever = false): Promise<void> {
    return this.#sessions.close(forever);
  }

  #added(state: State, shape: readonly number[], dtype: DType, given = false, frozen = false): TensorInfo {
    const dataId = {};
    this.#entries.set(dataId, { id: this.#count++, shape, dtype, state, refs: 1, given, frozen });
    return { dataId, shape: [...shape], dtype };
  }

  #alive(): Entry[] {
    return [...this.#pending].filter((e) => e.refs > 0 && e.state.kind === 'recorded');
  }

  /** Starts a graph that nobody waits for; who reads its results meets its error. */
  #start(): void {
    const target = this.#alive().at(-1);
    if (target === undefined || this.#starting) return;
    this.#starting = true;
    const untilRunning = async () => {
      while (target.state.kind === 'recorded') await this.#flush(target);
    };
    void untilRunning()
      .catch(() => undefined)
      .finally(() => {
        this.#starting = false;
      });
  }

  async #flush(target: Entry, outputs = this.#alive()): Promise<void> {
    if (!outputs.includes(target)) outputs.push(target);
    const work = collectSound(outputs, (entry) => this.#pending.delete(entry));
    if (work.running.length > 0) {
      await Promise.all(work.running);
      return; // what was recorded meanwhile belongs to the graph too: the reader comes again
    }
    if (work.outputs.length === 0) return;
    // From here to the first await nothing else runs.
    const done = this.#run(work);
    const quiet = done.catch(() => undefined);
    for (const entry of work.outputs) {
      entry.state = { kind: 'running', done: quiet };
      this.#pending.delete(entry);
    }
    await done;
  }

  async #run(work: Work): Promise<void> {
    let stage: 'compile' | 'run' = 'compile';
    try {
      await this.#sessions.use(work, async ({ graph, session }) => {
        stage = 'run';
        const feeds = Object.fromEntries(
          graph.inputs.map(({ name, leaf }) => {
            const { dtype, shape, state } = work.leaves[leaf]!;
            return [name, { dtype, shape, value: (state as State & { kind: 'value' }).value }];
          }),
        );
        const found = await session.run(feeds);
        work.outputs.forEach((entry, k) => {
          entry.state = { kind: 'value', value: found[graph.outputs[k]!]! as Values };
        });
      });
    } catch (cause) {
      const error = runFailure(cause, { backend: this.name, stage, work });
      for (const entry of work.outputs) entry.state = { kind: 'failed', error };
      throw error;
    }
  }
}

/** @throws by name on strings and complex numbers, which ONNX Runtime has no kernels for */
export function dtypeOf(dtype: string, what: string): DType {
  if (dtype === 'float32' || dtype === 'int32' || dtype === 'bool') return dtype;
  throw failure({
    subject: `${what} on the onnx backend`,
    wrong: 'no such type',
    got: dtype,
    expected: 'float32, int32 or bool',
  });
}

function toValues(values: unknown, dtype: DType): Values {
  const from = (values ?? []) as ArrayLike<number>;
  if (dtype === 'float32') return from instanceof Float32Array ? from : Float32Array.from(from);
  if (dtype === 'int32') return from instanceof Int32Array ? from : Int32Array.from(from);
  return from instanceof Uint8Array ? from : Uint8Array.from(from);
}
