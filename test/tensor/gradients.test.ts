/* Every gradient against central differences of the cpu backend, and the whole of a second order against a closed form. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillGradients } from '../../src/tensor/gradients.ts';
import { nativeRuntime } from '../../src/tensor/onnx/load-runtime.ts';
import type { Recorder } from '../../src/tensor/onnx/recorder.ts';
import { registerRecorder } from '../../src/tensor/onnx/register.ts';
import { sizeOf } from './kernel-cases.ts';

let recorder: Recorder | null = null;
let missing = '';
beforeAll(async () => {
  tf.env().set('PROD', true);
  fillGradients(tf);
  try {
    recorder = registerRecorder('onnx', await nativeRuntime('cpu', { threads: 1 }));
  } catch (error) {
    missing = String(error);
  }
});
afterAll(() => recorder?.close());

/** A function of one tensor, the shape of it, and the interval its values are drawn from, away from kinks. */
interface Case {
  readonly f: (x: tf.Tensor) => tf.Tensor;
  readonly shape: readonly number[];
  readonly from?: readonly [number, number];
}
const c = (
  f: Case['f'],
  shape: readonly number[] = [2, 3],
  from: readonly [number, number] = [0.2, 1.7],
): Case => ({ f, shape, from });

const other = (shape: number[]) =>
  tf.tensor(
    Array.from({ length: sizeOf(shape) }, (_, k) => Math.cos(k + 1)),
    shape,
  );
const CASES: Readonly<Record<string, Case>> = {
  abs: c(tf.abs),
  acos: c((x) => tf.acos(tf.div(x, 2))),
  acosh: c((x) => tf.acosh(tf.add(x, 1.2))),
  asin: c((x) => tf.asin(tf.div(x, 2))),
  asinh: c(tf.asinh),
  atan: c(tf.atan),
  atanh: c((x) => tf.atanh(tf.div(x, 2))),
  cos: c(tf.cos),
  cosh: c(tf.cosh),
  elu: c((x) => tf.elu(tf.sub(x, 2))),
  erf: c(tf.erf),
  exp: c(tf.exp),
  expm1: c(tf.expm1),
  leakyRelu: c((x) => tf.leakyRelu(tf.sub(x, 2), 0.3)),
  log: c(tf.log),
  log1p: c(tf.log1p),
  neg: c(tf.neg),
  reciprocal: c(tf.reciprocal),
  relu: c(tf.relu),
  relu6: c((x) => tf.relu6(x)),
  rsqrt: c(tf.rsqrt),
  selu: c((x) => tf.selu(tf.sub(x, 2))),
  sigmoid: c(tf.sigmoid),
  sin: c(tf.sin),
  sinh: c(tf.sinh),
  softplus: c(tf.softplus),
  sqrt: c(tf.sqrt),
  square: c(tf.square),
  tan: c((x) => tf.tan(tf.div(x, 2))),
  tanh: c(tf.tanh),
  clip: c((x) => tf.clipByValue(x, 0.1, 5)),
  add: c((x) => tf.add(x, other([3]))),
  sub: c((x) => tf.sub(other([2, 1]), x)),
  mul: c((x) => tf.mul(x, other([1, 3]))),
  div: c((x) => tf.div(other([2, 3]), x)),
  pow: c((x) => tf.pow(x, tf.scalar(2.5))),
  powOfExponent: c((x) => tf.pow(tf.scalar(1.3), x)),
  maximum: c((x) => tf.maximum(x, tf.scalar(-1))),
  minimum: c((x) => tf.minimum(x, tf.scalar(9))),
  atan2: c((x) => tf.atan2(x, other([2, 3]))),
  squaredDifference: c((x) => tf.squaredDifference(x, other([3]))),
  prelu: c((x) => tf.prelu(tf.sub(x, 3), other([2, 3]))),
  sum: c((x) => tf.sum(x, 0)),
  mean: c((x) => tf.mean(x, 1, true)),
  max: c((x) => tf.max(x, 1)),
  min: c((x) => tf.min(x, 0)),
  prod: c((x) => tf.prod(x, 1)),
  logSumExp: c((x) => tf.logSumExp(x, 1)),
  softmax: c((x) => tf.softmax(x)),
  logSoftmax: c((x) => tf.logSoftmax(x)),
  cumsum: c((x) => tf.cumsum(x, 1, true, true)),
  moments: c((x) => tf.moments(x, 1).variance),
  layerNorm: c((x) => {
    const { mean, variance } = tf.moments(x, 1, true);
    return tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, 1e-3)));
  }),
  reshape: c((x) => tf.reshape(x, [3, 2])),
  transpose: c((x) => tf.transpose(x)),
  slice: c((x) => tf.slice(x, [0, 1], [2, 2])),
  pad: c((x) =>
    tf.pad(x, [
      [1, 0],
      [0, 2],
    ]),
  ),
  tile: c((x) => tf.tile(x, [2, 3])),
  concat: c((x) => tf.concat([x, tf.square(x)], 1)),
  stack: c((x) => tf.stack([x, tf.exp(x)], 1)),
  split: c((x) => tf.mul(tf.split(x, 3, 1)[0]!, tf.split(x, 3, 1)[2]!)),
  unstack: c((x) => tf.mul(tf.unstack(x)[0]!, tf.unstack(x)[1]!)),
  reverse: c((x) => tf.reverse(x, 1)),
  expandDims: c((x) => tf.expandDims(x, 1)),
  broadcastTo: c((x) => tf.broadcastTo(x, [4, 2, 3])),
  gather: c((x) => tf.gather(x, tf.tensor1d([1, 0, 1], 'int32'), 0), [3, 2]),
  gatherAxis: c((x) => tf.gather(x, tf.tensor1d([2, 0, 2], 'int32'), 1)),
  gatherNd: c((x) =>
    tf.gatherND(
      x,
      tf.tensor2d(
        [
          [1, 2],
          [0, 0],
          [1, 2],
        ],
        [3, 2],
        'int32',
      ),
    ),
  ),
  segmentSum: c((x) => tf.unsortedSegmentSum(x, tf.tensor1d([1, 0, 1], 'int32'), 2), [3, 2]),
  where: c((x) => tf.where(tf.greaterEqual(other([2, 3]), 0), x, tf.square(x))),
  maskLess: c((x) => tf.mul(tf.cast(tf.less(x, 1), 'float32'), tf.square(x)), [2, 3], [1.1, 1.9]),
  maskGreater: c((x) => tf.mul(tf.cast(tf.greater(x, 1), 'float32'), tf.square(x)), [2, 3], [1.1, 1.9]),
  matMul: c((x) => tf.matMul(x, other([3, 4]))),
  matMulTurned: c((x) => tf.matMul(other([4, 2]), x, true, true), [3, 4]),
  matMulBatch: c((x) => tf.matMul(x, other([2, 3, 2])), [2, 2, 3]),
  einsum: c((x) => tf.einsum('ij,jk->ik', x, other([3, 4]))),
  topk: c((x) => tf.mul(tf.max(x, 1), tf.min(x, 1))),
};

async function gradientOf({ f, shape }: Case, values: readonly number[], backend: string): Promise<number[]> {
  await tf.setBackend(backend);
  const x = tf.tensor(values as number[], [...shape]);
  const g = tf.grad((t) => tf.sum(tf.mul(f(t), weights(f(t)))))(x);
  return [...(await g.data())];
}
/** The result is weighed differently in every place, so that no error cancels. */
const weights = (y: tf.Tensor) =>
  tf.tensor(
    Array.from({ length: y.size }, (_, k) => 1 + (k % 3)),
    y.shape,
  );

/** In float32 a difference of values near 1 has five digits: steps of 1/64, differences of (−2, −1, 1, 2). */
function differences({ f, shape }: Case, values: readonly number[]): number[] {
  const h = 1 / 64;
  const at = (k: number, step: number) =>
    tf.tidy(() => {
      const x = values.map((v, j) => (j === k ? v + step : v));
      const y = f(tf.tensor(x, [...shape]));
      return tf.sum(tf.mul(y, weights(y))).dataSync()[0]!;
    });
  return values.map((_, k) => (8 * (at(k, h) - at(k, -h)) - (at(k, 2 * h) - at(k, -2 * h))) / (12 * h));
}

for (const [name, own] of Object.entries(CASES))
  test(`gradient of ${name}`, async ({ skip }) => {
    if (recorder === null) skip(`skipped: ${missing}`);
    const [lo, hi] = own.from!;
    const size = sizeOf(own.shape);
    // Distinct by more than the steps: no two change places.
    const drawn = fc.shuffledSubarray(
      Array.from({ length: size }, (_, k) => lo + ((hi - lo) * (k + 0.5)) / size),
      { minLength: size },
    );
    await fc.assert(
      fc.asyncProperty(drawn, async (values) => {
        const found = await gradientOf(own, values, 'onnx');
        await tf.setBackend('cpu');
        const expected = differences(own, values);
        for (const [k, x] of expected.entries())
          expect(
            Math.abs(found[k]! - x),
            `${name} at ${values}: d/dx${k} ${found[k]}, by differences ${x}`,
          ).toBeLessThanOrEqual(2e-3 * Math.max(1, Math.abs(x)));
      }),
      { numRuns: 2 },
    );
  });

test('of a sum or mean over nothing: nothing', () => {
  for (const name of ['onnx', 'cpu'].filter((own) => own === 'cpu' || recorder !== null)) {
    tf.setBackend(name);
    for (const [shape, axis] of [
      [[0]],
      [[0, 3], 0],
      [[0, 3], 1],
      [
        [2, 0],
        [0, 1],
      ],
    ] as [number[], (number | number[])?][])
      for (const f of [tf.sum, tf.mean])
        expect(tf.grad((x) => tf.sum(f(x, axis)))(tf.zeros(shape)).shape).toEqual(shape);
  }
});

test('a second derivative', async ({ skip }) => {
  if (recorder === null) skip(`skipped: ${missing}`);
  await tf.setBackend('onnx');
  // Not of exp: TensorFlow.js saves its result, and differentiates that no further, on any backend.
  const f = (x: tf.Tensor) => tf.sum(tf.mul(tf.sin(x), tf.square(x)));
  const g = tf.grad((x: tf.Tensor) => tf.sum(tf.grad(f)(x)))(tf.tensor1d([0.5, 1]));
  const found = [...(await g.data())];
  const want = [0.5, 1].map((x) => (2 - x * x) * Math.sin(x) + 4 * x * Math.cos(x));
  for (const k of [0, 1]) expect(found[k]!).toBeCloseTo(want[k]!, 5);
});

test('einsum over indices of one factor alone, where the cpu backend is wrong: by hand', async ({ skip }) => {
  if (recorder === null) skip(`skipped: ${missing}`);
  await tf.setBackend('onnx');
  const b = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
  const f = (x: tf.Tensor) => tf.einsum('ij,jk->k', x, b);
  // Columns sum to (1, 2, 3) · 2; y = (2·1 + 4·3 + 6·5, 2·2 + 4·4 + 6·6).
  const x = tf.tensor2d([1, 2, 3, 1, 2, 3], [2, 3]);
  expect([...(await f(x).data())]).toEqual([44, 56]);
  const g = tf.grad((t: tf.Tensor) => tf.sum(tf.mul(f(t), tf.tensor1d([1, 10]))))(x);
  expect([...(await g.data())]).toEqual([21, 43, 65, 21, 43, 65]);
});
