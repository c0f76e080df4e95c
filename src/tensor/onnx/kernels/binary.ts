/* Functions of two tensors that broadcast. */
import type { Emitter } from '../emitter.ts';
import type { Op } from '../entry.ts';
import { broadcast, type Call, type Kernels, one, op, toWhole } from './kernel.ts';

type TensorInfo = Call['inputs'][string];

/** An operation by element; `masked` is what it is on masks, where ONNX has none. */
const onPair = (own: Op, dtype: (a: TensorInfo) => string, masked: Op = own) => {
  const [plain, onMasked] = [own, masked].map((o) => ({ ...o, broadcasts: true })) as [Op, Op];
  return ({ inputs, backend }: Call) => {
    const { a, b } = inputs as { a: TensorInfo; b: TensorInfo };
    const chosen = a.dtype === 'bool' ? onMasked : plain;
    return backend.record(chosen, [a, b], {}, broadcast(a.shape, b.shape), dtype(a));
  };
};

/** Masks count as 0 and 1. */
const onWholes = (own: Op): Op => ({
  name: `whole ${own.name}`,
  emit: (e, inputs, node, self) =>
    own.emit(
      e,
      inputs.map((x) => e.cast(x, 'int32')),
      { ...node, inputs: node.inputs.map((x) => ({ ...x, dtype: 'int32' })) },
      self,
    ),
});

/** The same, and the result is a mask again. */
const onMasks = (own: Op): Op => ({
  name: `mask ${own.name}`,
  emit: (e, inputs, node, self) => e.cast(onWholes(own).emit(e, inputs, node, self), 'bool'),
});

const arithmetic = (own: Op) => onPair(own, (a) => a.dtype, onMasks(own));
const comparison = (own: Op) => onPair(own, () => 'bool', onWholes(own));
const logical = (own: Op) => onPair(own, () => 'bool');

/**
 * Quotient and rest of int32 as ONNX has them, but for divisors of 0, which give 0 as in JavaScript, and of −1: a
 * processor knows neither x ÷ 0 nor −2³¹ ÷ −1, and ends the process.
 */
function wholes(e: Emitter, a: string, b: string) {
  const [zero, one] = [e.scalar(0, 'int32'), e.scalar(1, 'int32')];
  const minus = e.node('Equal', [b, e.scalar(-1, 'int32')]);
  const none = e.node('Equal', [b, zero]);
  const either = e.node('Or', [minus, none]);
  const safe = e.node('Where', [either, one, b]);
  const rest = () => e.node('Where', [either, zero, e.node('Mod', [a, safe])]);
  const over = (dividend: string) => {
    const turned = e.node('Where', [minus, e.node('Sub', [zero, dividend]), e.node('Div', [dividend, safe])]);
    return e.node('Where', [none, zero, turned]);
  };
  return { rest, over };
}

/** Towards −∞, of whole numbers too. */
const FLOOR_DIV = op('FloorDiv', (e, inputs, _attrs, node) => {
  const { dtype } = node.inputs[0]!;
  if (dtype === 'float32') return toWhole(e, e.node('Floor', [e.node('Div', inputs)]));
  const [a, b] = dtype === 'bool' ? inputs.map((x) => e.cast(x, 'int32')) : inputs;
  const { rest, over } = wholes(e, a!, b!);
  return over(e.node('Sub', [a!, rest()]));
});

const DIV = op('Div', (e, [a, b], _attrs, node) =>
  node.inputs[0]!.dtype === 'int32' ? wholes(e, a!, b!).over(a!) : e.node('Div', [a!, b!]),
);

/** With the sign of the divisor. */
const MOD = op('Mod', (e, [a, b], _attrs, node) => {
  if (node.inputs[0]!.dtype === 'int32') return wholes(e, a!, b!).rest();
  const rest = e.node('Mod', [a!, b!], { fmod: 1 });
  const turned = e.node('Mod', [e.node('Add', [rest, b!]), b!], { fmod: 1 });
  const zero = e.scalar(0, 'float32');
  const alike = e.node('Equal', [e.node('Less', [a!, zero]), e.node('Less', [b!, zero])]);
  return e.node('Where', [alike, rest, turned]);
});

/** atan(a/b), turned by ±π where b < 0; on the axis b = 0 it is ±π/2. */
const ATAN2 = op('Atan2', (e, inputs) => {
  const [a, b] = inputs.map((x) => e.cast(x, 'float32'));
  const f = (x: number) => e.scalar(x, 'float32');
  const half = e.node('Where', [e.node('Less', [a!, f(0)]), f(-Math.PI / 2), f(Math.PI / 2)]);
  const turn = e.node('Where', [e.node('Less', [a!, f(0)]), f(-Math.PI), f(Math.PI)]);
  const angle = e.node('Atan', [e.node('Div', [a!, b!])]);
  const right = e.node('Where', [e.node('Less', [b!, f(0)]), e.node('Add', [angle, turn]), angle]);
  const vertical = e.node('Where', [e.node('Equal', [a!, f(0)]), f(0), half]);
  return e.node('Where', [e.node('Equal', [b!, f(0)]), vertical, right]);
});

const PRELU = op('Prelu', (e, inputs) => {
  const [x, alpha] = inputs.map((name) => e.cast(name, 'float32'));
  return e.node('Where', [e.node('Less', [x!, e.scalar(0, 'float32')]), e.node('Mul', [x!, alpha!]), x!]);
});

export const binary: Kernels = {
  Add: arithmetic(one('Add')),
  Sub: arithmetic(one('Sub')),
  Multiply: arithmetic(one('Mul')),
  RealDiv: arithmetic(DIV),
  Maximum: arithmetic(one('Max')),
  Minimum: arithmetic(one('Min')),
  Pow: arithmetic(one('Pow')),
  SquaredDifference: arithmetic(
    op('SquaredDifference', (e, inputs) => {
      const d = e.node('Sub', inputs);
      return e.node('Mul', [d, d]);
    }),
  ),
  FloorDiv: ({ inputs, backend }) => {
    const { a, b } = inputs as { a: TensorInfo; b: TensorInfo };
    return backend.record(FLOOR_DIV, [a, b], {}, broadcast(a.shape, b.shape), 'int32');
  },
  Mod: arithmetic(MOD),
  Atan2: ({ inputs, backend }) => {
    const { a, b } = inputs as { a: TensorInfo; b: TensorInfo };
    return backend.record(ATAN2, [a, b], {}, broadcast(a.shape, b.shape), 'float32');
  },
  BitwiseAnd: arithmetic(one('BitwiseAnd')),
  Prelu: ({ inputs, backend }) => {
    const { x, alpha } = inputs as { x: TensorInfo; alpha: TensorInfo };
    return backend.record(PRELU, [x, alpha], {}, broadcast(x.shape, alpha.shape), 'float32');
  },
  Equal: comparison(one('Equal')),
  NotEqual: comparison(op('NotEqual', (e, inputs) => e.node('Not', [e.node('Equal', inputs)]))),
  Greater: comparison(one('Greater')),
  GreaterEqual: comparison(one('GreaterOrEqual')),
  Less: comparison(one('Less')),
  LessEqual: comparison(one('LessOrEqual')),
  LogicalAnd: logical(one('And')),
  LogicalOr: logical(one('Or')),
  LogicalXor: logical(one('Xor')),
};
