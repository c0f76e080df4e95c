import * as tf from '@tensorflow/tfjs';
import type { Emitter } from '../emitter.ts';
import type { Entry, Op, Recorded } from '../entry.ts';
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

/** Another tensor of the same data. */
export function same(backend: Recorder, x: TensorInfo): TensorInfo {
  backend.incRef(x.dataId);
  return { dataId: x.dataId, shape: x.shape, dtype: x.dtype };
}
