/* Products of matrices, and what neural networks do by row. */

import * as tf from '@tensorflow/tfjs';
import type { Emitter } from '../emitter.ts';
import { type Recorded, sizeOf } from '../entry.ts';
import { MICROSOFT } from '../model.ts';
import { dtypeOf, type Recorder, type TensorInfo } from '../recorder.ts';
import { binary } from './binary.ts';
import { filled } from './create.ts';
import { elementwise } from './elementwise.ts';
import { axesOf, broadcast, type Call, type Kernels, one, op, upcast } from './kernel.ts';

/** The operands turned inside the product where the provider has it, by Transpose elsewhere. */
function product(e: Emitter, inputs: readonly string[], { attrs, inputs: from }: Recorded): string {
  const { ta, tb, fused } = attrs as { ta: number; tb: number; fused: boolean };
  if (ta === 0 && tb === 0) return e.node('MatMul', inputs);
  if (fused) return e.node('FusedMatMul', inputs, { transA: ta, transB: tb }, MICROSOFT);
  const turned = inputs.map((name, k) => {
    if ([ta, tb][k] === 0) return name;
    const rank = from[k]!.shape.length;
    const perm = Array.from({ length: rank }, (_, d) => (d < rank - 2 ? d : 2 * rank - 3 - d));
    return e.node('Transpose', [name], { perm });
  });
  return e.node('MatMul', turned);
}

/** Of masks too: whether any pair is true in both. */
const MATMUL = op('MatMul', (e, inputs, _attrs, node, self) => {
  if (self.dtype !== 'bool') return product(e, inputs, node);
  const numbers = inputs.map((x) => e.cast(x, 'int32'));
  return e.cast(product(e, numbers, node), 'bool');
});

/** Of masks as numbers. */
const EINSUM = op('Einsum', (e, inputs, { equation }, node, self) => {
  const type = self.dtype === 'float32' ? 'float32' : 'int32';
  const own = inputs.map((x, k) => (node.inputs[k]!.dtype === type ? x : e.cast(x, type)));
  const found = e.node('Einsum', own, { equation: equation as string });
  return self.dtype === 'bool' ? e.cast(found, 'bool') : found;
});

/** What `_FusedMatMul` does after the product, as tensors of its own. */
const ACTIVATIONS: Readonly<Record<string, string>> = {
  relu: 'Relu',
  relu6: 'Relu6',
  elu: 'Elu',
  prelu: 'Prelu',
  leakyrelu: 'LeakyRelu',
  sigmoid: 'Sigmoid',
};

const hasFused = (backend: Recorder): boolean => backend.runtime.provider !== 'webgpu';

function batchMatMul({ inputs, attrs, backend }: Call): TensorInfo {
  const { a, b } = inputs as Record<'a' | 'b', (typeof inputs)[string]>;
  const { transposeA, transposeB } = attrs;
  const [rows, inner] = transposeA ? [a.shape.at(-1)!, a.shape.at(-2)!] : [a.shape.at(-2)!, a.shape.at(-1)!];
  const [other, columns] = transposeB
    ? [b.shape.at(-1)!, b.shape.at(-2)!]
    : [b.shape.at(-2)!, b.shape.at(-1)!];
  if (inner !== other)
    throw new Error(
      `Error in matMul: inner shapes (${inner}) and (${other}) of Tensors with shapes ${a.shape} and ${b.shape} and transposeA=${transposeA} and transposeB=${transposeB} must match.`,
    );
  const lead = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2));
  // A sum of nothing: ONNX Runtime leaves its result as the memory was.
  if (inner === 0) return filled(backend, [...lead, rows, columns], 0, dtypeOf(a.dtype, 'matMul'));
  const own = {
    ta: transposeA ? 1 : 0,
    tb: transposeB ? 1 : 0,
    fused: a.dtype === 'float32' && hasFused(backend),
  };
  return backend.record(MATMUL, [a, b], own, [...lead, rows, columns], a.dtype);
}

export const products: Kernels = {
  BatchMatMul: batchMatMul,
  _FusedMatMul(call) {
    const { inputs, attrs, backend } = call;
    const steps: TensorInfo[] = [batchMatMul(call)];
    const then = (x: TensorInfo) => steps.push(x);
    if (inputs.bias)
      then(binary.Add!({ inputs: { a: steps[0]!, b: inputs.bias }, attrs: {}, backend }) as TensorInfo);
    const x = steps.at(-1)!;
    const name =
      attrs.activation === 'linear' || attrs.activation == null ? null : ACTIVATIONS[attrs.activation];
    const alpha = inputs.preluActivationWeights;
    if (name === 'Prelu')
      then(binary.Prelu!({ inputs: { x, alpha: alpha! }, attrs: {}, backend }) as TensorInfo);
    else if (name != null)
      then(
        elementwise[name]!({
          inputs: { x },
          attrs: { alpha: attrs.leakyreluAlpha ?? 0.2 },
          backend,
        }) as TensorInfo,
      );
    for (const step of steps.slice(0, -1)) backend.disposeData(step.dataId);
    return steps.at(-1)!;
  },
  Einsum({ inputs, attrs, backend }) {
    const all = [...(inputs as unknown as readonly TensorInfo[])];
    const equation: string = attrs.equation.replace(/\s/g, '');
    const { allDims, summedDims, idDims } = tf.backend_util.decodeEinsumEquation(equation, all.length);
    tf.backend_util.checkEinsumDimSizes(allDims.length, idDims, all as never);
    const size = (dim: number) =>
      all.flatMap((x, k) => (idDims[k]!.includes(dim) ? [x.shape[idDims[k]!.indexOf(dim)]!] : []))[0]!;
    const out = allDims
      .map((_, dim) => dim)
      .filter((dim) => !summedDims.includes(dim))
      .map(size);
    const held = all.map((x) => x.dtype).reduce(upcast);
    const dtype = held === 'bool' && summedDims.length > 0 ? 'int32' : held;
    if (all.some((x) => sizeOf(x.shape) === 0)) return filled(backend, out, 0, dtypeOf(dtype, 'einsum'));
    return backend.record(EINSUM, all, { equation }, out, dtype);
  },
  Softmax: ({ inputs, attrs, backend }) => {
    const x = inputs.logits!;
    axesOf(attrs.dim, x.shape); // a scalar has no axis
    return backend.record(one('Softmax', { axis: -1 }), [x], {}, x.shape, 'float32');
  },
};
