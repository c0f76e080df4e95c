import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';
import { rmsNorm } from '../../src/tensor/rms-norm.ts';
import { draws, expectClose } from './by-hand.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

/** Σ dy y in float64, from the definition. */
function objective(x: ArrayLike<number>, gain: ArrayLike<number>, dy: ArrayLike<number>, n: number): number {
  let sum = 0;
  for (let row = 0; row < x.length / n; row++) {
    let squares = 0;
    for (let c = 0; c < n; c++) squares += x[row * n + c]! ** 2;
    const r = 1 / Math.sqrt(squares / n + 1e-6);
    for (let c = 0; c < n; c++) sum += dy[row * n + c]! * x[row * n + c]! * r * gain[c]!;
  }
  return sum;
}

/** The derivative by each number of a list, by central differences of a function in float64. */
function differences(f: (x: Float64Array) => number, at: ArrayLike<number>): number[] {
  const x = Float64Array.from(at);
  return Array.from(x, (_, k) => {
    const [h, own] = [1e-5, x[k]!];
    x[k] = own + h;
    const up = f(x);
    x[k] = own - h;
    const down = f(x);
    x[k] = own;
    return (up - down) / (2 * h);
  });
}

test.each(['cpu', 'onnx'] as const)(
  'on %s: x r g, and its gradients by central differences',
  async (backend) => {
    tensors = await openTensors({ backend, threads: 1 });
    const { tf } = tensors;
    const size = fc.integer({ min: 1, max: 6 });
    const law = fc.asyncProperty(size, size, fc.nat(1e6), async (rows, n, seed) => {
      const [x, dy] = draws(seed, 2, rows * n, 1.5) as [Float32Array, Float32Array];
      const [gain] = draws(seed + 1, 1, n, 1) as [Float32Array];
      const [tx, tg, tdy] = [tf.tensor2d(x, [rows, n]), tf.tensor1d(gain), tf.tensor2d(dy, [rows, n])];
      const [dx, dg] = tf.grads((a, g) => rmsNorm(tf, a as Tensor2D, g as Tensor1D))([tx, tg], tdy);
      // Each number of y alone: the objective with a dy that is 1 there.
      const y = Array.from(x, (_, k) =>
        objective(
          x,
          gain,
          Float64Array.from(x, (_, j) => (j === k ? 1 : 0)),
          n,
        ),
      );
      expectClose(await rmsNorm(tf, tx, tg).data(), y, 1e-5, 'y');
      // One number a row is a step from −g to g, as wide as √ε: no place for differences.
      if (n > 1)
        expectClose(
          await dx!.data(),
          differences((v) => objective(v, gain, dy, n), x),
          1e-4,
          'dx',
        );
      expectClose(
        await dg!.data(),
        differences((v) => objective(x, v, dy, n), gain),
        1e-4,
        'dg',
      );
    });
    await fc.assert(law, { numRuns: 20 });
  },
);

test('three dimensions; rows of zeros stay zeros; other gains are refused', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  const y = rmsNorm(tf, tf.tensor3d([3, 4, 0, 0], [2, 1, 2]), tf.tensor1d([1, 10]));
  expect(y.shape).toEqual([2, 1, 2]);
  const r = 1 / Math.sqrt(12.5 + 1e-6);
  expectClose(await y.data(), [3 * r, 40 * r, 0, 0], 1e-6, 'y');
  expect(() => rmsNorm(tf, tf.zeros([2, 3]), tf.zeros([2]))).toThrow(
    'RMS norm, gains: not one for each number of a row, got [2], expected [3]',
  );
});

test('a second derivative is refused', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  const gain = tf.ones([2]) as Tensor1D;
  const first = tf.grad((x) => tf.square(rmsNorm(tf, x as Tensor2D, gain)));
  expect(first(tf.ones([1, 2])).shape).toEqual([1, 2]);
  expect(() => tf.grad((x) => tf.sum(first(x)))(tf.ones([1, 2]))).toThrow(
    'gradient of an RMS norm: cannot be differentiated again. Write it with the functions of TensorFlow.js.',
  );
});
