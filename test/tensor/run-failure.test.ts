/* Runs that do not end, and graphs that are too large: named, and what was there before is still there. */
import * as tf from '@tensorflow/tfjs';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { adamw, gradientStep, openTensors, type Tensors } from '../../src/index.ts';
import { freezer } from '../../src/tensor/freeze.ts';
import { fillGradients } from '../../src/tensor/gradients.ts';
import { spied } from './spied.ts';
import { bytesOf } from './two-layers.ts';

const lost = vi.fn();
let tensors: Tensors | undefined;
beforeAll(() => {
  tf.env().set('PROD', true);
  fillGradients(tf);
  process.on('unhandledRejection', lost);
});
afterEach(async () => {
  await tensors?.close();
  tensors = undefined;
  await new Promise((resolve) => setImmediate(resolve));
  expect(lost).not.toHaveBeenCalled();
});

const message = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error('nothing was refused'),
    (error: Error) => error,
  );

test('a device lost in the middle of training: the step changes nothing, and the next one compiles', async ({
  skip,
}) => {
  const { recorder, compiled, released, fail } = await spied('lost', skip);
  const w = tf.variable(tf.tensor1d([3, 4]));
  const optimiser = adamw({ tf }, { w }, { weightDecay: 0 });
  const loss = () => tf.sum(tf.square(w)) as tf.Scalar;
  for (let k = 0; k < 2; k++) await gradientStep({ tf }, optimiser, loss);
  const before = await bytesOf(optimiser);
  const cause = new Error('WebGPU device lost (2): the adapter was removed');
  fail('run', cause);
  fail('release', new Error('there is no device'));
  const error = await message(gradientStep({ tf }, optimiser, loss));
  expect(error.message).toBe(
    `${recorder.name} backend: the run failed: the device is lost (WebGPU device lost (2): the adapter was removed). ` +
      'What was computed before can still be read; close the tensors, and open them again or on another backend.',
  );
  expect(error.cause).toBe(cause);
  expect(await bytesOf(optimiser)).toEqual(before);
  expect([optimiser.step, optimiser.busy, recorder.stats().sessions]).toEqual([2, false, 0]);
  expect(released).toEqual([compiled.length]);
  const count = compiled.length;
  expect((await gradientStep({ tf }, optimiser, loss)).step).toBe(3);
  expect(compiled.length).toBe(count + 1);
  fail('release', new Error('there is no device'));
  await recorder.close();
  expect(released.length).toBe(count + 1);
});

test('what reads a lost value is lost, by the same name; what does not goes on', async ({ skip }) => {
  const { recorder, fail } = await spied('reads', skip);
  const x = tf.tensor1d([1, 2]);
  const a = tf.mul(x, 2);
  fail('run', new Error('something else'));
  const first = await message(a.data());
  expect(first.message).toBe(
    `${recorder.name} backend: the run failed: something else. What was computed before can still be read.`,
  );
  const b = tf.add(a, 1);
  const c = tf.add(x, 1);
  expect([...(await c.data())]).toEqual([2, 3]);
  expect(await message(b.data())).toBe(first);
  expect(await message(a.data())).toBe(first);
  expect(recorder.stats().pending).toBe(0);
  await recorder.close();
});

test('whatever is said of a tensor of a GiB or more, its size is said with it', async ({ skip }) => {
  const { recorder, fail } = await spied('huge', skip);
  fail('run', new Error('Too many storage buffers in shader.'));
  const wide = tf.tidy(() => tf.sum(tf.tile(tf.ones([1, 2]), [2 ** 14, 2 ** 13])));
  expect((await message(wide.data())).message).toMatch(
    / backend: the run failed: Too many storage buffers in shader, got a tensor of 1\.00 GiB at the largest, float32 \[16384, 16384\]\. /,
  );
  await recorder.close();
});

test('a run that others wait for fails for them too', async ({ skip }) => {
  const { recorder, hold, fail } = await spied('waits', skip);
  const x = tf.tensor1d([1, 2]);
  const a = tf.mul(x, 2);
  const go = hold();
  const reading = message(a.data());
  await new Promise((resolve) => setTimeout(resolve, 20));
  const later = message(tf.add(a, 1).data());
  fail('run', new Error('something else'));
  go();
  expect((await reading).message).toMatch(/the run failed: something else/);
  expect(await later).toBe(await reading);
  await recorder.close();
});

test('what does not compile is not kept', async ({ skip }) => {
  const { recorder, fail } = await spied('compiles', skip);
  const x = tf.tensor1d([1, 2]);
  fail('compile', new Error('no such operation'));
  expect((await message(tf.exp(x).data())).message).toMatch(
    /^spied-compiles-\d+ backend: the graph could not be compiled: no such operation\. /,
  );
  expect(recorder.stats()).toMatchObject({ sessions: 0, pending: 0 });
  expect((await tf.exp(tf.zerosLike(x)).data())[0]).toBe(1);
  await recorder.close();
});

test.each([
  'std::bad_alloc',
  'Failed to allocate memory for requested buffer of size 120000',
  'Array buffer allocation failed',
  'SafeIntOnOverflow() Integer overflow',
])('no memory: the largest tensor, and what to do (%s)', async (said) => {
  const { recorder, fail } = await spied('memory', (why) => expect.soft(why).toBe(''));
  const x = tf.ones([20_000]);
  fail('run', new Error(said));
  const y = tf.sum(tf.matMul(tf.reshape(x, [1000, 20]), tf.ones([20, 12_000])));
  const { message: found, cause } = await message(y.data());
  // 1,000 × 12,000 × 4 bytes = 48,000,000 = 0.0447 GiB
  expect(found).toBe(
    `${recorder.name} backend: the run failed: there is not enough memory, got a tensor of 0.04 GiB at the largest, ` +
      'float32 [1000, 12000]. Take a smaller micro-batch, and add up what comes of each.',
  );
  expect((cause as Error).message).toBe(said);
  await recorder.close();
});

/** What each runtime cannot hold; the sum over it is all that is asked for. */
const WIDE: Readonly<Record<string, (x: tf.Tensor1D, side: number) => tf.Tensor>> = {
  product: (x, side) => {
    const column = tf.reshape(tf.tile(x, [side / 2]), [side, 1]);
    return tf.matMul(column as tf.Tensor2D, column as tf.Tensor2D, false, true);
  },
  copies: (x, side) => tf.tile(tf.reshape(x, [1, 2]), [side, side / 2]),
};
for (const [backend, side, size] of [
  ['onnx-web', 40_000, '5.96'],
  ['onnx', 3_000_000, '33527.61'],
] as const)
  test.each(Object.keys(WIDE))(
    `${backend} refuses a tensor that cannot be, and goes on: %s`,
    async (what) => {
      tensors = await openTensors({ backend, threads: 1 });
      const x = tf.tensor1d([1, 2]);
      const wide = tf.tidy(() => tf.sum(tf.exp(WIDE[what]!(x, side))));
      await expect(wide.data()).rejects.toThrow(
        `${backend} backend: the run failed: there is not enough memory, got a tensor of ${size} GiB at the largest, float32 [${side}, ${side}]. Take a smaller micro-batch`,
      );
      expect([...(await x.data())]).toEqual([1, 2]);
      expect([...(await tf.add(x, 1).data())]).toEqual([2, 3]);
    },
  );

test('constants of 2 GiB together are refused by their size; each alone and what is fed are not', async ({
  skip,
}) => {
  const { recorder, compiled } = await spied('large', skip);
  const { freeze } = freezer(tf, recorder);
  // Memory that nobody writes to is not there yet, and the refusal comes before anything is copied.
  const half = () => freeze(tf.tensor1d(new Float32Array(2 ** 28)));
  const [a, b] = [await half(), await half()];
  const { message: found } = await message(tf.sum(tf.add(a, b)).data());
  expect(found).toMatch(
    /^graph: is too large for one model of ONNX Runtime, got 2147483\d\d\d bytes, 214748\d{4} of them constants, expected at most 2147483647\. Leave frozen tensors in a file \(freezeFile\)/,
  );
  expect(compiled.length).toBe(0);
  expect(recorder.stats()).toMatchObject({ sessions: 0, pending: 0 });
  expect([...(await tf.add(tf.ones([1]), 1).data())]).toEqual([2]);
  await recorder.close();
});
