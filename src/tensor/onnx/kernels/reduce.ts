/* Along some axes: sums, extremes, positions of extremes. */
import { axesOf, type Call, type Kernels, op } from './kernel.ts';
import { reshaped } from './shape.ts';

/** Masks are counted. */
const reduction = (onnx: string) =>
  op(onnx, (e, [x], { axes }, node, self) => {
    const own = node.inputs[0]!.dtype === self.dtype ? x! : e.cast(x!, self.dtype);
    return e.node(onnx, [own, e.ints(axes as number[])], { keepdims: 0 });
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
    e.cast(e.node(onnx, [e.cast(x!, 'int32'), e.ints(axes as number[])], { keepdims: 0 }), 'bool'),
  );

const position = (onnx: string) =>
  op(onnx, (e, [x], { axis }) => e.cast(e.node(onnx, [x!], { axis: axis as number, keepdims: 0 }), 'int32'));

const at = (onnx: string) => {
  const own = position(onnx);
  return ({ inputs, attrs, backend }: Call) => {
    const x = inputs.x!;
    const axis = axesOf(attrs.axis, x.shape)[0]!;
    return backend.record(
      own,
      [x],
      { axis },
      x.shape.filter((_, k) => k !== axis),
      'int32',
    );
  };
};

const CUMSUM = op('Cumsum', (e, [x], attrs) => {
  const { axis, exclusive, reverse } = attrs as { axis: number; exclusive: number; reverse: number };
  return e.node('CumSum', [x!, e.scalar(axis, 'int64')], { exclusive, reverse });
});

/** By doubling, since ONNX has none: after step s, each place holds the product of the 2^s before it. O(log n) nodes. */
const CUMPROD = op('Cumprod', (e, [x], attrs, _node, self) => {
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
  let out = exclusive ? shifted(x!, 1) : x!;
  for (let by = 1; by < n; by *= 2) out = e.node('Mul', [out, shifted(out, by)]);
  return out;
});

const scan =
  (own: typeof CUMSUM, numbers: boolean) =>
  ({ inputs, attrs, backend }: Call) => {
    const x = inputs.x!;
    const { axis, exclusive, reverse } = attrs;
    const flags = numbers
      ? { exclusive: exclusive ? 1 : 0, reverse: reverse ? 1 : 0 }
      : { exclusive, reverse };
    const dtype = x.dtype === 'bool' ? 'int32' : x.dtype;
    return backend.record(own, [x], { axis: axesOf(axis, x.shape)[0]!, ...flags }, x.shape, dtype);
  };

export const reduce: Kernels = {
  All: along('All', () => 'bool', logical('ReduceMin')),
  Any: along('Any', () => 'bool', logical('ReduceMax')),
  ArgMax: at('ArgMax'),
  ArgMin: at('ArgMin'),
  Cumsum: scan(CUMSUM, true),
  Cumprod: scan(CUMPROD, false),
  Sum: along('ReduceSum', (x) => (x === 'bool' ? 'int32' : x)),
  Mean: along('ReduceMean', () => 'float32'),
  Max: along('ReduceMax', (x) => x),
  Min: along('ReduceMin', (x) => x),
  Prod: along('ReduceProd', (x) => (x === 'bool' ? 'int32' : x)),
};
