/*
 * Rows put at, or added to, the rows of a table that indices name.
 *
 * ONNX Runtime's ScatterND adds in parallel without looking whether two threads add to the same row, and loses
 * updates (2,048 rows into 512, two threads: sums short by 1 or 2). On the processor it is ScatterElements, which
 * runs in one thread and in order, over the table as one long column: that costs half of what it costs in two
 * dimensions. On a GPU ScatterND adds atomically.
 */
import * as tf from '@tensorflow/tfjs';
import type { Emitter } from '../emitter.ts';
import { type DType, type Entry, type Recorded, sizeOf } from '../entry.ts';
import type { Recorder, TensorInfo } from '../recorder.ts';
import { inside } from './gather.ts';
import { type Kernels, op } from './kernel.ts';

interface Rows {
  readonly rows: number;
  readonly width: number;
  /** Rows of the table. */
  readonly places: number;
  readonly atomic: boolean;
  readonly reduction: 'add' | 'none';
}

/** The table [places, width] with updates [rows, width] at the rows named by `at`, int32 [rows]. */
function put(e: Emitter, table: string, at: string, updates: string, own: Rows): string {
  const { rows, width, places, atomic, reduction } = own;
  if (atomic) {
    const index = e.cast(e.node('Reshape', [at, e.ints([rows, 1])]), 'int64');
    return e.node('ScatterND', [table, index, updates], { reduction });
  }
  const type = places * width < 2 ** 31 ? 'int32' : 'int64';
  const number = (value: number) => e.scalar(value, type);
  const starts = e.node('Mul', [e.cast(at, type), number(width)]);
  const columns = e.node('Range', [number(0), number(width), number(1)]);
  const index = e.node('Add', [e.node('Reshape', [starts, e.ints([rows, 1])]), columns]);
  const [long, places1, values] = [table, index, updates].map((x) => e.node('Reshape', [x, e.ints([-1])]));
  const found = e.node('ScatterElements', [long!, places1!, values!], { axis: 0, reduction });
  return e.node('Reshape', [found, e.ints([places, width])]);
}

const zeros = (e: Emitter, shape: readonly number[], dtype: DType) =>
  e.node('Expand', [e.scalar(0, dtype), e.ints(shape)]);

/** Masks are added as numbers. */
const numeric = (dtype: DType): DType => (dtype === 'bool' ? 'int32' : dtype);
const as = (e: Emitter, x: string, from: DType, to: DType): string => (from === to ? x : e.cast(x, to));

/** Rows of the same segment are summed; a row of no segment (negative, or too large) goes nowhere. */
const SEGMENT_SUM = op('UnsortedSegmentSum', (e, [x, ids], attrs, _node, self) => {
  const own = attrs as unknown as Rows;
  const type = numeric(self.dtype);
  const last = e.scalar(own.places - 1, 'int32');
  const negative = e.node('Less', [ids!, e.scalar(0, 'int32')]);
  const at = e.node('Where', [negative, last, e.node('Min', [ids!, last])]);
  const updates = e.node('Reshape', [as(e, x!, self.dtype, type), e.ints([own.rows, own.width])]);
  const summed = put(e, zeros(e, [own.places, own.width], type), at, updates, own);
  const kept = e.node('Slice', [summed, e.ints([0]), e.ints([own.places - 1]), e.ints([0])]);
  return as(e, e.node('Reshape', [kept, e.ints(self.shape)]), type, self.dtype);
});

/** Where each row of indices points in a table of rows, the leading dimensions counted through. */
function flat(e: Emitter, indices: string, own: Rows, dims: readonly number[], checked: boolean): string {
  const row = e.node('Reshape', [indices, e.ints([own.rows, dims.length])]);
  const strides = dims.map((_, k) => sizeOf(dims.slice(k + 1)));
  const vector = (values: readonly number[]) => e.cast(e.ints(values), 'int32');
  const at = e.node('ReduceSum', [e.node('Mul', [row, vector(strides)]), e.ints([1])], { keepdims: 0 });
  if (checked) return at;
  const outside = e.node('Or', [
    e.node('Less', [row, e.scalar(0, 'int32')]),
    e.node('GreaterOrEqual', [row, vector(dims)]),
  ]);
  const any = e.node('ReduceMax', [e.cast(outside, 'int32'), e.ints([1])], { keepdims: 0 });
  return e.node('Where', [e.cast(any, 'bool'), e.scalar(own.places, 'int32'), at]);
}

/** Into zeros, or into a table or one value that comes as a third input. */
const SCATTER = op('ScatterNd', (e, [indices, updates, under], attrs, node: Recorded, self: Entry) => {
  const own = attrs as unknown as Rows & { dims: number[]; shape: number[]; checked: boolean };
  const type = numeric(self.dtype);
  const at = flat(e, indices!, own, own.dims, own.checked);
  // One update may stand for all.
  const all = e.node('Expand', [as(e, updates!, node.inputs[1]!.dtype, type), e.ints(own.shape)]);
  const values = e.node('Reshape', [all, e.ints([own.rows, own.width])]);
  const size = [own.places, own.width];
  const table =
    under === undefined
      ? zeros(e, size, type)
      : e.node('Reshape', [
          e.node('Expand', [as(e, under, node.inputs[2]!.dtype, type), e.ints(self.shape)]),
          e.ints(size),
        ]);
  return as(e, e.node('Reshape', [put(e, table, at, values, own), e.ints(self.shape)]), type, self.dtype);
});

const atomic = (backend: Recorder): boolean => ['webgpu', 'cuda'].includes(backend.runtime.provider);

function scattered(
  backend: Recorder,
  reduction: Rows['reduction'],
  [indices, updates, ...under]: readonly TensorInfo[],
  shape: readonly number[],
): TensorInfo {
  const info = tf.backend_util.calculateShapes(updates as never, indices as never, [...shape]);
  const dims = shape.slice(0, info.sliceRank);
  const own = {
    rows: info.numUpdates,
    width: info.sliceSize,
    places: sizeOf(dims),
    atomic: atomic(backend),
    reduction,
    dims,
    shape: [
      ...indices!.shape.slice(0, indices!.shape.length > 1 ? -1 : undefined),
      ...shape.slice(info.sliceRank),
    ],
    checked: inside(backend, indices!, info.sliceRank, shape),
  };
  return backend.record(SCATTER, [indices!, updates!, ...under], own, shape, updates!.dtype);
}

export const scatter: Kernels = {
  UnsortedSegmentSum({ inputs, attrs, backend }) {
    const { x, segmentIds } = inputs as { x: TensorInfo; segmentIds: TensorInfo };
    const rest = x.shape.slice(segmentIds.shape.length);
    const own: Rows = {
      rows: sizeOf(segmentIds.shape),
      width: sizeOf(rest),
      places: attrs.numSegments + 1, // the last takes what is of no segment
      atomic: atomic(backend),
      reduction: 'add',
    };
    return backend.record(SEGMENT_SUM, [x, segmentIds], { ...own }, [attrs.numSegments, ...rest], x.dtype);
  },
  ScatterNd: ({ inputs: { indices, updates }, attrs, backend }) =>
    scattered(backend, 'add', [indices!, updates!], attrs.shape),
  TensorScatterUpdate: ({ inputs: { tensor, indices, updates }, backend }) =>
    scattered(backend, 'none', [indices!, updates!, tensor!], tensor!.shape),
  SparseToDense: ({ inputs: { sparseIndices, sparseValues, defaultValue }, attrs, backend }) =>
    scattered(backend, 'none', [sparseIndices!, sparseValues!, defaultValue!], attrs.outputShape),
};
