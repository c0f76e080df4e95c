import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';
import { tokenLogProbs } from '../../src/tensor/token-log-probs.ts';
import { draws, expectClose } from './by-hand.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

/** ln p of every token of a row, in float64. */
function logSoftmax(row: readonly number[]): number[] {
  const most = Math.max(...row);
  const log = Math.log(row.reduce((sum, z) => sum + Math.exp(z - most), 0));
  return row.map((z) => z - most - log);
}

test.each(['cpu', 'onnx'] as const)('on %s: ln p of each token, gradient dℓ (1 − p)', async (backend) => {
  tensors = await openTensors({ backend, threads: 1 });
  const { tf } = tensors;
  const law = fc.asyncProperty(
    fc.integer({ min: 1, max: 6 }),
    fc.integer({ min: 1, max: 7 }),
    fc.nat(1e6),
    async (N, V, seed) => {
      const [z] = draws(seed, 1, N * V, 4) as [Float32Array];
      const [dy] = draws(seed + 1, 1, N, 1) as [Float32Array];
      const tokens = Int32Array.from({ length: N }, (_, n) => (seed + 7 * n) % V);
      const ids = tf.tensor1d(tokens, 'int32');
      const logits = tf.tensor2d(z, [N, V]);
      const rows = Array.from({ length: N }, (_, n) => logSoftmax([...z.subarray(n * V, (n + 1) * V)]));
      expectClose(
        await tokenLogProbs(tf, logits, ids).data(),
        rows.map((row, n) => row[tokens[n]!]!),
        2e-6,
        'ℓ',
      );
      const [dz] = tf.grads((x) => tokenLogProbs(tf, x as Tensor2D, ids))([logits], tf.tensor1d(dy));
      const expected = rows.flatMap((row, n) =>
        row.map((l, v) => dy[n]! * ((v === tokens[n] ? 1 : 0) - Math.exp(l))),
      );
      expectClose(await dz!.data(), expected, 2e-6, 'dz');
    },
  );
  await fc.assert(law, { numRuns: 25 });
});

test.each(['cpu', 'onnx', 'onnx-web'] as const)(
  'on %s: a token all but certain keeps its digits, one all but impossible is no infinity, a forbidden one is',
  async (backend) => {
    tensors = await openTensors({ backend, threads: 1 });
    const { tf } = tensors;
    const gaps = [0, 5, 15, 17, 30, 60, -20, -200, -3e4];
    const z = tf.tensor2d(
      gaps.flatMap((gap) => [gap, 0]),
      [gaps.length, 2],
    );
    const ids = tf.zeros([gaps.length], 'int32') as Tensor1D;
    // ln p = −ln(1 + e^−gap) and 1 − p = 1/(1 + e^gap), of doubles
    const logs = gaps.map((gap) => -Math.max(0, -gap) - Math.log1p(Math.exp(-Math.abs(gap))));
    const rests = gaps.map((gap) =>
      gap > 0 ? Math.exp(-gap) / (1 + Math.exp(-gap)) : 1 / (1 + Math.exp(gap)),
    );
    const l = await tokenLogProbs(tf, z, ids).data();
    const dz = await tf
      .grads((x) => tokenLogProbs(tf, x as Tensor2D, ids))([z])[0]!
      .data();
    gaps.forEach((gap, k) => {
      expect(l[k]! / logs[k]!, `ℓ at ${gap}`).toBeCloseTo(1, 5);
      expect(dz[2 * k]! / rests[k]!, `dz at ${gap}`).toBeCloseTo(1, 5);
      expect(dz[2 * k + 1]! / -rests[k]!, `the other's dz at ${gap}`).toBeCloseTo(1, 5);
    });
    const forbidden = tf.tensor2d([5, -Infinity, -Infinity, 5, -Infinity, 1, 2, -Infinity], [2, 4]);
    const found = await tokenLogProbs(tf, forbidden, tf.tensor1d([1, 1], 'int32')).data();
    expect(found[0]).toBe(-Infinity);
    expect(found[1]).toBeCloseTo(-Math.log1p(Math.E), 5); // the others: one of e² beside e¹
    const alone = tf.tensor2d([7, 7], [2, 1]);
    expect(
      [...(await tokenLogProbs(tf, alone, tf.tensor1d([0, 0], 'int32')).data())].map((y) => y + 0),
    ).toEqual([0, 0]);
    const broken = tf.tensor2d([1, Number.NaN, 1, 1], [2, 2]);
    const visible = await tokenLogProbs(tf, broken, tf.tensor1d([0, 0], 'int32')).data();
    expect([...visible].map(Number.isNaN)).toEqual([true, false]);
  },
);

test('nothing is left behind; a token outside the vocabulary and another number of tokens are refused', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const z = tf.zeros([2, 3]) as Tensor2D;
  const ids = tf.tensor1d([0, 2], 'int32');
  const before = tf.memory().numTensors;
  expectClose(await tokenLogProbs(tf, z, ids).data(), [-Math.log(3), -Math.log(3)], 1e-6, 'ℓ');
  expect(tf.memory().numTensors).toBe(before + 1);
  for (const [token, row] of [
    [3, 1],
    [-1, 0],
  ] as const)
    expect(() => tokenLogProbs(tf, z, tf.tensor1d(row === 1 ? [0, token] : [token, 0], 'int32'))).toThrow(
      `log-probabilities of tokens, row ${row}: no such token, got ${token}, expected 0 to 2`,
    );
  // Tokens that are computed are looked at as they are used.
  const late = async () => tokenLogProbs(tf, z, tf.add(ids, tf.scalar(1, 'int32')) as Tensor1D).data();
  await expect(late()).rejects.toThrow(/the run failed: .*out of data bounds/);
  expect(() => tokenLogProbs(tf, z, tf.tensor1d([0], 'int32'))).toThrow(
    'log-probabilities of tokens: not one token a row of logits, got int32 [1] and logits [2,3], expected int32 [2]',
  );
});

test.each(['cpu', 'onnx'] as const)(
  'on %s: logits far from 0 lose no digits, and stay as they were',
  async (backend) => {
    tensors = await openTensors({ backend, threads: 1 });
    const { tf } = tensors;
    for (const offset of [30, 1e3, 1e4]) {
      // Differences of eighths: exact in float32 up to 2^21.
      const z = Float32Array.of(1.5, 0.25, -2, 0.5, 0, 3.125).map((x) => x + offset);
      const logits = tf.tensor2d(z.slice(), [2, 3]);
      const ids = tf.tensor1d([0, 1], 'int32');
      const rows = [[...z.subarray(0, 3)], [...z.subarray(3)]].map(logSoftmax);
      expectClose(await tokenLogProbs(tf, logits, ids).data(), [rows[0]![0]!, rows[1]![1]!], 5e-7, 'ℓ');
      const dz = await tf
        .grads((x) => tokenLogProbs(tf, x as Tensor2D, ids))([logits])[0]!
        .data();
      const expected = rows.flatMap((row, n) => row.map((l, v) => (v === n ? 1 : 0) - Math.exp(l)));
      expectClose(dz, expected, 3e-7, 'dz');
      expect([...(await logits.data())]).toEqual([...z]);
    }
  },
);

test('no row, no number; a second derivative is refused', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const none = tf.tensor1d([], 'int32');
  expect(tokenLogProbs(tf, tf.zeros([0, 3]), none).shape).toEqual([0]);
  expect(tf.grad((x) => tokenLogProbs(tf, x as Tensor2D, none))(tf.zeros([0, 3])).shape).toEqual([0, 3]);
  const ids = tf.tensor1d([0], 'int32');
  const first = tf.grad((x) => tf.square(tokenLogProbs(tf, x as Tensor2D, ids)));
  expect(() => tf.grad((x) => tf.sum(first(x)))(tf.zeros([1, 2]))).toThrow(
    'gradient of log-probabilities of tokens: cannot be differentiated again',
  );
});
