/* The same numbers in another shape or order, and parts of them. */
import * as tf from '@tensorflow/tfjs';
import { type Op, sizeOf } from '../entry.ts';
import type { Recorder, TensorInfo } from '../recorder.ts';
import { axesOf, type Kernels, op, same, toWhole } from './kernel.ts';

const RESHAPE = op('Reshape', (e, [x], _attrs, _node, self) => e.node('Reshape', [x!, e.ints(self.shape)]));

/** The same numbers in the same order; those that are there already are shared, not copied, and those of graphs stay so. */
export function reshaped(backend: Recorder, x: TensorInfo, shape: readonly number[]): TensorInfo {
  const now = backend.valueNow(x.dataId);
  const { dtype, given, frozen } = backend.entry(x.dataId);
  if (now !== null && !frozen) return backend.value(now, shape, dtype, given);
  return backend.record(RESHAPE, [x], {}, shape, x.dtype);
}

const CAST = op('Cast', (e, [x], _attrs, node, self) =>
  self.dtype === 'int32' && node.inputs[0]!.dtype === 'float32' ? toWhole(e, x!) : e.cast(x!, self.dtype),
);
const TRANSPOSE = op('Transpose', (e, [x], { perm }) =>
  e.node('Transpose', [x!], { perm: perm as number[] }),
);
const SLICE = op('Slice', (e, [x], attrs) => {
  const { begin, size } = attrs as { begin: number[]; size: number[] };
  const ends = begin.map((b, k) => b + size[k]!);
  return e.node('Slice', [x!, e.ints(begin), e.ints(ends), e.ints(begin.map((_, k) => k))]);
});
const CONCAT = op('Concat', (e, inputs, { axis }) => e.node('Concat', inputs, { axis: axis as number }));
const TILE: Op = {
  ...op('Tile', (e, [x], { reps }) => e.node('Tile', [x!, e.ints(reps as number[])])),
  repeats: true,
};
const PAD = op('PadV2', (e, [x], attrs, _node, self) => {
  const { before, after, value } = attrs as { before: number[]; after: number[]; value: number };
  return e.node('Pad', [x!, e.ints([...before, ...after]), e.scalar(value, self.dtype)]);
});

export function slice(
  backend: Recorder,
  x: TensorInfo,
  begin: readonly number[],
  size: readonly number[],
): TensorInfo {
  return backend.record(SLICE, [x], { begin, size }, size, x.dtype);
}

export const shape: Kernels = {
  Identity: ({ inputs, backend }) => same(backend, inputs.x!),
  Reshape({ inputs, attrs, backend }) {
    const x = inputs.x!;
    return reshaped(backend, x, tf.util.inferFromImplicitShape(attrs.shape, sizeOf(x.shape)));
  },
  ExpandDims({ inputs, attrs, backend }) {
    const x = inputs.input!;
    const out = [...x.shape];
    const rank = out.length;
    tf.util.assert(attrs.dim >= -(rank + 1), () => `Axis must be in the interval [${-(rank + 1)}, ${rank}]`);
    out.splice(attrs.dim < 0 ? rank + attrs.dim + 1 : attrs.dim, 0, 1);
    return reshaped(backend, x, out);
  },
  Cast({ inputs, attrs, backend }) {
    const x = inputs.x!;
    return x.dtype === attrs.dtype ? same(backend, x) : backend.record(CAST, [x], {}, x.shape, attrs.dtype);
  },
  Transpose({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const perm: number[] = attrs.perm;
    return backend.record(
      TRANSPOSE,
      [x],
      { perm },
      perm.map((p) => x.shape[p]!),
      x.dtype,
    );
  },
  Slice({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const [begin, size] = tf.slice_util.parseSliceParams(x as never, attrs.begin, attrs.size) as [
      number[],
      number[],
    ];
    tf.slice_util.assertParamsValid(x as never, begin, size);
    return slice(backend, x, begin, size);
  },
  SplitV({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const axis = axesOf(attrs.axis, x.shape)[0]!;
    const sizes = tf.backend_util.prepareSplitSize(x as never, attrs.numOrSizeSplits, axis);
    let at = 0;
    return sizes.map((length) => {
      const begin = x.shape.map((_, k) => (k === axis ? at : 0));
      at += length;
      return slice(
        backend,
        x,
        begin,
        x.shape.map((d, k) => (k === axis ? length : d)),
      );
    });
  },
  Concat({ inputs, attrs, backend }) {
    const all = [...(inputs as unknown as readonly TensorInfo[])];
    const axis = axesOf(attrs.axis, all[0]!.shape)[0]!;
    tf.backend_util.assertParamsConsistent(
      all.map((x) => x.shape),
      axis,
    );
    const out = tf.backend_util.computeOutShape(
      all.map((x) => x.shape),
      axis,
    );
    const some = all.filter((x) => sizeOf(x.shape) > 0);
    if (some.length === 1) return same(backend, some[0]!);
    return backend.record(CONCAT, some, { axis }, out, all[0]!.dtype);
  },
  Tile({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const reps: number[] = attrs.reps;
    return backend.record(
      TILE,
      [x],
      { reps },
      x.shape.map((d, k) => d * reps[k]!),
      x.dtype,
    );
  },
  PadV2({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const paddings: [number, number][] = attrs.paddings;
    const [before, after] = [paddings.map((p) => p[0]), paddings.map((p) => p[1])];
    const out = x.shape.map((d, k) => d + before[k]! + after[k]!);
    return backend.record(PAD, [x], { before, after, value: attrs.constantValue }, out, x.dtype);
  },
};
