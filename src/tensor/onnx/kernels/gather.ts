/* Rows by index, and sums into rows by index. */
import * as tf from '@tensorflow/tfjs';
import type { Emitter } from '../emitter.ts';
import { type Op, sizeOf } from '../entry.ts';
import type { TensorInfo } from '../recorder.ts';
import { axesOf, type Kernels, op } from './kernel.ts';

/** x[batch, outer, dim, inner] at indices [batch, k] → [batch, outer, k, inner]. */
const GATHER = op('GatherV2', (e, [x, indices], attrs, _node, self) => {
  const { batch, outer, dim, inner, count, axis } = attrs as Record<string, number>;
  if (batch === 1) {
    const flat = e.node('Reshape', [indices!, e.ints([count!])]);
    return e.node('Reshape', [e.node('Gather', [x!, flat], { axis: axis! }), e.ints(self.shape)]);
  }
  // Each batch looks into its own rows: rows of all batches one below the other, indices moved there.
  const apart = e.node('Reshape', [x!, e.ints([batch!, outer!, dim!, inner!])]);
  const rows = e.node('Transpose', [apart], { perm: [0, 2, 1, 3] });
  const table = e.node('Reshape', [rows, e.ints([batch! * dim!, outer! * inner!])]);
  const starts = e.node('Range', [
    e.scalar(0, 'int32'),
    e.scalar(batch! * dim!, 'int32'),
    e.scalar(dim!, 'int32'),
  ]);
  const own = e.node('Reshape', [indices!, e.ints([batch!, count!])]);
  const moved = e.node('Add', [own, e.node('Unsqueeze', [starts, e.ints([1])])]);
  const found = e.node('Gather', [table, e.node('Reshape', [moved, e.ints([-1])])], { axis: 0 });
  const back = e.node('Reshape', [found, e.ints([batch!, count!, outer!, inner!])]);
  return e.node('Reshape', [e.node('Transpose', [back], { perm: [0, 2, 1, 3] }), e.ints(self.shape)]);
});

const GATHER_ND = op('GatherNd', (e, [x, indices], _attrs, _node, self) =>
  e.node('Reshape', [e.node('GatherND', [x!, e.cast(indices!, 'int64')]), e.ints(self.shape)]),
);

const zeros = (e: Emitter, shape: readonly number[], dtype: 'float32' | 'int32' | 'bool') =>
  e.node('Expand', [e.scalar(0, dtype), e.ints(shape)]);

/** Rows of the same segment are summed; a row of no segment (negative, or too large) goes nowhere. */
const SEGMENT_SUM = op('UnsortedSegmentSum', (e, [x, ids], attrs, _node, self) => {
  const { segments, rows, width } = attrs as Record<string, number>;
  const flat = e.node('Reshape', [ids!, e.ints([rows!, 1])]);
  const last = e.scalar(segments!, 'int32');
  const outside = e.node('Or', [
    e.node('Less', [flat, e.scalar(0, 'int32')]),
    e.node('Greater', [flat, last]),
  ]);
  const own = e.cast(e.node('Where', [outside, last, flat]), 'int64');
  const table = zeros(e, [segments! + 1, width!], self.dtype);
  const updates = e.node('Reshape', [x!, e.ints([rows!, width!])]);
  const summed = e.node('ScatterND', [table, own, updates], { reduction: 'add' });
  const kept = e.node('Slice', [summed, e.ints([0]), e.ints([segments!]), e.ints([0])]);
  return e.node('Reshape', [kept, e.ints(self.shape)]);
});

const SCATTER = op('ScatterNd', (e, [indices, updates], attrs, _node, self) => {
  const { rows, depth, width, table } = attrs as {
    rows: number;
    depth: number;
    width: number[];
    table: number[];
  };
  const own = e.node('Reshape', [e.cast(indices!, 'int64'), e.ints([rows, depth])]);
  const values = e.node('Reshape', [updates!, e.ints([rows, ...width])]);
  return e.node('ScatterND', [zeros(e, table, self.dtype), own, values], { reduction: 'add' });
});

const UPDATE: Op = op('TensorScatterUpdate', (e, [x, indices, updates]) =>
  e.node('ScatterND', [x!, e.cast(indices!, 'int64'), updates!]),
);

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
    const own = {
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
    const depth = indices.shape.at(-1)!;
    const out = [...indices.shape.slice(0, -1), ...params.shape.slice(depth)];
    return backend.record(GATHER_ND, [params, indices], {}, out, params.dtype);
  },
  UnsortedSegmentSum({ inputs, attrs, backend }) {
    const { x, segmentIds } = inputs as { x: TensorInfo; segmentIds: TensorInfo };
    const rows = sizeOf(segmentIds.shape);
    const rest = x.shape.slice(segmentIds.shape.length);
    const own = { segments: attrs.numSegments, rows, width: sizeOf(rest) };
    return backend.record(SEGMENT_SUM, [x, segmentIds], own, [attrs.numSegments, ...rest], x.dtype);
  },
  ScatterNd({ inputs, attrs, backend }) {
    const { indices, updates } = inputs as { indices: TensorInfo; updates: TensorInfo };
    const out: number[] = attrs.shape;
    const depth = indices.shape.length === 0 ? 1 : indices.shape.at(-1)!;
    const rows = sizeOf(indices.shape) / Math.max(1, depth);
    const own = { rows, depth, width: out.slice(depth), table: out };
    return backend.record(SCATTER, [indices, updates], own, out, updates.dtype);
  },
  TensorScatterUpdate({ inputs, backend }) {
    const { tensor, indices, updates } = inputs as Record<'tensor' | 'indices' | 'updates', TensorInfo>;
    return backend.record(UPDATE, [tensor, indices, updates], {}, tensor.shape, tensor.dtype);
  },
};
