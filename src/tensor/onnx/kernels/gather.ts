/* Rows by index. */
import * as tf from '@tensorflow/tfjs';
import type { Emitter } from '../emitter.ts';
import { sizeOf } from '../entry.ts';
import type { Recorder, TensorInfo } from '../recorder.ts';
import { axesOf, type Kernels, op } from './kernel.ts';

/** x[batch, outer, dim, inner] at indices [batch, k] → [batch, outer, k, inner]. */
const GATHER = op('GatherV2', (e, [x, indices], attrs, _node, self) => {
  const { batch, outer, dim, inner, count, axis } = attrs as Record<string, number>;
  if (batch === 1) {
    const flat = e.node('Reshape', [
      attrs.checked ? indices! : refusing(e, indices!, indices!, dim!, dim!),
      e.ints([count!]),
    ]);
    return e.node('Reshape', [e.node('Gather', [x!, flat], { axis: axis! }), e.ints(self.shape)]);
  }
  // Each batch looks into its own rows: rows of all batches one below the other, indices moved there.
  const all = batch! * dim!;
  const apart = e.node('Reshape', [x!, e.ints([batch!, outer!, dim!, inner!])]);
  const rows = e.node('Transpose', [apart], { perm: [0, 2, 1, 3] });
  const table = e.node('Reshape', [rows, e.ints([all, outer! * inner!])]);
  const starts = e.node('Range', [e.scalar(0, 'int32'), e.scalar(all, 'int32'), e.scalar(dim!, 'int32')]);
  const own = e.node('Reshape', [indices!, e.ints([batch!, count!])]);
  const moved = e.node('Add', [own, e.node('Unsqueeze', [starts, e.ints([1])])]);
  const safe = attrs.checked ? moved : refusing(e, own, moved, dim!, all);
  const found = e.node('Gather', [table, e.node('Reshape', [safe, e.ints([-1])])], { axis: 0 });
  const back = e.node('Reshape', [found, e.ints([batch!, count!, outer!, inner!])]);
  return e.node('Reshape', [e.node('Transpose', [back], { perm: [0, 2, 1, 3] }), e.ints(self.shape)]);
});

/**
 * ONNX counts a negative index from the end, and one past a batch lies in the next; TensorFlow.js refuses both. What
 * is out of [0, size) becomes a place that no table has, which ONNX Runtime refuses in the run.
 */
function refusing(e: Emitter, index: string, place: string, size: number, nowhere: number): string {
  const outside = e.node('Or', [
    e.node('Less', [index, e.scalar(0, 'int32')]),
    e.node('GreaterOrEqual', [index, e.scalar(size, 'int32')]),
  ]);
  return e.node('Where', [outside, e.scalar(nowhere, 'int32'), place]);
}

const GATHER_ND = op('GatherNd', (e, [x, indices], { checked }, _node, self) => {
  const far = e.scalar(2 ** 31 - 1, 'int32');
  const negative = e.node('Less', [indices!, e.scalar(0, 'int32')]);
  const own = checked ? indices! : e.node('Where', [negative, far, indices!]);
  return e.node('Reshape', [e.node('GatherND', [x!, e.cast(own, 'int64')]), e.ints(self.shape)]);
});

/** Whether the indices are there already; then they are looked at, in tfjs's own words. */
export function inside(
  backend: Recorder,
  indices: TensorInfo,
  depth: number,
  shape: readonly number[],
): boolean {
  const now = backend.valueNow(indices.dataId);
  for (let k = 0; k < (now?.length ?? 0); k++) {
    const index = now![k]!;
    if (index >= 0 && index < shape[k % depth]!) continue;
    const from = k - (k % depth);
    throw new Error(`Invalid indices: ${now!.subarray(from, from + depth)} does not index into ${shape}`);
  }
  return now !== null;
}

export const gather: Kernels = {
  GatherV2({ inputs, attrs, backend }) {
    const { x, indices } = inputs as { x: TensorInfo; indices: TensorInfo };
    const axis = axesOf(attrs.axis, x.shape)[0]!;
    const info = tf.backend_util.segment_util.collectGatherOpShapeInfo(
      x as never,
      indices as never,
      axis,
      attrs.batchDims ?? 0,
    );
    const now = backend.valueNow(indices.dataId);
    for (const index of now ?? [])
      tf.util.assert(
        index >= 0 && index < info.dimSize,
        () => `GatherV2: the index value ${index} is not in [0, ${info.dimSize - 1}]`,
      );
    const own = {
      checked: now !== null,
      batch: info.batchSize,
      outer: info.outerSize,
      dim: info.dimSize,
      inner: info.sliceSize,
      count: sizeOf(indices.shape) / info.batchSize,
      axis,
    };
    return backend.record(GATHER, [x, indices], own, info.outputShape, x.dtype);
  },
  GatherNd({ inputs, backend }) {
    const { params, indices } = inputs as { params: TensorInfo; indices: TensorInfo };
    const [out] = tf.backend_util.prepareAndValidate(params as never, indices as never);
    const checked = inside(backend, indices, indices.shape.at(-1)!, params.shape);
    return backend.record(GATHER_ND, [params, indices], { checked }, out, params.dtype);
  },
};
