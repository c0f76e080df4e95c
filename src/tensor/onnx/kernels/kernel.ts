import * as tf from '@tensorflow/tfjs';
import type { Emitter } from '../emitter.ts';
import type { DType, Entry, Op, Recorded } from '../entry.ts';
import type { Attribute } from '../model.ts';
import type { Recorder, TensorInfo } from '../recorder.ts';

/** What TensorFlow.js hands to a kernel. */
export interface Call {
  readonly inputs: Readonly<Record<string, TensorInfo>>;
  // biome-ignore lint/suspicious/noExplicitAny: attributes differ from kernel to kernel; TensorFlow.js has checked them
  readonly attrs: Readonly<Record<string, any>>;
  readonly backend: Recorder;
}

/** A kernel by the name TensorFlow.js gives it. */
export type Kernels = Readonly<Record<string, (call: Call) => TensorInfo | TensorInfo[]>>;

/** An operation that is one ONNX node on the inputs as they are. */
export const one = (name: string, attributes: Readonly<Record<string, Attribute>> = {}, domain = ''): Op => ({
  name: `${domain}${name}${JSON.stringify(attributes)}`,
  emit: (e, inputs) => e.node(name, inputs, attributes, domain),
});

/** An operation that is written by several nodes. */
export const op = (
  name: string,
  emit: (
    e: Emitter,
    inputs: readonly string[],
    attrs: Recorded['attrs'],
    node: Recorded,
    self: Entry,
  ) => string,
): Op => ({ name, emit: (e, inputs, node, self) => emit(e, inputs, node.attrs, node, self) });

export const broadcast = (a: readonly number[], b: readonly number[]): number[] =>
  tf.broadcast_util.assertAndGetBroadcastShape([...a], [...b]);

export const axesOf = (axis: number | number[] | undefined | null, shape: readonly number[]): number[] =>
  tf.util.parseAxisParam(axis as number | number[], [...shape]);

/** a where the condition holds, b elsewhere; ONNX Runtime has no Where of masks. */
export function choose(e: Emitter, condition: string, a: string, b: string, dtype: DType): string {
  if (dtype !== 'bool') return e.node('Where', [condition, a, b]);
  return e.cast(e.node('Where', [condition, e.cast(a, 'uint8'), e.cast(b, 'uint8')]), 'bool');
}

/** Floats cut to whole numbers; what is none, or too large, is 0 as in JavaScript, not what a processor makes of it. */
export function toWhole(e: Emitter, x: string): string {
  const fits = e.node('Less', [e.node('Abs', [x]), e.scalar(2 ** 31, 'float32')]);
  return e.cast(e.node('Where', [fits, x, e.scalar(0, 'float32')]), 'int32');
}

/** The type that holds the numbers of both. */
export const upcast = (a: string, b: string): DType => tf.upcastType(a as DType, b as DType) as DType;

/** Another tensor of the same data. */
export function same(backend: Recorder, x: TensorInfo): TensorInfo {
  backend.incRef(x.dataId);
  return { dataId: x.dataId, shape: x.shape, dtype: x.dtype };
}
