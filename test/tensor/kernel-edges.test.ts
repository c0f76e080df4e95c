/* What is not a number, empty, out of range or shared between threads: where ONNX and TensorFlow.js part. */
import * as tf from '@tensorflow/tfjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nativeRuntime } from '../../src/tensor/onnx/load-runtime.ts';
import type { Recorder } from '../../src/tensor/onnx/recorder.ts';
import { registerRecorder } from '../../src/tensor/onnx/register.ts';

let recorder: Recorder;
beforeAll(async () => {
  tf.env().set('PROD', true);
  recorder = registerRecorder('edges', await nativeRuntime('cpu', { threads: 2 }));
  await tf.setBackend('edges');
});
afterAll(() => recorder.close());

const read = async (x: tf.Tensor): Promise<number[]> => [...(await x.data())];
/** The same numbers as a result that is not computed yet. */
const pending = (values: number[]): tf.Tensor1D => tf.tensor1d(values, 'int32').add(tf.scalar(0, 'int32'));

test('rows added by two threads lose nothing', async () => {
  const [rows, width, segments] = [100_000, 32, 3];
  const ids = tf.tensor1d(
    Int32Array.from({ length: rows }, (_, k) => k % segments),
    'int32',
  );
  const x = tf.ones<tf.Rank.R2>([rows, width]);
  const expected = [33_334, 33_333, 33_333].flatMap((n) => Array(width).fill(n));
  for (let run = 0; run < 3; run++) {
    expect(await read(tf.unsortedSegmentSum(x, ids, segments))).toEqual(expected);
    const found = tf.scatterND(ids.expandDims(1), x, [segments, width]);
    expect(await read(found)).toEqual(expected);
  }
});

test('a row of no segment goes nowhere', async () => {
  const sum = tf.unsortedSegmentSum(tf.tensor1d([1, 2, 4, 8]), pending([1, -1, 2, 1]), 2);
  expect(await read(sum)).toEqual([0, 9]);
});

test('the largest of numbers and NaN is NaN, and its place is that of the largest number', async () => {
  const x = tf.tensor2d([1, Number.NaN, 3, 2, 5, 4], [2, 3]);
  expect(await read(tf.max(x, 1))).toEqual([Number.NaN, 5]);
  expect(await read(tf.min(x, 1))).toEqual([Number.NaN, 2]);
  const far = tf.tensor1d([Infinity, -Infinity, 3e38, 3e38]);
  expect(await read(tf.stack([tf.max(far), tf.min(far)]))).toEqual([Infinity, -Infinity]);
  expect(await read(tf.argMax(x, 1))).toEqual([2, 1]);
  expect(await read(tf.argMin(x, 1))).toEqual([0, 0]);
  const lost = tf.tensor2d([5, Number.NaN, 3, Number.NaN, 2, 1, 0, 3, Number.NaN], [3, 3]);
  expect(await read(tf.argMax(lost, 1))).toEqual([0, 1, 1]);
  expect(await read(tf.argMin(lost, 1))).toEqual([2, 2, 0]);
  expect(await read(tf.argMax(tf.tensor1d([7, 9, 9])))).toEqual([1]);
});

test('nothing sums to 0, has −∞ as its largest, and no place of a largest', async () => {
  const none = tf.tensor2d([], [0, 2]);
  expect(await read(tf.sum(none, 0))).toEqual([0, 0]);
  expect(await read(tf.max(none, 0))).toEqual([-Infinity, -Infinity]);
  expect(() => tf.argMax(none, 0)).toThrow('ArgMax: nothing to choose from, got shape [0,2], axis 0');
});

test('e^x − 1 is −1 far below and +∞ far above, and keeps its digits near 0', async () => {
  const found = await read(tf.expm1(tf.tensor1d([-Infinity, -1000, -300, 1e-6, 1000])));
  expect(found.slice(0, 3)).toEqual([-1, -1, -1]);
  expect(found[3]).toBeCloseTo(1.0000005e-6, 12);
  expect(found[4]).toBe(Infinity);
});

test('what is no whole number is 0 as a whole number, on every processor', async () => {
  const x = tf.tensor1d([Number.NaN, Infinity, -Infinity, 1.9, -1.9, 3e9]);
  expect(await read(tf.cast(x, 'int32'))).toEqual([0, 0, 0, 1, -1, 0]);
  expect(await read(tf.floorDiv(tf.tensor1d([1, -7]), tf.tensor1d([0, 2])))).toEqual([0, -4]);
});

test('masks: chosen, multiplied, added, ranked', async () => {
  const mask = (values: number[], shape: number[] = [values.length]) => tf.tensor(values, shape, 'bool');
  const [a, b] = [mask([1, 0, 0, 1], [2, 2]), mask([0, 1, 0, 1], [2, 2])];
  expect(await read(tf.where(mask([1, 0, 0, 0], [2, 2]), a, b))).toEqual([1, 1, 0, 1]);
  expect(await read(tf.matMul(a as tf.Tensor2D, b as tf.Tensor2D))).toEqual([0, 1, 0, 1]);
  expect(await read(tf.addN([a, b, a]))).toEqual([1, 1, 0, 1]);
  expect(await read(tf.cumsum(a, 1))).toEqual([1, 1, 0, 1]);
  expect(await read(tf.topk(mask([0, 1, 0, 1]), 2).indices)).toEqual([1, 3]);
  expect(await read(tf.einsum('ij->i', a))).toEqual([1, 1]);
});

test('an index outside is refused: at once when it is there, in the run when it is computed', async () => {
  const table = tf.tensor2d([1, 2, 3, 4], [2, 2]);
  for (const index of [-1, 2]) {
    const wrong = `GatherV2: the index value ${index} is not in [0, 1]`;
    expect(() => tf.gather(table, tf.tensor1d([0, index], 'int32'))).toThrow(wrong);
    await expect(read(tf.gather(table, pending([0, index])))).rejects.toThrow(/out of data bounds/);
    // Rows of one batch are not those of the next.
    const batches = tf.tensor3d([1, 2, 3, 4], [2, 2, 1]);
    const own = pending([0, index, 0, 0]).reshape<tf.Tensor2D>([2, 2]);
    await expect(read(tf.gather(batches, own, 1, 1))).rejects.toThrow(/out of data bounds/);
  }
  const places = (values: number[]) => pending(values).reshape<tf.Tensor2D>([1, 2]);
  expect(await read(tf.gatherND(table, places([1, 0])))).toEqual([3]);
  await expect(read(tf.gatherND(table, places([1, -1])))).rejects.toThrow(/GatherND/);
  expect(() => tf.gatherND(table, tf.tensor2d([1, 2], [1, 2], 'int32'))).toThrow('Invalid indices: 1,2');
  await expect(read(tf.scatterND(places([0, 2]), tf.tensor1d([1]), [2, 2]))).rejects.toThrow(
    /out of data bounds/,
  );
});

test('of two updates at one place the last stays', async () => {
  const found = tf.tensorScatterUpdate(
    tf.zeros([2]),
    tf.tensor2d([0, 0], [2, 1], 'int32'),
    tf.tensor1d([1, 2]),
  );
  expect(await read(found)).toEqual([2, 0]);
});

test('counts: weights, one tally a row, what is too large, what is negative', async () => {
  const x = tf.tensor1d([1, 1, 3, 9], 'int32');
  expect(await read(tf.bincount(x, tf.tensor1d([]), 4))).toEqual([0, 2, 0, 1]);
  expect(await read(tf.bincount(x, tf.tensor1d([0.5, 0.25, 2, 7]), 4))).toEqual([0, 0.75, 0, 2]);
  const rows = tf.tensor2d([0, 0, 1, 5], [2, 2], 'int32');
  expect(await read(tf.denseBincount(rows, tf.tensor2d([], [0, 0]), 2))).toEqual([2, 0, 0, 1]);
  expect(await read(tf.denseBincount(rows, tf.tensor2d([], [0, 0]), 2, true))).toEqual([1, 0, 0, 1]);
  expect(() => tf.bincount(tf.tensor1d([-1], 'int32'), tf.tensor1d([]), 2)).toThrow('non-negative');
  await expect(read(tf.bincount(pending([-1]), tf.tensor1d([]), 2))).rejects.toThrow(/out of data bounds/);
});

test('arithmetic of masks counts them as 0 and 1 and gives a mask', async () => {
  const [a, b] = [tf.tensor1d([0, 0, 1, 1], 'bool'), tf.tensor1d([0, 1, 0, 1], 'bool')];
  const whole = { add: [0, 1, 1, 1], mul: [0, 0, 0, 1], maximum: [0, 1, 1, 1], minimum: [0, 0, 0, 1] };
  for (const [name, expected] of Object.entries(whole)) {
    const found = tf[name as keyof typeof whole](a, b);
    expect([name, await read(found)]).toEqual([name, expected]);
  }
  expect(await read(tf.less(a, b))).toEqual([0, 1, 0, 0]);
});

test('a graph that is running when the sessions are closed runs to its end', async () => {
  const reading = read(tf.matMul(tf.ones([256, 256]), tf.ones([256, 256])).sum());
  await Promise.resolve();
  await recorder.close();
  expect(await reading).toEqual([256 ** 3]);
});

test('profiling a kernel computes it without a synchronous read', async () => {
  const x = tf.tensor1d([1, 2, 3]);
  const { kernels, result } = await tf.profile(() => x.square().sum());
  expect(kernels.map((kernel) => kernel.name)).toEqual(['Square', 'Sum']);
  expect(await read(result as tf.Tensor)).toEqual([14]);
});

test('settings of an operation that are no finite numbers, or −0, are told apart', async () => {
  const [x, n] = [tf.tensor1d([1, -2]), Number.NaN];
  for (const value of [Infinity, -Infinity, n, 0, -0]) {
    const padded = await read(tf.pad(x, [[1, 1]], value));
    expect(padded, `pad with ${value}`).toEqual([value, 1, -2, value]);
    const hot = await read(tf.oneHot(tf.tensor1d([1], 'int32'), 2, value, 5, 'float32'));
    expect(
      hot.map((y) => y + 0),
      `one hot ${value}`,
    ).toEqual([5, value + 0]);
    const leaky = await read(tf.leakyRelu(x, value));
    expect(leaky, `leaky by ${value}`).toEqual([1, -2 * value]);
    expect(
      (await read(tf.step(x, value))).map((y) => y + 0),
      `step ${value}`,
    ).toEqual([1, value + 0]);
  }
});

test('whole numbers over 0 and over −1, as far down as they go', async () => {
  const least = -(2 ** 31);
  const a = [least, least, least, 7, -7, 7, -7, 0, 5];
  const b = [-1, 0, 1, 2, 2, -2, -2, 0, 0];
  // Towards −∞; −2³¹ ÷ −1 is what 32 bits hold of 2³¹, and over 0 the whole number that JavaScript makes of ∞: 0.
  const quotients = a.map((x, k) => (b[k] === 0 ? 0 : Math.floor(x / b[k]!) | 0));
  const rests = a.map((x, k) => (b[k] === 0 ? 0 : x - b[k]! * Math.floor(x / b[k]!)));
  const [ta, tb] = [pending(a), pending(b)];
  expect(await read(tf.floorDiv(ta, tb))).toEqual(quotients.map((y) => y + 0));
  expect(await read(tf.div(ta, tb))).toEqual(quotients.map((y) => y + 0));
  expect(await read(tf.floorDiv(ta, tf.scalar(-1, 'int32')))).toEqual(a.map((x) => (-x | 0) + 0));
  expect(await read(tf.floorDiv(ta, tf.scalar(0, 'int32')))).toEqual(a.map(() => 0));
  expect((await read(tf.mod(ta, tb))).map((y) => y + 0)).toEqual(rests.map((y) => y + 0));
});
