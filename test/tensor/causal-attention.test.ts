/* Attention, forward and back, place by place from its definition. */
import type { Tensor4D } from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { causalAttention } from '../../src/tensor/causal-attention.ts';
import { openTensors, type Tensors } from '../../src/tensor/open-tensors.ts';
import { draws, expectClose } from './by-hand.ts';

let tensors: Tensors;
afterEach(() => tensors.close());

type Shape = readonly [B: number, H: number, T: number, d: number];

/** Attention and its gradients of one head, place by place from the definition, in float64: the softmax's Jacobian written out. */
function head(q: number[][], k: number[][], v: number[][], dO: number[][]) {
  const [T, d] = [q.length, q[0]!.length];
  const zeros = () => Array.from({ length: T }, () => Array<number>(d).fill(0));
  const [o, dq, dk, dv] = [zeros(), zeros(), zeros(), zeros()];
  const dot = (a: number[], b: number[]) => a.reduce((sum, x, c) => sum + x * b[c]!, 0);
  for (let i = 0; i < T; i++) {
    const scores = Array.from({ length: i + 1 }, (_, j) => dot(q[i]!, k[j]!) / Math.sqrt(d));
    const most = Math.max(...scores);
    const all = scores.reduce((sum, s) => sum + Math.exp(s - most), 0);
    const p = scores.map((s) => Math.exp(s - most) / all);
    const dP = p.map((_, j) => dot(dO[i]!, v[j]!));
    for (let j = 0; j <= i; j++) {
      let dS = 0;
      for (let l = 0; l <= i; l++) dS += dP[l]! * p[l]! * ((l === j ? 1 : 0) - p[j]!);
      for (let c = 0; c < d; c++) {
        o[i]![c]! += p[j]! * v[j]![c]!;
        dv[j]![c]! += p[j]! * dO[i]![c]!;
        dq[i]![c]! += (dS * k[j]![c]!) / Math.sqrt(d);
        dk[j]![c]! += (dS * q[i]![c]!) / Math.sqrt(d);
      }
    }
  }
  return [o, dq, dk, dv] as const;
}

const rowsOf = (x: Float32Array, h: number, T: number, d: number): number[][] =>
  Array.from({ length: T }, (_, i) => [...x.subarray((h * T + i) * d, (h * T + i + 1) * d)]);

async function against(tensors: Tensors, [B, H, T, d]: Shape, seed: number): Promise<void> {
  const { tf } = tensors;
  const values = draws(seed, 4, B * H * T * d, 1);
  const [q, k, v, dO] = values.map((x) => tf.tensor4d(x, [B, H, T, d])) as [
    Tensor4D,
    Tensor4D,
    Tensor4D,
    Tensor4D,
  ];
  const found = [
    causalAttention(tf, q, k, v),
    ...tf.grads((a, b, c) => causalAttention(tf, a as Tensor4D, b as Tensor4D, c as Tensor4D))([q, k, v], dO),
  ];
  const heads = Array.from({ length: B * H }, (_, h) => {
    const [a, b, c, e] = values.map((x) => rowsOf(x, h, T, d)) as [
      number[][],
      number[][],
      number[][],
      number[][],
    ];
    return head(a, b, c, e);
  });
  for (const [at, name] of ['O', 'dQ', 'dK', 'dV'].entries()) {
    expect(found[at]!.shape).toEqual([B, H, T, d]);
    expectClose(
      await found[at]!.data(),
      heads.flatMap((own) => own[at as 0].flat()),
      2e-5,
      name,
    );
  }
}

test.each(['cpu', 'onnx'] as const)(
  'on %s: output and gradients from the definition, short sequences',
  async (backend) => {
    tensors = await openTensors({ backend, threads: 1 });
    const shape = fc.tuple(
      fc.integer({ min: 1, max: 2 }),
      fc.integer({ min: 1, max: 2 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(shape, fc.nat(1e6), (own, seed) => against(tensors, own, seed)),
      { numRuns: 15 },
    );
  },
);

// Blocks are 128 places long: a whole one and a rest, exactly two, and more places than eight blocks of 128.
test.each([131, 256, 1030])('on onnx: %i places, in blocks', async (T) => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  await against(tensors, [1, 1, T, 3], T);
});

test('what comes later changes nothing', async () => {
  tensors = await openTensors({ backend: 'onnx', threads: 1 });
  const { tf } = tensors;
  const [T, d, cut] = [300, 4, 141];
  const [x, y] = draws(5, 2, T * d, 1) as [Float32Array, Float32Array];
  y.set(x.subarray(0, cut * d));
  const [a, b] = [x, y].map((own) => tf.tensor4d(own, [1, 1, T, d])) as [Tensor4D, Tensor4D];
  const [one, other] = await Promise.all([a, b].map((own) => causalAttention(tf, own, own, own).data()));
  expect(one!.slice(0, cut * d)).toEqual(other!.slice(0, cut * d));
  expect(one!.slice(cut * d)).not.toEqual(other!.slice(cut * d));
});

test('large scores do not overflow, nothing is left behind, another shape is refused by name', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  const q = tf.fill([1, 1, 3, 1], 1e4) as Tensor4D;
  const v = tf.tensor4d([1, 2, 3], [1, 1, 3, 1]);
  const before = tf.memory().numTensors;
  expect([...(await causalAttention(tf, q, q, v).data())]).toEqual([1, 1.5, 2]); // equal scores: the mean so far
  expect(tf.memory().numTensors).toBe(before + 1);
  expect(() => causalAttention(tf, q, q, tf.zeros([1, 1, 2, 1]))).toThrow(
    'causal attention, values: not the shape of the queries, got [1,1,2,1], expected [1,1,3,1]',
  );
});

test.each(['cpu', 'onnx', 'onnx-web'] as const)(
  'on %s: what is not a number, and scores beyond all numbers, stay visible',
  async (backend) => {
    tensors = await openTensors({ backend, threads: 1 });
    const { tf } = tensors;
    const [T, d] = [3, 2];
    const plain = tf.tensor4d([1, 2, 3, 4, 5, 6], [1, 1, T, d]);
    const broken = tf.tensor4d([1, 2, Number.NaN, 4, 5, 6], [1, 1, T, d]);
    const rows = async (q: Tensor4D, k: Tensor4D) => {
      const o = await causalAttention(tf, q, k, plain).data();
      return Array.from({ length: T }, (_, i) => o.slice(i * d, (i + 1) * d).some(Number.isNaN));
    };
    expect(await rows(broken, plain)).toEqual([false, true, false]); // a query: its own row
    expect((await rows(plain, broken)).slice(1)).toEqual([true, true]); // a key: every row that sees it, at least
    const huge = tf.fill([1, 1, T, d], 1e20) as Tensor4D;
    expect(await rows(huge, huge)).toEqual([true, true, true]);
    const [dq] = tf.grads((q, k) => causalAttention(tf, q as Tensor4D, k as Tensor4D, plain))([
      broken,
      plain,
    ]);
    expect([...(await dq!.data())].map(Number.isNaN).slice(2, 4)).toEqual([true, true]);
  },
);

test('no place gives none, a second derivative is refused', async () => {
  tensors = await openTensors({ backend: 'cpu' });
  const { tf } = tensors;
  const none = tf.zeros([1, 2, 0, 3]) as Tensor4D;
  expect(causalAttention(tf, none, none, none).shape).toEqual([1, 2, 0, 3]);
  const x = tf.ones([1, 1, 2, 1]) as Tensor4D;
  const first = tf.grad((q) => tf.square(causalAttention(tf, q as Tensor4D, x, x)));
  expect(() => tf.grad((q) => tf.sum(first(q)))(x)).toThrow(
    'gradient of causal attention: cannot be differentiated again',
  );
});
