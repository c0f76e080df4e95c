/* Along some axes: sums, extremes, positions of extremes. */
import { failure } from '../../../schema/error.ts';
import type { Emitter } from '../emitter.ts';
import { type Recorded, sizeOf } from '../entry.ts';
import { axesOf, type Call, type Kernels, op } from './kernel.ts';
import { reshaped } from './shape.ts';

/** Masks are counted. */
const reduction = (onnx: string) =>
  op(onnx, (e, [x], { axes }, node, self) => {
    const own = node.inputs[0]!.dtype === self.dtype ? x! : e.cast(x!, self.dtype);
    // No axis is no reduction, where ONNX would take all.
    return (axes as number[]).length === 0
      ? own
      : e.node(onnx, [own, e.ints(axes as number[])], { keepdims: 0 });
  });

/** The largest or smallest; what is not a number stays visible, where ONNX passes over it. */
const extreme = (onnx: string) =>
  op(onnx, (e, [x], attrs, node, self) => {
    const [axes, flags] = [e.ints(attrs.axes as number[]), { keepdims: 0 }];
    if ((attrs.axes as number[]).length === 0) return x!;
    const found = e.node(onnx, [x!, axes], flags);
    if (self.dtype !== 'float32' || sizeOf(node.inputs[0]!.shape) === 0) return found;
    // A sum of squares is NaN if one of them is, and only then: no infinity is taken from another.
    const squares = e.node('ReduceSumSquare', [x!, axes], flags);
    const whole = e.node('Equal', [squares, squares]);
    return e.node('Where', [whole, found, e.scalar(Number.NaN, 'float32')]);
  });

const along = (onnx: string, dtype: (x: string) => string, own = reduction(onnx)) => {
  return ({ inputs, attrs, backend }: Call) => {
    const x = inputs.x!;
    const axes = axesOf(attrs.axis ?? attrs.reductionIndices, x.shape);
    const kept = x.shape.map((d, k) => (axes.includes(k) ? 1 : d));
    const out = x.shape.filter((_, k) => !axes.includes(k));
    const found = backend.record(own, [x], { axes }, out, dtype(x.dtype));
    if (!attrs.keepDims) return found;
    const wide = reshaped(backend, found, kept);
    backend.disposeData(found.dataId);
    return wide;
  };
};

const logical = (onnx: string) =>
  op(`mask ${onnx}`, (e, [x], { axes }) =>
    (axes as number[]).length === 0
      ? x!
      : e.cast(e.node(onnx, [e.cast(x!, 'int32'), e.ints(axes as number[])], { keepdims: 0 }), 'bool'),
  );

/** Of equals the first; what is not a number is passed over. */
const position = (onnx: string, never: number) =>
  op(onnx, (e, [x], { axis }, node) => {
    const { dtype } = node.inputs[0]!;
    let own = dtype === 'bool' ? e.cast(x!, 'int32') : x!;
    if (dtype === 'float32') own = e.node('Where', [e.node('IsNaN', [own]), e.scalar(never, 'float32'), own]);
    return e.cast(e.node(onnx, [own], { axis: axis as number, keepdims: 0 }), 'int32');
  });

const at = (onnx: string, never: number) => {
  const own = position(onnx, never);
  return ({ inputs, attrs, backend }: Call) => {
    const x = inputs.x!;
    const axis = axesOf(attrs.axis, x.shape)[0]!;
    if (x.shape[axis] === 0)
      throw failure({
        subject: onnx,
        wrong: 'nothing to choose from',
        got: `shape [${x.shape}], axis ${axis}`,
      });
    return backend.record(
      own,
      [x],
      { axis },
      x.shape.filter((_, k) => k !== axis),
      'int32',
    );
  };
};

/** Masks count as 0 and 1. */
const numbers = (e: Emitter, x: string, node: Recorded): string =>
  node.inputs[0]!.dtype === 'bool' ? e.cast(x, 'int32') : x;

const CUMSUM = op('Cumsum', (e, [x], attrs, node) => {
  const { axis, exclusive, reverse } = attrs as { axis: number; exclusive: number; reverse: number };
  return e.node('CumSum', [numbers(e, x!, node), e.scalar(axis, 'int64')], { exclusive, reverse });
});

/** By doubling, since ONNX has none: after step s, each place holds the product of the 2^s before it. O(log n) nodes. */
const CUMPROD = op('Cumprod', (e, [x], attrs, node, self) => {
  const { axis, exclusive, reverse } = attrs as { axis: number; exclusive: boolean; reverse: boolean };
  const n = self.shape[axis]!;
  const one = e.scalar(1, self.dtype);
  const shifted = (name: string, by: number): string => {
    const pads = self.shape.map(() => 0);
    const before = pads.map((_, k) => (k === axis && !reverse ? by : 0));
    const after = pads.map((_, k) => (k === axis && reverse ? by : 0));
    const wide = e.node('Pad', [name, e.ints([...before, ...after]), one]);
    const from = reverse ? by : 0;
    return e.node('Slice', [wide, e.ints([from]), e.ints([from + n]), e.ints([axis])]);
  };
  const own = numbers(e, x!, node);
  let out = exclusive ? shifted(own, 1) : own;
  for (let by = 1; by < n; by *= 2) out = e.node('Mul', [out, shifted(out, by)]);
  return out;
});

const scan =
  (own: typeof CUMSUM, asNumbers: boolean) =>
  ({ inputs, attrs, backend }: Call) => {
    const x = inputs.x!;
    const { axis, exclusive, reverse } = attrs;
    const flags = asNumbers
      ? { exclusive: exclusive ? 1 : 0, reverse: reverse ? 1 : 0 }
      : { exclusive, reverse };
    const dtype = x.dtype === 'bool' ? 'int32' : x.dtype;
    return backend.record(own, [x], { axis: axesOf(axis, x.shape)[0]!, ...flags }, x.shape, dtype);
  };

export const reduce: Kernels = {
  All: along('All', () => 'bool', logical('ReduceMin')),
  Any: along('Any', () => 'bool', logical('ReduceMax')),
  ArgMax: at('ArgMax', -Infinity),
  ArgMin: at('ArgMin', Infinity),
  Cumsum: scan(CUMSUM, true),
  Cumprod: scan(CUMPROD, false),
  Sum: along('ReduceSum', (x) => (x === 'bool' ? 'int32' : x)),
  Mean: along('ReduceMean', () => 'float32'),
  Max: along('ReduceMax', (x) => x, extreme('ReduceMax')),
  Min: along('ReduceMin', (x) => x, extreme('ReduceMin')),
  Prod: along('ReduceProd', (x) => (x === 'bool' ? 'int32' : x)),
};
