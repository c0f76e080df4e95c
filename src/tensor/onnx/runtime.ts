import type { DType, Values } from './entry.ts';

/** A compiled graph. */
export interface Session {
  run(feeds: Readonly<Record<string, Feed>>): Promise<Readonly<Record<string, Values>>>;
  release(): Promise<void>;
}

export interface Feed {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly value: Values;
}

/** ONNX Runtime, native or compiled to wasm, on one provider. */
export interface Runtime {
  /** `onnxruntime-node 1.30.0, cpu, 2 threads` */
  readonly label: string;
  readonly provider: 'cpu' | 'webgpu' | 'cuda' | 'wasm';
  compile(model: Uint8Array): Promise<Session>;
}
