/* Stacks and strides, mirrored edges, reversed axes. */
import * as tf from '@tensorflow/tfjs';
import type { TensorInfo } from '../recorder.ts';
import { axesOf, type Kernels, op } from './kernel.ts';
import { reshaped, slice } from './shape.ts';

/** Far enough below any index that a negative step runs to the start. */
const BEFORE_START = -(2 ** 31);

const REVERSE = op('Reverse', (e, [x], { axes }) => {
  const all = axes as number[];
  const every = (value: number) => e.ints(all.map(() => value));
  return e.node('Slice', [x!, every(-1), every(BEFORE_START), e.ints(all), every(-1)]);
});

const STRIDED = op('StridedSlice', (e, [x], attrs, _node, self) => {
  const { begin, end, strides } = attrs as Record<'begin' | 'end' | 'strides', number[]>;
  const ends = end.map((at, k) => (strides[k]! < 0 && at < 0 ? BEFORE_START : at));
  const axes = begin.map((_, k) => k);
  const found = e.node('Slice', [x!, e.ints(begin), e.ints(ends), e.ints(axes), e.ints(strides)]);
  return e.node('Reshape', [found, e.ints(self.shape)]);
});

/** Along each axis, the places that a mirrored edge shows: known beforehand, so looked up. */
const MIRROR = op('MirrorPad', (e, [x], { places }) => {
  let out = x!;
  (places as (number[] | null)[]).forEach((own, axis) => {
    if (own !== null) out = e.node('Gather', [out, e.ints(own)], { axis });
  });
  return out;
});

export const arrange: Kernels = {
  Pack({ inputs, attrs, backend }) {
    const all = [...(inputs as unknown as readonly TensorInfo[])];
    const rank = all[0]!.shape.length + 1;
    const axis = attrs.axis < 0 ? attrs.axis + rank : attrs.axis;
    const { shape, dtype } = all[0]!;
    for (const x of all) {
      tf.util.assertShapesMatch(shape, x.shape, 'All tensors passed to stack must have matching shapes');
      tf.util.assert(dtype === x.dtype, () => 'All tensors passed to stack must have matching dtypes');
    }
    const wide = all.map((x) => reshaped(backend, x, [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)]));
    const out = [...all[0]!.shape.slice(0, axis), all.length, ...all[0]!.shape.slice(axis)];
    const packed = backend.record(CONCAT, wide, { axis }, out, all[0]!.dtype);
    for (const x of wide) backend.disposeData(x.dataId);
    return packed;
  },
  Unpack({ inputs, attrs, backend }) {
    const x = inputs.value!;
    const axis = attrs.axis < 0 ? attrs.axis + x.shape.length : attrs.axis;
    const out = x.shape.filter((_, k) => k !== axis);
    return Array.from({ length: x.shape[axis]! }, (_, at) => {
      const begin = x.shape.map((_, k) => (k === axis ? at : 0));
      const part = slice(
        backend,
        x,
        begin,
        x.shape.map((d, k) => (k === axis ? 1 : d)),
      );
      const own = reshaped(backend, part, out);
      backend.disposeData(part.dataId);
      return own;
    });
  },
  Reverse({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const axes = axesOf(attrs.dims, x.shape);
    if (x.shape.length === 0) return reshaped(backend, x, x.shape);
    return backend.record(REVERSE, [x], { axes }, x.shape, x.dtype);
  },
  StridedSlice({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const info = tf.slice_util.sliceInfo(
      x.shape,
      attrs.begin,
      attrs.end,
      attrs.strides,
      attrs.beginMask,
      attrs.endMask,
      attrs.ellipsisMask,
      attrs.newAxisMask,
      attrs.shrinkAxisMask,
    );
    if (info.isIdentity) return reshaped(backend, x, info.finalShape);
    const { begin, end, strides } = info;
    return backend.record(STRIDED, [x], { begin, end, strides }, info.finalShape, x.dtype);
  },
  MirrorPad({ inputs, attrs, backend }) {
    const x = inputs.x!;
    const offset = attrs.mode === 'reflect' ? 1 : 0;
    const paddings: [number, number][] = attrs.paddings;
    const places = x.shape.map((d, k) => {
      const [before, after] = paddings[k]!;
      if (before === 0 && after === 0) return null;
      return Array.from({ length: before + d + after }, (_, i) => {
        const at = i - before;
        if (at < 0) return -at - 1 + offset;
        return at < d ? at : 2 * d - at - 1 - offset;
      });
    });
    const out = x.shape.map((d, k) => d + paddings[k]![0] + paddings[k]![1]);
    return backend.record(MIRROR, [x], { places }, out, x.dtype);
  },
};

const CONCAT = op('Concat', (e, inputs, { axis }) => e.node('Concat', inputs, { axis: axis as number }));
