import type { Tensor2D } from '@tensorflow/tfjs';
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

test('a token all but certain keeps its digits, one all but impossible is no infinity, a forbidden one is', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  // p of the second token is e^−20: ℓ of the first is −2.06e-9, where 1 − p in float32 is 0.
  const z = tf.tensor2d([0, -20, 0, -200, 5, -Infinity], [3, 2]);
  const ids = tf.tensor1d([0, 1, 1], 'int32');
  const l = await tokenLogProbs(tf, z, ids).data();
  expect(l[1]).toBe(-200);
  expect(l[2]).toBe(-Infinity);
  const [dz] = tf.grads((x) => tokenLogProbs(tf, x as Tensor2D, ids))([z], tf.ones([3]));
  const found = await dz!.data();
  expectClose([found[1]! / Math.exp(-20), found[2]!, found[3]!], [-1, -1, 1], 1e-5, 'dz');
});

test('nothing is left behind; a token outside the vocabulary and another number of tokens are refused', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const z = tf.zeros([2, 3]) as Tensor2D;
  const ids = tf.tensor1d([0, 2], 'int32');
  const before = tf.memory().numTensors;
  expectClose(await tokenLogProbs(tf, z, ids).data(), [-Math.log(3), -Math.log(3)], 1e-6, 'ℓ');
  expect(tf.memory().numTensors).toBe(before + 1);
  const outside = async () => tokenLogProbs(tf, z, tf.tensor1d([0, 3], 'int32')).data();
  await expect(outside()).rejects.toThrow(/out of|index/i);
  expect(() => tokenLogProbs(tf, z, tf.tensor1d([0], 'int32'))).toThrow(
    'log-probabilities of tokens: not one token a row of logits, got int32 [1] and logits [2,3], expected int32 [2]',
  );
});
