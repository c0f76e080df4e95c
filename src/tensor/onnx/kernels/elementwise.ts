/* Functions of one number, by element. Masks and whole numbers keep their type where the function keeps it. */

import type { Emitter } from '../emitter.ts';
import type { Op } from '../entry.ts';
import { type Call, type Kernels, one, op } from './kernel.ts';

/** Kernels that are one ONNX node and keep float32. */
const SAME_NAME = [
  'Abs',
  'Acos',
  'Acosh',
  'Asin',
  'Asinh',
  'Atan',
  'Atanh',
  'Ceil',
  'Cos',
  'Cosh',
  'Erf',
  'Exp',
  'Floor',
  'Log',
  'Neg',
  'Reciprocal',
  'Relu',
  'Sigmoid',
  'Sin',
  'Sinh',
  'Softplus',
  'Sqrt',
  'Tan',
  'Tanh',
  'Round',
] as const;

/** Of those, the ones that also keep int32. */
const WHOLE = new Set([
  'Abs',
  'Neg',
  'Relu',
  'Square',
  'Sign',
  'Ceil',
  'Floor',
  'Round',
  'Relu6',
  'ClipByValue',
]);

const f = (e: Emitter, x: number) => e.scalar(x, 'float32');

const COMPOSED: Readonly<Record<string, Op>> = {
  Square: op('Square', (e, [x]) => e.node('Mul', [x!, x!])),
  Rsqrt: op('Rsqrt', (e, [x]) => e.node('Reciprocal', [e.node('Sqrt', [x!])])),
  // exp(x) − 1 and log(1 + x) keep no digits near 0 as written: 2 e^{x/2} sinh(x/2) and 2 artanh(x/(2 + x)) do.
  Expm1: op('Expm1', (e, [x]) => {
    const half = e.node('Mul', [x!, f(e, 0.5)]);
    const product = e.node('Mul', [e.node('Exp', [half]), e.node('Sinh', [half])]);
    // Far out the product of a tiny and a huge number is neither.
    const near = e.node('Less', [e.node('Abs', [x!]), f(e, 1)]);
    const far = e.node('Sub', [e.node('Exp', [x!]), f(e, 1)]);
    return e.node('Where', [near, e.node('Mul', [product, f(e, 2)]), far]);
  }),
  Log1p: op('Log1p', (e, [x]) => {
    const exact = e.node('Atanh', [e.node('Div', [x!, e.node('Add', [x!, f(e, 2)])])]);
    const near = e.node('Less', [e.node('Abs', [x!]), f(e, 0.5)]);
    return e.node('Where', [
      near,
      e.node('Mul', [exact, f(e, 2)]),
      e.node('Log', [e.node('Add', [x!, f(e, 1)])]),
    ]);
  }),
  Sign: op('Sign', (e, [x], _attrs, node) => {
    const zero = e.scalar(0, node.inputs[0]!.dtype === 'int32' ? 'int32' : 'float32');
    const type = node.inputs[0]!.dtype === 'int32' ? 'int32' : 'float32';
    const up = e.cast(e.node('Greater', [x!, zero]), type);
    return e.node('Sub', [up, e.cast(e.node('Less', [x!, zero]), type)]);
  }),
  Relu6: op('Relu6', (e, [x], _attrs, node) => {
    const type = node.inputs[0]!.dtype === 'int32' ? 'int32' : 'float32';
    return e.node('Min', [e.node('Max', [x!, e.scalar(0, type)]), e.scalar(6, type)]);
  }),
  Elu: op('Elu', (e, [x]) => e.node('Elu', [x!])),
  Selu: op('Selu', (e, [x]) => e.node('Selu', [x!])),
  IsNan: one('IsNaN'),
  IsInf: one('IsInf'),
  IsFinite: op('IsFinite', (e, [x]) => e.node('Less', [e.node('Abs', [x!]), f(e, Infinity)])),
};

const bool = new Set(['IsNan', 'IsInf', 'IsFinite']);

function unary(name: string, own: Op) {
  return ({ inputs, backend }: Call) => {
    const x = inputs.x!;
    const dtype = bool.has(name) ? 'bool' : x.dtype === 'int32' && WHOLE.has(name) ? 'int32' : 'float32';
    const needsFloat = x.dtype !== 'float32' && !(x.dtype === 'int32' && dtype === 'int32');
    return backend.record(needsFloat ? onFloats(own) : own, [x], {}, x.shape, dtype);
  };
}

/** The same on whole numbers and masks, as floats. */
const onFloats = (own: Op): Op => ({
  name: `float ${own.name}`,
  emit: (e, [x], node, self) => own.emit(e, [e.cast(x!, 'float32')], node, self),
});

const LEAKY = op('LeakyRelu', (e, [x], { alpha }) =>
  e.node('LeakyRelu', [x!], { alpha: { float: alpha as number } }),
);
const CLIP = op('ClipByValue', (e, [x], attrs, _node, self) => {
  const { low, high } = attrs as { low: number; high: number };
  if (self.dtype === 'bool') return x!;
  return e.node('Min', [e.node('Max', [x!, e.scalar(low, self.dtype)]), e.scalar(high, self.dtype)]);
});
const ELU_GRAD = op('EluGrad', (e, [dy, y]) => {
  const below = e.node('Mul', [dy!, e.node('Add', [y!, f(e, 1)])]);
  return e.node('Where', [e.node('GreaterOrEqual', [y!, f(e, 0)]), dy!, below]);
});

/** x where it is a number the function is made for; ceil, floor and round of whole numbers are themselves. */
const KEEP = new Set(['Ceil', 'Floor', 'Round']);

export const elementwise: Kernels = {
  ...Object.fromEntries(
    SAME_NAME.map((name) => [name, unary(name, KEEP.has(name) ? rounding(name) : one(name))]),
  ),
  ...Object.fromEntries(Object.entries(COMPOSED).map(([name, own]) => [name, unary(name, own)])),
  LeakyRelu: ({ inputs, attrs, backend }) => {
    const x = inputs.x!;
    const own = x.dtype === 'float32' ? LEAKY : onFloats(LEAKY);
    return backend.record(own, [x], { alpha: attrs.alpha }, x.shape, 'float32');
  },
  ClipByValue: ({ inputs, attrs, backend }) => {
    const x = inputs.x!;
    const limits = { low: attrs.clipValueMin, high: attrs.clipValueMax };
    return backend.record(CLIP, [x], limits, x.shape, x.dtype);
  },
  EluGrad: ({ inputs: { dy, y }, backend }) => backend.record(ELU_GRAD, [dy!, y!], {}, y!.shape, 'float32'),
  LogicalNot: ({ inputs, backend }) => backend.record(one('Not'), [inputs.x!], {}, inputs.x!.shape, 'bool'),
};

function rounding(name: string): Op {
  return op(name, (e, [x], _attrs, node) => (node.inputs[0]!.dtype === 'int32' ? x! : e.node(name, [x!])));
}
