import type { Scalar } from '@tensorflow/tfjs';
import { afterEach, describe, expect, test } from 'vitest';
import { adamw } from '../../src/tensor/adamw.ts';
import { gradientStep } from '../../src/tensor/gradient-step.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';
import { bytesOf, problem } from './two-layers.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

/** d Σ w² / dw = 2w, at w = (3, 4): loss 25, norm 10. */
async function squares(backend: 'cpu' | 'onnx', maxNorm: number | null = null) {
  tensors = await openTensors({ backend });
  const { tf } = tensors;
  const [w, unused] = [tf.variable(tf.tensor1d([3, 4])), tf.variable(tf.tensor1d([1]))];
  const loss = (): Scalar => tf.sum(tf.square(w));
  return { tf, w, unused, loss, optimiser: adamw(tensors, { w }, { maxNorm, weightDecay: 0 }) };
}

describe.each(['cpu', 'onnx'] as const)('on %s', (backend) => {
  test('loss and norm are those before the step and before the clip', async () => {
    const { loss, optimiser } = await squares(backend, 5);
    const result = await gradientStep(tensors, optimiser, loss, { learningRate: 0.5 });
    expect(result).toEqual({ loss: 25, gradientNorm: 10, step: 1, learningRate: 0.5 });
    // The clip halves (6, 8); m is a tenth of that after the first step.
    const m = await optimiser.m.w!.data();
    expect(m[0]).toBeCloseTo(0.3, 6);
    expect(m[1]).toBeCloseTo(0.4, 6);
  });

  test('up to the largest norm nothing is scaled', async () => {
    const { loss, optimiser } = await squares(backend, 10);
    await gradientStep(tensors, optimiser, loss);
    expect([...(await optimiser.m.w!.data())]).toEqual([6, 8].map((g) => Math.fround(Math.fround(0.1) * g)));
  });

  test('a loss that is no number is refused before anything changes, and the next step goes on', async () => {
    const { tf, w, loss, optimiser } = await squares(backend);
    await gradientStep(tensors, optimiser, loss);
    const before = await bytesOf(optimiser);
    const held = tensors.memory().tensors;
    for (const [bad, shown] of [
      [NaN, 'NaN'],
      [Infinity, 'Infinity'],
    ] as const)
      await expect(gradientStep(tensors, optimiser, () => tf.mul(tf.sum(w), tf.scalar(bad)))).rejects.toThrow(
        `step 2: the loss is not finite, and nothing has been changed, got ${shown}`,
      );
    expect(await bytesOf(optimiser)).toEqual(before);
    expect(optimiser.step).toBe(1);
    expect(tensors.memory().tensors).toBe(held);
    expect((await gradientStep(tensors, optimiser, loss)).step).toBe(2);
    expect(await bytesOf(optimiser)).not.toEqual(before);
  });

  test('a gradient that is not finite under a finite loss is refused by the name of its parameter', async () => {
    const { tf, w, optimiser } = await squares(backend);
    const fine = tf.variable(tf.tensor1d([1]));
    const both = adamw(tensors, { fine, w });
    const before = await bytesOf(both);
    // √ has slope ∞ at 0: the loss is 1, the gradient of w infinite.
    const loss = (): Scalar => tf.add(tf.sum(fine), tf.sum(tf.sqrt(tf.mul(w, 0))));
    await expect(gradientStep(tensors, both, loss)).rejects.toThrow(
      /step 1: the gradient of w is not finite/,
    );
    expect(await bytesOf(both)).toEqual(before);
    expect(both.step).toBe(0);
    expect(optimiser.step).toBe(0);
  });

  test('a shape that does not fit is named as TensorFlow.js names it, and the step can be taken again', async () => {
    const { tf, w, loss, optimiser } = await squares(backend);
    const held = tensors.memory().tensors;
    await expect(gradientStep(tensors, optimiser, () => tf.sum(tf.add(w, tf.ones([3]))))).rejects.toThrow(
      'Operands could not be broadcast together with shapes 2 and 3.',
    );
    await expect(
      gradientStep(tensors, optimiser, () => tf.sum(tf.matMul(tf.reshape(w, [1, 2]), tf.ones([3, 1])))),
    ).rejects.toThrow(/Error in matMul: inner shapes \(2\) and \(3\)/);
    expect(tensors.memory().tensors).toBe(held);
    expect((await gradientStep(tensors, optimiser, loss)).loss).toBe(25);
  });

  test('a parameter that takes no part in the loss is named', async () => {
    const { loss, w, unused } = await squares(backend);
    await expect(gradientStep(tensors, adamw(tensors, { w, unused }), loss)).rejects.toThrow(
      'step 1: parameter unused takes no part in the loss. Leave it out of the optimiser.',
    );
  });

  test('a step before the last has ended, a learning rate that is none: refused', async () => {
    const { loss, optimiser } = await squares(backend);
    const first = gradientStep(tensors, optimiser, loss);
    await expect(gradientStep(tensors, optimiser, loss)).rejects.toThrow(/the step before has not ended/);
    await first;
    for (const learningRate of [NaN, -1, Infinity])
      await expect(gradientStep(tensors, optimiser, loss, { learningRate })).rejects.toThrow(
        /step 2: the learning rate is out of range/,
      );
    expect((await gradientStep(tensors, optimiser, loss, { learningRate: 0 })).step).toBe(2);
  });

  test('training brings the loss down, and holds no more tensors after it than before', async () => {
    tensors = await openTensors({ backend });
    const { optimiser, loss } = problem(tensors, { learningRate: 0.02, maxNorm: 1 });
    const first = await gradientStep(tensors, optimiser, loss);
    const { tensors: held, entries } = tensors.memory();
    let last = first;
    for (let k = 0; k < 150; k++) last = await gradientStep(tensors, optimiser, loss);
    expect(first.loss).toBeGreaterThan(1);
    expect(last.loss).toBeLessThan(first.loss / 5);
    expect(tensors.memory()).toMatchObject({ tensors: held, entries, pending: 0 });
  });
});

test('a mask made of a weight stands in a loss: TensorFlow.js alone has no gradient of less', async () => {
  const { tf, w, optimiser } = await squares('onnx');
  const below = (): Scalar => tf.sum(tf.where(tf.less(w, 3.5), tf.square(w), tf.zerosLike(w)));
  expect(await gradientStep(tensors, optimiser, below)).toMatchObject({ loss: 9, gradientNorm: 6 });
});

test('one graph and one run a step, whatever the learning rate and the step count', async () => {
  tensors = await openTensors({ backend: 'onnx' });
  const { optimiser, loss } = problem(tensors, { maxNorm: 1 });
  for (let k = 0; k < 40; k++)
    await gradientStep(tensors, optimiser, loss, { learningRate: 1e-3 * (1 + (k % 7)) });
  expect(tensors.memory()).toMatchObject({ compiles: 1, sessions: 1, runs: 40 });
});

test('a graph that fails when it is run leaves weights, moments and step count as they were', async () => {
  tensors = await openTensors({ backend: 'onnx' });
  const { tf } = tensors;
  const w = tf.variable(tf.tensor1d([3, 4]));
  const optimiser = adamw(tensors, { w });
  await gradientStep(tensors, optimiser, () => tf.sum(tf.square(w)));
  const before = await bytesOf(optimiser);
  const lost = () => tf.mul(tf.sum(w), failsWhenRun(tensors)) as Scalar;
  await expect(gradientStep(tensors, optimiser, lost)).rejects.toThrow();
  expect(await bytesOf(optimiser)).toEqual(before);
  expect((await gradientStep(tensors, optimiser, () => tf.sum(tf.square(w)))).step).toBe(2);
});

/** A tensor of an operation that ONNX has not: it is recorded, and refused when the graph is compiled. */
function failsWhenRun({ tf }: Tensors): Scalar {
  const recorder = tf.backend() as unknown as {
    record(op: unknown, inputs: [], attrs: object, shape: number[], dtype: string): never;
  };
  const op = { name: 'Lost', emit: (e: { node(op: string, inputs: []): string }) => e.node('Lost', []) };
  return tf.engine().makeTensorFromTensorInfo(recorder.record(op, [], {}, [], 'float32')) as Scalar;
}
