/* Tensors of one value, and choices between tensors. */
import { type Op, sizeOf } from '../entry.ts';
import { emptyValues } from '../graph.ts';
import { dtypeOf, type Recorder, type TensorInfo } from '../recorder.ts';
import { choose, type Kernels, op, upcast } from './kernel.ts';

const EXPAND: Op = {
  ...op('Expand', (e, [x], _attrs, _node, self) => e.node('Expand', [x!, e.ints(self.shape)])),
  repeats: true,
};

/** One number everywhere. It is fed: as a constant of a graph, ONNX Runtime would keep the whole tensor. */
export function filled(backend: Recorder, shape: readonly number[], value: number, type: string): TensorInfo {
  const dtype = dtypeOf(type, 'Fill');
  if (sizeOf(shape) <= 1) return backend.value(emptyValues(dtype, sizeOf(shape)).fill(value), shape, dtype);
  const scalar = backend.value(emptyValues(dtype, 1).fill(value), [], dtype, false);
  const out = backend.record(EXPAND, [scalar], {}, shape, dtype);
  backend.disposeData(scalar.dataId);
  return out;
}

export const create: Kernels = {
  Fill: ({ attrs: { shape, value, dtype }, backend }) => filled(backend, shape, value, dtype ?? 'float32'),
  ZerosLike: ({ inputs, backend }) => filled(backend, inputs.x!.shape, 0, inputs.x!.dtype),
  OnesLike: ({ inputs, backend }) => filled(backend, inputs.x!.shape, 1, inputs.x!.dtype),
  Step: ({ inputs, attrs, backend }) =>
    backend.record(STEP, [inputs.x!], { alpha: attrs.alpha }, inputs.x!.shape, inputs.x!.dtype),
  OneHot({ inputs, attrs, backend }) {
    const { depth, onValue, offValue, dtype } = attrs;
    const x = inputs.indices!;
    return backend.record(ONE_HOT, [x], { depth, onValue, offValue }, [...x.shape, depth], dtype ?? 'int32');
  },
  AddN({ inputs, backend }) {
    const all = [...(inputs as unknown as readonly TensorInfo[])];
    return backend.record(ADD_N, all, {}, all[0]!.shape, all[0]!.dtype);
  },
  Select({ inputs, backend }) {
    const { condition, t, e } = inputs as Record<'condition' | 't' | 'e', TensorInfo>;
    return backend.record(SELECT, [condition, t, e], {}, t.shape, upcast(t.dtype, e.dtype));
  },
};

const STEP = op('Step', (e, [x], { alpha }, _node, self) => {
  if (self.dtype === 'bool') return alpha === 0 ? x! : e.node('Or', [x!, e.scalar(1, 'bool')]);
  // 0 below, 1 above, and what is not a number stays visible: HardSigmoid cuts αx to [0, 1], here x 2^254.
  if (alpha === 0 && self.dtype === 'float32') {
    const steep = e.node('Mul', [x!, e.scalar(2 ** 127, 'float32')]);
    return e.node('HardSigmoid', [steep], { alpha: { float: 2 ** 127 }, beta: { float: 0 } });
  }
  const low = e.scalar(alpha as number, self.dtype);
  const positive = e.node('Greater', [x!, e.scalar(0, self.dtype)]);
  const stepped = e.node('Where', [positive, e.scalar(1, self.dtype), low]);
  if (self.dtype === 'int32') return stepped;
  return e.node('Where', [e.node('IsNaN', [x!]), x!, stepped]);
});
const ONE_HOT = op('OneHot', (e, [x], attrs, _node, self) => {
  const { depth, onValue, offValue } = attrs as { depth: number; onValue: number; offValue: number };
  // A negative index is no class here, where ONNX counts it from the end: compared, not looked up.
  const classes = e.node('Range', [e.scalar(0, 'int32'), e.scalar(depth, 'int32'), e.scalar(1, 'int32')]);
  const hit = e.node('Equal', [e.node('Unsqueeze', [x!, e.ints([-1])]), classes]);
  return choose(e, hit, e.scalar(onValue, self.dtype), e.scalar(offValue, self.dtype), self.dtype);
});
const ADD_N = op('AddN', (e, inputs, _attrs, _node, self) => {
  if (self.dtype === 'float32') return e.node('Sum', inputs);
  // Masks: any of them.
  return inputs.reduce((a, b) => e.node(self.dtype === 'bool' ? 'Or' : 'Add', [a, b]));
});
const SELECT = op('Select', (e, [condition, t, f], _attrs, node, self) => {
  const rank = self.shape.length;
  const own = node.inputs[0]!.shape;
  const wide =
    own.length === rank
      ? condition!
      : e.node('Reshape', [condition!, e.ints([...own, ...Array(rank - own.length).fill(1)])]);
  const [yes, no] = [t!, f!].map((name, k) =>
    node.inputs[k + 1]!.dtype === self.dtype ? name : e.cast(name, self.dtype),
  );
  return choose(e, wide, yes!, no!, self.dtype);
});
