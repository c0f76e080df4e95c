import type { FilePlace } from '../file-place.ts';
import type { DType, Values } from './entry.ts';

/** What goes in and comes out: values of tensors, and doubles where a graph is written for them. */
export type Numbers = Values | Float64Array;

/** A compiled graph. */
export interface Session {
  run(feeds: Readonly<Record<string, Feed>>): Promise<Readonly<Record<string, Numbers>>>;
  release(): Promise<void>;
}

export interface Feed {
  readonly dtype: DType | 'float64';
  readonly shape: readonly number[];
  readonly value: Numbers;
}

/** A constant that a model names and does not hold. */
export interface External {
  readonly name: string;
  readonly place: FilePlace;
}

/** ONNX Runtime, native or compiled to wasm, on one provider. */
export interface Runtime {
  /** `onnxruntime-node 1.30.0, cpu, 2 threads` */
  readonly label: string;
  /** Native ones read files themselves, by their path from the root; wasm is handed the bytes, by name. */
  readonly provider: 'cpu' | 'webgpu' | 'cuda' | 'wasm';
  compile(model: Uint8Array, externals?: readonly External[]): Promise<Session>;
}
